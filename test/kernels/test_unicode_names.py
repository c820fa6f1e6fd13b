"""Names of kernels that IR and emitted code, which are ASCII, do not have."""

from __future__ import annotations

import pytest
import torch

import kopt
import kopt.language as hl


def größe(é, ß):
    ö = torch.empty_like(é)
    for ñ in hl.tile(é.size(0), block_size=4):
        ü = é[ñ]
        for ж in hl.tile(é.size(0), block_size=4):
            ü = ü + ß[ж].sum()
        if ß[0] > 0:
            ü = ü * 2
        ö[ñ] = ü
    return ö


@pytest.mark.parametrize("target", ["reference", "pallas:interpret", "triton:interpret"])
def test_names_may_be_of_any_script(target: str) -> None:
    x = torch.arange(6.0) + 1
    assert kopt.kernel(größe).on(target)(x, x).tolist() == (2 * (x + 21)).tolist()


def test_their_ir_is_read_again() -> None:
    low = kopt.kernel(größe).lower("f32[6]", "f32[6]", target="reference")
    assert kopt.parse(low.ir).is_structurally_equivalent(low.module)
