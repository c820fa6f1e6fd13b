"""Rows of several parts in turn, as unpacked numbers of fewer bits have them, on every target and for every chip."""

from __future__ import annotations

from itertools import cycle
from math import prod

import pytest
import torch

import kopt
import kopt.language as hl
from kopt.targets.chips import TPU_CHIPS
from test.rotating import rotating

#: A dtype, the integers of its width, and how many of its elements a word of 32 bits has.
DTYPES = [
    (torch.bfloat16, torch.int16, 2),
    (torch.float16, torch.int16, 2),
    (torch.int16, torch.int16, 2),
    (torch.int8, torch.int8, 4),
    (torch.uint8, torch.uint8, 4),
    (torch.float8_e5m2, torch.uint8, 4),
]
#: Rows, lanes, and rows of a block: whole registers and parts of them.
SIZES = [(32, 128, 8), (24, 40, 8), (4, 130, 4), (20, 128, 4)]


def alternate(x):
    """Row ``parts * i + j`` is row ``i`` of ``x[j]``."""
    parts, n, m = x.size()
    out = torch.zeros([parts * n, m], dtype=torch.float32)
    for i in hl.tile(n):
        rows = torch.stack([x[j, i, :] for j in range(parts)], 1).reshape(parts * i.block_size, m)
        places = parts * i.begin + hl.arange(parts * i.block_size)
        hl.store(out, [places, slice(None)], rows.float(), extra_mask=(places < parts * n)[:, None])
    return out


def numbers(shape: tuple[int, ...], dtype: torch.dtype, integers: torch.dtype) -> torch.Tensor:
    """Every bit pattern of a dtype, or as many as there are elements; without NaNs of floats."""
    bits = torch.arange(prod(shape), dtype=torch.int32) * 7
    found = bits.to(integers).view(dtype).reshape(shape)
    return torch.where(found.float().isnan(), torch.zeros_like(found.float()), found.float()).to(dtype)


@pytest.mark.parametrize(("dtype", "integers", "parts"), DTYPES)
@pytest.mark.parametrize("target", ["reference", "pallas:strict", "triton:interpret"])
@pytest.mark.parametrize(("rows", "lanes", "block"), SIZES)
def test_no_bit_changes(
    target: str, dtype: torch.dtype, integers: torch.dtype, parts: int, rows: int, lanes: int, block: int
) -> None:
    x = numbers((parts, rows, lanes), dtype, integers)
    found = kopt.kernel(alternate, target=target, config={"block_sizes": [block]})(x)
    assert torch.equal(found, x.float().transpose(0, 1).reshape(parts * rows, lanes))


@pytest.mark.parametrize(
    ("case", "chip", "first"),
    [
        (*pair, first)
        for pair, first in zip(rotating(DTYPES, "v6e", sorted({*TPU_CHIPS} - {"v6e"})), cycle((0, 1, 1, 0)))
    ],
)
def test_compiles(case: tuple[torch.dtype, torch.dtype, int], chip: str, first: int) -> None:
    """Every second size: the others are compiled for the other chip."""
    dtype, integers, parts = case
    for rows, lanes, block in SIZES[first::2]:
        x = numbers((parts, rows, lanes), dtype, integers)
        low = kopt.kernel(alternate, config={"block_sizes": [block]}).lower(x, target=f"pallas:{chip}")
        assert ("pltpu.bitcast" in low.source) == (dtype != torch.float16)
        assert low.report(estimates=False)["legal"], low.report(estimates=False)["reason"]
