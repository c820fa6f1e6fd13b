"""Rows by number that a loop reads and writes again, and that are stored whole here and in part there."""

import pytest
import torch

import kopt
import kopt.language as hl

TARGETS = ["reference", "pallas:interpret", "triton:interpret", "pallas:strict"]


@kopt.kernel
def halved_in_place(x, rows):
    """Each block of columns of some rows is read before it is written, by numbers for both."""
    for tile in hl.tile(rows.size(0)):
        row = rows[tile]
        for columns in hl.tile(x.size(1), block_size=32):
            places = [row[:, None], columns.index[None, :]]
            hl.store(x, places, hl.load(x, places) * 0.5)
    return x


@kopt.kernel
def with_diagonals(values, blocks, rows):
    """Rows of a block each, whose lanes begin at the block's own column."""
    count, width = values.size()
    parts, size = blocks.size(0), hl.specialize(blocks.size(1))
    out = torch.zeros_like(values)
    for part in hl.tile(parts, block_size=1):
        lane = hl.arange(size)
        row = hl.load(rows, [part.id * size + lane])
        valid = (part.id * size + lane < count)[:, None]
        hl.store(
            out, [row[:, None], hl.arange(width)[None, :]], hl.load(values, [row[:, None], hl.arange(width)[None, :]])
        )
        column = part.id * size + lane
        block = blocks[part, :, :].reshape(size, size)
        hl.store(out, [row[:, None], column[None, :]], block, extra_mask=(lane[:, None] >= lane[None, :]) & valid)
    return out


def halving():
    """Arguments of the first kernel, and what it gives."""
    x, rows = torch.randn(20, 72), torch.tensor([3, 19, 0, 7, 8])
    wanted = x.clone()
    wanted[rows] *= 0.5
    return (x, rows), wanted


def diagonals(dtype=torch.float32):
    """Arguments of the second kernel, and what it gives."""
    values, blocks = (torch.randint(-9, 9, shape).clamp(min=0).to(dtype) for shape in [(16, 40), (4, 4, 4)])
    rows = torch.randperm(16, generator=torch.Generator().manual_seed(0)).to(torch.int32)
    wanted = values.clone()
    for part, block in enumerate(blocks):
        for lane, row in enumerate(rows[part * 4 : part * 4 + 4].tolist()):
            wanted[row, part * 4 : part * 4 + lane + 1] = block[lane, : lane + 1]
    return (values, blocks, rows), wanted


CASES = [(halved_in_place, halving), (with_diagonals, diagonals)]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("kernel", "case"), CASES)
def test_rows_by_number(kernel, case, target):
    args, wanted = case()
    assert torch.equal(kernel.on(target)(*args), wanted)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.bool])
def test_parts_of_rows_of_narrow_elements(dtype):
    args, wanted = diagonals(dtype)
    assert torch.equal(with_diagonals.on("pallas:interpret")(*args), wanted)


@pytest.mark.slow
@pytest.mark.parametrize(("kernel", "case"), CASES)
def test_rows_by_number_compile(kernel, case):
    report = kernel.on("pallas:tpu7x").lower(*case()[0]).report(estimates=False)
    assert report["legal"], report["reason"]
