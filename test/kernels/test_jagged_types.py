"""Jagged kernels on rows of narrow types: sums of them, and rows written where they were read."""

from __future__ import annotations

import pytest
import torch

import kopt
import kopt.language as hl
from test.kernels.test_jagged import TARGETS, offsets_of

TYPES = {
    "f16": torch.float16,
    "i8": torch.int8,
    "u8": torch.uint8,
    "f8e4m3fn": torch.float8_e4m3fn,
    "f8e5m2": torch.float8_e5m2,
}


def wide_sum(x, offsets):
    """The sum of each item's rows, in f32."""
    items, columns = offsets.size(0) - 1, x.size(1)
    out = torch.empty([items, columns], dtype=torch.float32)
    for b, m in hl.tile([items, columns]):
        starts = offsets[b]
        total = hl.zeros([b, m], dtype=torch.float32)
        for k in hl.jagged_tile(offsets[b.index + 1] - starts):
            total = total + x[starts[:, None] + k.index[None, :], m].to(torch.float32).sum(1)
        out[b, m] = total
    return out


def doubled(x, offsets):
    """Each item's rows twice as large; 0 in rows of none."""
    out = torch.zeros_like(x)
    for b, m in hl.tile([offsets.size(0) - 1, x.size(1)]):
        starts = offsets[b]
        for k in hl.jagged_tile(offsets[b.index + 1] - starts):
            rows = starts[:, None] + k.index[None, :]
            value = x[rows, m].to(torch.float32)
            out[rows, m] = (value + value).to(x.dtype)
    return out


def check(kernel, dtype: torch.dtype, target: str) -> None:
    """Small whole numbers, which every type holds exactly."""
    offsets = offsets_of("huge", torch.int32)
    begin, end = int(offsets[0]), int(offsets[-1])
    numbers = torch.randint(0, 4, (end + 2, 20), generator=torch.Generator().manual_seed(1)).float()
    x = numbers.to(dtype)
    found = kopt.kernel(kernel, target=target, config={"block_sizes": [2, 16, 8]})(x, offsets)
    if kernel is doubled:
        assert found.dtype == dtype
        rows = torch.arange(len(x))[:, None]
        assert torch.equal(found.float(), torch.where((rows >= begin) & (rows < end), 2 * numbers, 0.0))
    else:
        items = torch.repeat_interleave(torch.arange(len(offsets) - 1), offsets.diff())
        assert torch.equal(found, torch.zeros(len(offsets) - 1, 20).index_add_(0, items, numbers[begin:end]))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", TYPES.values(), ids=TYPES)
@pytest.mark.parametrize("kernel", [wide_sum, doubled], ids=lambda kernel: kernel.__name__)
def test_as_torch(kernel, dtype, target) -> None:
    check(kernel, dtype, target)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", TYPES.values(), ids=TYPES)
def test_strictly(dtype) -> None:
    """Tiles of memory have more rows of narrow elements, of which items write some."""
    check(doubled, dtype, "pallas:strict")
