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


def skaliert(é, ß: float):
    ö = torch.empty_like(é)
    for ñ in hl.tile(é.size(0), block_size=4):
        ö[ñ] = é[ñ] * ß
    return ö


@pytest.mark.parametrize("target", ["reference", "pallas:interpret", "triton:interpret"])
def test_numbers_and_extents_that_calls_give_may_be_too(target: str) -> None:
    kernel, x = kopt.kernel(skaliert, dynamic=["é.size(0)", "ß"]).on(target), torch.arange(6.0)
    assert [kernel(x, 2.0).tolist(), kernel(x[:5], 3.0).tolist()] == [(x * 2).tolist(), (x[:5] * 3).tolist()]
