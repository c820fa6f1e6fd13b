"""Kernels over flattened tensors on a TPU: their values, and that XLA lays nothing out anew around them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import kopt
import kopt.language as hl
from kopt.runtime.tolerance import mismatch
from kopt.specs import spec_of


@kopt.kernel
def gated(gate, up, limit):
    """Two vectors, a number, and a choice between lanes."""
    out = torch.empty_like(gate)
    gates, ups, results = gate.view(-1), up.view(-1), out.view(-1)
    for tile in hl.tile(gate.numel()):
        opened = gates[tile].to(torch.float32)
        kept = torch.where(opened > limit, opened * torch.sigmoid(opened), 0.0)
        results[tile] = kept.to(up.dtype) * ups[tile]
    return out


@kopt.kernel
def in_place(x, scale):
    """Reads and writes one array."""
    flat = x.view(-1)
    for tile in hl.tile(x.numel()):
        flat[tile] = (flat[tile] * scale[0]).to(x.dtype)
    return x


@kopt.kernel
def two_launches(x):
    """What the first gives by rows the second takes flattened."""
    middle, out = torch.empty_like(x), torch.empty(x.shape, dtype=torch.float32)
    for rows in hl.tile(x.size(0)):
        middle[rows, :] = x[rows, :] - x[rows, :].amax(1)[:, None]
    source, target = middle.view(-1), out.view(-1)
    for tile in hl.tile(x.numel()):
        target[tile] = torch.exp(source[tile].to(torch.float32))
    return out


def normal(*shape: int, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
    return torch.randn(shape).to(dtype)


CASES: dict[str, tuple[Any, Callable[[], tuple[Any, ...]]]] = {
    "rows": (gated, lambda: (normal(64, 256), normal(64, 256), 0.25)),
    "a short last block": (gated, lambda: (normal(1000, 384), normal(1000, 384), -0.5)),
    "few rows": (gated, lambda: (normal(3, 640), normal(3, 640), 0.0)),
    "planes": (gated, lambda: (normal(2, 24, 128), normal(2, 24, 128), 0.0)),
    "odd rows": (gated, lambda: (normal(40, 300), normal(40, 300), 0.0)),
    "f32": (gated, lambda: (normal(48, 256, dtype=torch.float32), normal(48, 256, dtype=torch.float32), 0.1)),
    "in place": (in_place, lambda: (normal(128, 256), torch.tensor([3.0]))),
    "bytes": (
        in_place,
        lambda: (torch.randint(-9, 9, (96, 256), dtype=torch.int8), torch.tensor([3], dtype=torch.int8)),
    ),
    "two launches": (two_launches, lambda: (normal(64, 512, dtype=torch.float32),)),
}
#: Where neither blocks of whole rows nor what is copied for a caller keeps XLA from laying arrays out anew.
LAID_OUT = ["in place", "bytes", "few rows"]


@pytest.mark.parametrize("target", ["pallas:interpret", "pallas:strict"])
@pytest.mark.parametrize("name", CASES)
def test_values(name: str, target: str) -> None:
    kernel, arguments = CASES[name]
    args = arguments()
    copies = [[arg.clone() if isinstance(arg, torch.Tensor) else arg for arg in args] for _ in range(2)]
    want, found = kernel.on("eager")(*copies[0]), kernel.on(target)(*copies[1])
    assert mismatch(found, want, spec_of(want).dtype, 1) is None


@pytest.mark.parametrize("name", [name for name in CASES if name not in LAID_OUT])
def test_nothing_is_laid_out_anew(name: str) -> None:
    kernel, arguments = CASES[name]
    report = kernel.lower(*arguments(), target="pallas:v6e").report(estimates=False)
    assert report["legal"], report["reason"]
    assert not {"copy", "reshape"} & {*report["hlo_ops"]}


def test_blocks_of_parts_of_rows_stay() -> None:
    """The size that a caller asks for."""
    args = normal(64, 256), normal(64, 256), 0.25
    lowered = kopt.kernel(gated.fn, config={"block_sizes": [1024]}).lower(*args, target="pallas:v6e")
    assert "pl.BlockSpec((1024,), " in lowered.source
    lowered = kopt.kernel(gated.fn, config={"block_sizes": [2048]}).lower(*args, target="pallas:v6e")
    assert "pl.BlockSpec((8, 256), " in lowered.source
    lowered = kopt.kernel(gated.fn, config={"block_sizes": [2400]}).lower(
        normal(40, 300), normal(40, 300), 0.25, target="pallas:v6e"
    )
    assert lowered.config.block_sizes == (2400,) and "pl.BlockSpec((8, 300), " in lowered.source
