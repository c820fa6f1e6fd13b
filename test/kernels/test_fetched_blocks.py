"""Blocks at computed places of arrays that stay in HBM: cells fetch them; the last may reach beyond its array."""

from __future__ import annotations

import pytest
import torch

import kopt
import kopt.language as hl


def rows_from(x, first, count: hl.constexpr, unit: hl.constexpr):
    """Some rows, or planes, of an array, from a loaded one on."""
    out = torch.empty([count, *x.size()[1:]], dtype=x.dtype)
    for tile in hl.tile(count, block_size=8):
        out[tile, ...] = x[first[0] * unit + tile.index, ...]
    return out


#: The array, the row to begin at, how many rows, and what first rows are multiples of.
CASES = {"planes": ((21, 3, 128), 1, 20, 1), "rows": ((21, 128), 8, 13, 8), "any rows": ((21, 128), 3, 18, 1)}


@pytest.mark.parametrize("target", ["reference", "triton:interpret", "pallas:interpret", "pallas:strict"])
@pytest.mark.parametrize("case", CASES)
def test_nothing_is_read_beyond_the_array(case, target) -> None:
    shape, begin, count, unit = CASES[case]
    x = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    first = torch.tensor([begin // unit], dtype=torch.int32)
    config = {"loop_type": "fori"} if target.startswith("pallas") else {}
    assert torch.equal(kopt.kernel(rows_from, target=target, config=config)(x, first, count, unit), x[begin:][:count])


def sums_of_pages(pages, numbers, counts):
    """The sum of as many pages as each row has numbers of."""
    rows, _ = numbers.size()
    _, lines, lanes = pages.size()
    out = torch.empty([rows, lines, lanes], dtype=pages.dtype)
    for row in hl.grid(rows):
        total = hl.zeros([lines, lanes], dtype=torch.float32)
        for tile in hl.tile(0, counts[row], block_size=1):
            total += pages[numbers[row, tile.id], :, :]
        out[row, :, :] = total
    return out


@pytest.mark.parametrize("target", ["reference", "pallas:interpret", "pallas:strict"])
def test_pages_come_a_visit_ahead(target) -> None:
    pages = torch.arange(300.0)[:, None, None] + torch.zeros([300, 8, 128])
    # Rows of none and of all; behind what they count are numbers of no page.
    counts = torch.tensor([3, 0, 4, 0, 1], dtype=torch.int32)
    numbers = torch.full([5, 4], 1 << 20, dtype=torch.int32)
    for row, count in enumerate(counts.tolist()):
        numbers[row, :count] = 7 * row + 90 * torch.arange(count)
    wanted = torch.stack([pages[some[:count].long()].sum(0) for some, count in zip(numbers, counts, strict=True)])
    kernel = kopt.kernel(sums_of_pages, target=target)
    assert torch.equal(kernel(pages, numbers, counts), wanted)
    if target != "reference":
        assert "pages_ref.at[" in kernel.lower(pages, numbers, counts).source, "pages are copied, not the whole pool"
