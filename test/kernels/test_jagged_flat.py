"""Jagged kernels over numbers, not rows: arrays of one dimension that stay in HBM, of which blocks come and go."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle

import pytest
import torch

import kopt
from test.kernels import jagged_kernels as kernels
from test.kernels.test_jagged import items, padded_add
from test.rotating import rotating

#: The numbers before the first item, and the items' lengths: blocks have 512 and more.
LENGTHS = {"mixed": (5, [3, 0, 700, 1, 1500, 0, 0, 64]), "empty": (2, [0, 0]), "one": (0, [1030])}
TYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "i8": torch.int8}


def numbers(count: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Small whole numbers, which every type holds exactly."""
    return torch.randint(-4, 5, (count,), generator=torch.Generator().manual_seed(3)).to(dtype)


def summed(x: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
    return torch.stack([part.float().sum() for part in items(x, offsets)])


def scaled(x: torch.Tensor, offsets: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    out = torch.zeros_like(x)
    for part, target, factor in zip(items(x, offsets), items(out, offsets), scale, strict=True):
        target[:] = part * factor.to(x.dtype)
    return out


def fronts(x: torch.Tensor, offsets: torch.Tensor, dense: torch.Tensor) -> torch.Tensor:
    out = torch.zeros_like(x)
    for part, target, row in zip(items(x, offsets), items(out, offsets), dense, strict=True):
        target[:] = part + row[: len(part)]
    return out


def rows_of(count: int, dtype: torch.dtype) -> tuple[torch.Tensor]:
    return (torch.stack([numbers(1600, dtype)] * count),)


More = Callable[[int, torch.dtype], tuple[torch.Tensor, ...]]
#: A kernel, the same in torch, the arguments besides numbers and offsets, and block sizes.
CASES: dict[str, tuple[Callable, Callable, More, list[int]]] = {
    "sum": (kernels.sum_of_numbers, summed, lambda count, dtype: (), [1, 512]),
    "scaled": (kernels.scaled_numbers, scaled, lambda count, dtype: (torch.arange(count) % 3.0,), [1, 512]),
    "dense_add": (kernels.jagged_dense_add, padded_add, rows_of, [1, 512]),
    "fronts": (kernels.dense_fronts, fronts, rows_of, [512]),
}


def check(name: str, lengths: str, dtype: torch.dtype, target: str) -> str:
    kernel, expected, more, blocks = CASES[name]
    first, counts = LENGTHS[lengths]
    offsets = (torch.tensor([0, *counts]).cumsum(0) + first).to(torch.int32)
    x = numbers(int(offsets[-1]) + 3, dtype)
    arguments = (x, offsets, *more(len(counts), dtype))
    config = {"block_sizes": blocks, **({"loop_type": "fori"} if target.startswith("pallas") else {})}
    low = kopt.kernel(kernel).lower(*arguments, target=target, config=config)
    assert torch.equal(low.compile()(*arguments), expected(*arguments))
    return low.source


@pytest.mark.parametrize(
    ("target", "dtype"),
    [("reference", "f32"), ("triton:interpret", "f32"), *(("pallas:interpret", dtype) for dtype in TYPES)],
)
@pytest.mark.parametrize("name", CASES)
def test_as_torch(name, target, dtype) -> None:
    check(name, "mixed", TYPES[dtype], target)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "dtype", "lengths"),
    [("pallas:strict", "f32", "mixed"), ("pallas:strict@v5e", "bf16", "one"), ("pallas:strict@v5e", "f32", "empty")],
)
@pytest.mark.parametrize("name", CASES)
def test_strictly(name, target, dtype, lengths) -> None:
    """Blocks of the next item, or the grid's next cell, are on their way; numbers that are one block come with it."""
    source = check(name, lengths, TYPES[dtype], target)
    assert (
        "x_buffer_ref" in source or "x_row_fetched_ref" in source or "pl.BlockSpec((640,), lambda b, k: (0,))" in source
    )
    assert ("out_buffer_ref" in source) == (name == "scaled")


#: A hundred million numbers.
SPECS = {"sum": (), "scaled": ("f32[512]",), "dense_add": ("{}[512,20000]",), "fronts": ("{}[512,20000]",)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "chip", "dtype"),
    [(*pair, dtype) for pair, dtype in zip(rotating(CASES, "v6e", ("tpu7x", "v5e")), cycle(("f32", "i8", "bf16")))],
)
def test_any_length_compiles(name, chip, dtype) -> None:
    specs = (f"{dtype}[100000003]", "i32[513]", *(spec.format(dtype) for spec in SPECS[name]))
    report = kopt.kernel(CASES[name][0]).lower(*specs, target=f"pallas:{chip}").report(estimates=False)
    assert report["legal"], report["reason"]
    assert report["vmem_bytes"] < 2**24  # blocks of it, not the array of at least 100 million bytes
