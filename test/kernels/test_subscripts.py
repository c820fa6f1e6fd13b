"""What index lists pick of blocks that are loaded or computed, on every CPU target."""

from __future__ import annotations

import pytest
import torch

import kopt
import kopt.language as hl
from kopt.errors import UnsupportedError

TARGETS = ("reference", "triton:interpret", "pallas:interpret")


def _rows(n: int = 9) -> torch.Tensor:
    return torch.randn(n, 2, 128, generator=torch.Generator().manual_seed(0))


@kopt.kernel
def known_lanes(x):
    """A slice, every other lane, and lanes of what a reshape gave."""
    rows = x.size(0)
    out = torch.empty([rows, 128], dtype=x.dtype)
    for tile in hl.tile(rows):
        block = x[tile, :] + 1
        heads = block.reshape(block.size(0), 4, 64)[:, 1 + hl.arange(2), :]
        out[tile, :] = (
            heads.reshape(block.size(0), 128) + block[:, hl.arange(0, 256, 2)] + block[:, 64 + hl.arange(128)]
        )
    return out


@pytest.mark.parametrize("target", TARGETS)
def test_lanes_of_known_numbers(target):
    x = torch.randn(13, 256)
    block = x + 1
    torch.testing.assert_close(known_lanes.on(target)(x), 2 * block[:, 64:192] + block[:, ::2])


@kopt.kernel
def rows_of_a_block(x):
    """Sums of a block's valid rows by pairs, the last pair of a short block alone, and of those one further."""
    out = torch.zeros([2, 2, 128], dtype=x.dtype)
    for _ in hl.grid(1):
        pairs, next_ones = hl.zeros([2, 128]), hl.zeros([2, 128])
        for outer in hl.tile(x.size(0), block_size=4):
            block = x[outer, :, :]
            for inner in hl.tile(outer.end - outer.begin, block_size=2):
                pairs += block[inner.index, :, :].sum(0)
                next_ones += torch.where((inner.index < 3)[:, None, None], block[(inner.index + 1) % 4, :, :], 0.0).sum(
                    0
                )
        out[0, :, :] = pairs
        out[1, :, :] = next_ones
    return out


@pytest.mark.parametrize("target", TARGETS)
def test_rows_by_the_numbers_of_another_loop(target):
    x = _rows()
    later = torch.cat([x[1:4], x[5:8]])  # a last block of one row has no next one: 0
    wanted = torch.stack([x.sum(0), later.sum(0)])
    torch.testing.assert_close(rows_of_a_block.on(target)(x), wanted, atol=1e-4, rtol=1e-4)


@kopt.kernel
def last_rows(x):
    """The last three valid rows of each block, where it has them; then three that begin inside and end outside."""
    out = torch.zeros([2, 2, 128], dtype=x.dtype)
    for _ in hl.grid(1):
        last, beyond = hl.zeros([2, 128]), hl.zeros([2, 128])
        for outer in hl.tile(x.size(0), block_size=4):
            block = x[outer, :, :]
            live = outer.end - outer.begin
            if live >= 3:
                last += block[live - 3 : live, :, :].sum(0)
                beyond += block[live - 1 : live + 2, :, :].sum(0)
        out[0, :, :] = last
        out[1, :, :] = beyond
    return out


@pytest.mark.parametrize("target", TARGETS)
def test_slices_with_computed_bounds(target):
    x = _rows()
    wanted = torch.stack([x[1:4].sum(0) + x[5:8].sum(0), x[3] + x[7]])
    torch.testing.assert_close(last_rows.on(target)(x), wanted, atol=1e-4, rtol=1e-4)


def outside(x):
    out = torch.empty([2, 2, 128])
    for tile in hl.tile(x.size(0), block_size=4):
        out[:, :, :] = x[tile, :, :][3 + hl.arange(2), :, :]
    return out


def two_vectors(x):
    out = torch.empty_like(x)
    for tile in hl.tile(x.size(0), block_size=4):
        lanes = hl.arange(2)
        out[tile, :, :] = x[tile, :, :][lanes, lanes, :]
    return out


@pytest.mark.parametrize(
    ("kernel", "message"), [(outside, "lane 4 is outside"), (two_vectors, "cannot index a device")]
)
def test_what_is_refused(kernel, message):
    with pytest.raises(UnsupportedError, match=message) as caught:
        kopt.kernel(kernel, target="reference")(_rows(8))
    assert caught.value.location is not None


@kopt.kernel
def neighbours(x):
    """Numbers below 0 before ``%`` and ``//``."""
    out = torch.empty_like(x)
    n = x.size(0)
    for _ in hl.grid(1):
        for tile in hl.tile(n, block_size=1):
            out[tile.begin, :] = (
                x[(tile.begin - 1) % n, :] + x[(tile.begin - 3) // 2 + 2, :] * x[(tile.begin + 1) // 2, :]
            )
    return out


@pytest.mark.parametrize("target", TARGETS)
def test_quotients_of_negative_numbers_round_down(target):
    x = torch.randn(4, 128)
    wanted = x.roll(1, 0) + x[[0, 1, 1, 2]] * x[[0, 1, 1, 2]]
    torch.testing.assert_close(neighbours.on(target)(x), wanted)


def test_division_of_what_loops_count_needs_no_helper():
    @kopt.kernel
    def halves(x):
        out = torch.empty_like(x)
        for tile in hl.tile(x.size(0), block_size=1):
            out[tile.begin, :] = x[tile.begin // 2, :]
        return out

    assert "_floor_quotient" not in halves.lower("f32[8,128]", target="triton:sm90").source
    assert "_floor_quotient(" in neighbours.lower("f32[4,128]", target="triton:sm90").source


@kopt.kernel
def by_two_names(x, y):
    """An array and a view of it that is no other: one array, for reads and for writes."""
    same = x.view_as(x).reshape(x.size(0), x.size(1))
    total = torch.empty([x.size(0)])
    for tile in hl.tile(x.size(0)):
        before = x[tile, :]
        same[tile, :] = y[tile, :]
        total[tile] = before.sum(-1)
    return total


@pytest.mark.parametrize("target", TARGETS)
def test_a_view_that_changes_nothing_is_the_array(target):
    x, y = torch.randn(20, 128), torch.randn(20, 128)
    total = x.sum(-1)
    torch.testing.assert_close(by_two_names.on(target)(x, y), total, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(x, y)
