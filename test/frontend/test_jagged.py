"""``hl.jagged_tile``: what it becomes, and what it refuses."""

from __future__ import annotations

import pytest
import torch

import kopt
import kopt.language as hl
from kopt.frontend import import_kernel


def over(lengths_of):
    """A kernel that loops over lengths made from a tile's."""

    def kernel(x, lengths):
        out = torch.empty([x.size(0)], dtype=x.dtype)
        for b in hl.tile(x.size(0)):
            total = hl.zeros([b])
            for k in hl.jagged_tile(lengths_of(lengths, b)):
                total = total + x[b, k].sum(1)
            out[b] = total
        return out

    return kernel


X, LENGTHS = torch.randn(5, 20), torch.tensor([3, 0, 20, 7, 1])
GIVEN = {"block_sizes": [4, 8]}


def test_a_jagged_loop_over_a_padded_matrix() -> None:
    low = kopt.kernel(over(lambda lengths, b: lengths[b])).lower(X, LENGTHS, target="reference", config=GIVEN)
    assert "jagged.for %k: b1=8 in" in low.ir
    expected = torch.stack([row[:n].sum() for row, n in zip(X, LENGTHS.tolist(), strict=True)])
    torch.testing.assert_close(low.compile()(X, LENGTHS), expected)


def test_lengths_below_zero_are_empty_items() -> None:
    kernel = kopt.kernel(over(lambda lengths, b: lengths[b] - 4), config=GIVEN)
    expected = torch.stack([row[: max(0, n - 4)].sum() for row, n in zip(X, LENGTHS.tolist(), strict=True)])
    for target in ("reference", "triton:interpret"):
        torch.testing.assert_close(kernel.on(target)(X, LENGTHS), expected)


@pytest.mark.parametrize(
    ("lengths_of", "message"),
    [
        (lambda lengths, b: lengths, "needs the lengths of items in a device loop, found a host tensor"),
        (lambda lengths, b: lengths[b].sum(), "needs a tile of lengths, found one number"),
        (lambda lengths, b: lengths[b].to(torch.float32), "lengths are integers"),
        (lambda lengths, b: lengths[0:4], "every dimension of the lengths must be a tile of a loop around"),
    ],
)
def test_refused(lengths_of, message) -> None:
    with pytest.raises(kopt.UnsupportedError, match=message):
        kopt.kernel(over(lengths_of)).lower(X, LENGTHS, target="reference")


def test_a_mean_over_a_jagged_dimension_is_refused() -> None:
    """Its number of lanes differs from item to item."""

    def kernel(x, lengths):
        out = torch.empty([x.size(0)], dtype=x.dtype)
        for b in hl.tile(x.size(0)):
            for k in hl.jagged_tile(lengths[b]):
                out[b] = x[b, k].mean(1)
        return out

    with pytest.raises(kopt.UnsupportedError, match="differs from item to item"):
        kopt.kernel(kernel).lower(X, LENGTHS, target="reference")


def test_jagged_lanes_beside_others_are_refused() -> None:
    """Neither the largest nor the mean of them would be that of the items' lanes."""

    def kernel(x, lengths):
        out = torch.empty([x.size(0)], dtype=x.dtype)
        for b in hl.tile(x.size(0)):
            for k in hl.jagged_tile(lengths[b]):
                out[b] = torch.cat([x[b, k], x[b, k]], dim=1).amax(1)
        return out

    with pytest.raises(kopt.UnsupportedError, match="cannot stand beside others"):
        kopt.kernel(kernel).lower(X, LENGTHS, target="reference")


def test_the_block_of_a_jagged_loop() -> None:
    """It is one of a loop inside, over one dimension of which nobody knows the extent."""
    outer, inner = import_kernel(over(lambda lengths, b: lengths[b]), (X, LENGTHS), {}).blocks
    assert (outer.on_grid, outer.axis, outer.rank, outer.extent) == (True, 0, 1, 5)
    assert (inner.on_grid, inner.axis, inner.rank, inner.last) == (False, 0, 1, True)
