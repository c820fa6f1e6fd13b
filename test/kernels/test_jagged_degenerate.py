"""Jagged kernels on arrays of one column or without rows, and 64-bit numbers that grow with an item's length."""

from __future__ import annotations

import pytest
import torch

import kopt
import kopt.language as hl
from test.kernels.jagged_kernels import jagged_softmax, jagged_sum
from test.kernels.test_jagged import TARGETS


def offsets(*numbers: int) -> torch.Tensor:
    return torch.tensor(numbers, dtype=torch.int64)


def summed(x: torch.Tensor, limits: torch.Tensor) -> torch.Tensor:
    return torch.stack([x[begin:end].sum(0) for begin, end in zip(limits[:-1], limits[1:], strict=True)])


def test_one_column_of_flat_storage_is_raised() -> None:
    """Element ``(start + k) * 1 + m`` is row ``start + k``: both strides are one, and ``m`` is always 0."""
    lowered = kopt.kernel(jagged_sum).lower("f32[132,1]", "i64[3]", target="pallas:tpu7x")
    assert "jagged.rows" in dict(lowered.stages())["raise-jagged"]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kernel", [jagged_sum, jagged_softmax])
def test_one_column(kernel, target) -> None:
    x, limits = torch.randn(32, 1), offsets(2, 2, 9, 31)
    found = kopt.kernel(kernel, target=target)(x, limits)
    if kernel is jagged_sum:
        torch.testing.assert_close(found, summed(x, limits))
    else:
        for begin, end in zip(limits[:-1], limits[1:], strict=True):
            torch.testing.assert_close(found[begin:end], torch.softmax(x[begin:end], 0))


def halves_of_rows(x, limits):
    """Each item's rows plus one, two elements at a time in a loop to the longest item."""
    items, columns = limits.size(0) - 1, x.size(1)
    out = torch.zeros_like(x)
    flat, out_flat = x.view(-1), out.view(-1)
    for b in hl.tile(items, block_size=4):
        starts = limits[b]
        lengths = limits[b.index + 1] - starts
        for k in hl.tile(0, lengths.amax(), block_size=8):
            for m in hl.tile(columns, block_size=2):
                place = ((starts[:, None] + k.index[None, :]) * columns)[:, :, None] + m.index[None, None, :]
                inside = (k.index[None, :] < lengths[:, None])[:, :, None]
                hl.store(out_flat, [place], hl.load(flat, [place], extra_mask=inside) + 1, extra_mask=inside)
    return out


@pytest.mark.parametrize("target", TARGETS)
def test_numbers_of_elements_in_64_bits(target) -> None:
    """On a TPU they fit 32 bits by what offsets may be: the loop over an item's rows ends at a difference of two."""
    x, limits = torch.randn(30, 8), offsets(1, 4, 4, 12, 13, 29)
    wanted = torch.zeros_like(x)
    wanted[1:29] = x[1:29] + 1
    torch.testing.assert_close(kopt.kernel(halves_of_rows, target=target)(x, limits), wanted)


def largest_and_sum(x, limits):
    """Of each item, over rows and the one column of flat storage."""
    items, columns = limits.size(0) - 1, x.size(1)
    out = torch.empty([items, 2], dtype=torch.float32)
    flat = x.view(-1)
    for i in hl.grid(items):
        begin, end = limits[i], limits[i + 1]
        largest, total = hl.full([], -10.0), hl.full([], 0.0)
        for k in hl.tile(begin, end):
            for m in hl.tile(columns):
                block = flat[k.index[:, None] * columns + m.index[None, :]].float()
                largest = torch.maximum(largest, block.amax((0, 1)))
                total = total + block.sum((0, 1))
        out[i, 0], out[i, 1] = largest, total
    return out


@pytest.mark.parametrize("target", TARGETS)
def test_a_range_that_only_types_name(target) -> None:
    """The loop over one column is a range that no access uses any more, and still names a dimension."""
    x, limits = torch.randn(10, 1).bfloat16(), offsets(4, 4, 5, 10)
    parts = [x[begin:end].float() for begin, end in zip(limits[:-1], limits[1:], strict=True)]
    wanted = torch.tensor([[max([-10.0, *part.flatten().tolist()]), part.sum()] for part in parts])
    torch.testing.assert_close(kopt.kernel(largest_and_sum, target=target)(x, limits), wanted)


def largest_by_rows(x, limits):
    """Of each item and column; -10 of items without rows."""
    items, columns = limits.size(0) - 1, x.size(1)
    out = torch.empty([items, columns], dtype=torch.float32)
    for b, m in hl.tile([items, columns]):
        starts = limits[b]
        lengths = limits[b.index + 1] - starts
        largest = hl.full([b, m], -10.0)
        for k in hl.tile(0, lengths.amax(), block_size=2):
            inside = (k.index[None, :] < lengths[:, None])[:, :, None]
            block = hl.load(x, [starts[:, None] + k.index[None, :], m], extra_mask=inside)
            largest = torch.maximum(largest, torch.where(inside, block, -10.0).amax(1))
        out[b, m] = largest
    return out


@pytest.mark.parametrize("target", TARGETS)
def test_no_rows_at_all(target) -> None:
    found = kopt.kernel(largest_by_rows, target=target)(torch.randn(0, 8), offsets(0, 0, 0))
    assert torch.equal(found, torch.full((2, 8), -10.0))


def doubled(x, limits):
    """The rows of each item twice as large, element by element: columns are numbered."""
    items, columns = limits.size(0) - 1, hl.specialize(x.size(1))
    out = torch.zeros_like(x)
    flat, out_flat = x.view(-1), out.view(-1)
    for i in hl.grid(items):
        lanes = hl.arange(columns)
        for k in hl.tile(limits[i], limits[i + 1], block_size=2):
            place = k.index[:, None] * columns + lanes[None, :]
            out_flat[place] = flat[place] * 2
    return out


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("columns", [1, 130])
def test_numbered_columns(columns, target) -> None:
    """A block of a power of two has lanes that are columns of the next row: they are not stored."""
    x, limits = torch.randn(6, columns), offsets(1, 2, 2, 5)
    wanted = torch.zeros_like(x)
    wanted[1:5] = x[1:5] * 2
    assert torch.equal(kopt.kernel(doubled, target=target)(x, limits), wanted)


def head_sums(x, limits):
    """Of each item's planes, head by head: the width is numbered."""
    items, heads, width = limits.size(0) - 1, hl.specialize(x.size(1)), hl.specialize(x.size(2))
    out = torch.empty([items, heads, width], dtype=torch.float32)
    flat = x.view(-1)
    for b, h in hl.tile([items, heads], block_size=[None, 1]):
        starts = limits[b]
        total = hl.zeros([b, width], dtype=torch.float32)
        for k in hl.jagged_tile(limits[b.index + 1] - starts):
            rows = (starts[:, None] + k.index[None, :]) * heads + h.begin
            total = total + flat[rows[:, :, None] * width + hl.arange(width)[None, None, :]].float().sum(1)
        out[b, h, :] = total[:, None, :]
    return out


@pytest.mark.parametrize("target", TARGETS)
def test_a_numbered_width_is_a_whole_dimension(target) -> None:
    x, limits = torch.randn(30, 3, 20), offsets(1, 4, 4, 12, 13, 29)
    torch.testing.assert_close(kopt.kernel(head_sums, target=target)(x, limits), summed(x, limits))
    lowered = kopt.kernel(head_sums).lower("bf16[90000,4,128]", "i32[17]", target="pallas:tpu7x")
    assert "tile.load %x[%rows" in dict(lowered.stages())["raise-jagged"]
    assert "make_async_copy" in lowered.source
