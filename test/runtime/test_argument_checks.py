"""Arguments that a kernel would read out of range with: named by item before the call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import kopt
import kopt.language as hl
from kopt.errors import AccessError, ArgumentError
from test.kernels import jagged_kernels as kernels

X = torch.arange(800, dtype=torch.float32).reshape(40, 20)
GOOD = torch.tensor([0, 3, 3, 11, 16, 17])
FEATURES = torch.tensor([20, 0, 7, 1, 16], dtype=torch.int32)
WRONG = {
    "offsets[3] = 17 is less than offsets[2] = 20": [0, 3, 20, 17, 18, 19],
    "item 4 ends at row 120 of 'x', which has 40 rows": [0, 3, 3, 11, 16, 120],
    "item 0 starts at row -3 of 'x', which has 40 rows": [-3, 3, 3, 11, 16, 17],
}


def by_lengths(x, starts, lengths):
    """Rows by starts and lengths, of which the first item has none of its own."""
    out = torch.zeros([lengths.size(0), x.size(1)], dtype=x.dtype)
    tails = starts[1:]
    for i in hl.grid(lengths.size(0)):
        begin, count = tails[i], lengths[i]
        if count > 0:
            for k, m in hl.tile([count, x.size(1)]):
                out[i, m] = out[i, m] + x[begin + k.index, m].sum(0)
    return out


def under_a_mask(x, offsets, limit):
    """Reads only where a mask says so, whatever the offsets."""
    items = offsets.size(0) - 1
    out = torch.zeros([items], dtype=x.dtype)
    for b in hl.tile(items):
        starts = offsets[b]
        for k in hl.jagged_tile(offsets[b.index + 1] - starts):
            rows = starts[:, None] + k.index[None, :]
            out[b] = out[b] + hl.load(x, [rows, 0], extra_mask=rows < limit).sum(1)
    return out


def by_cumulated_lengths(x, lengths):
    """Rows whose offsets the host adds up from lengths."""
    offsets = torch.nn.functional.pad(lengths.cumsum(0), (1, 0))
    out = torch.zeros([lengths.size(0), x.size(1)], dtype=x.dtype)
    for b in hl.tile(lengths.size(0)):
        starts = offsets[b]
        for k in hl.jagged_tile(offsets[b.index + 1] - starts):
            out[b, :] = out[b, :] + x[starts[:, None] + k.index[None, :], :].sum(1)
    return out


def compiled(kernel: Callable[..., Any], *args: Any, target: str = "reference", **config: Any) -> Callable[..., Any]:
    return kopt.kernel(kernel).lower(*args, target=target, config=config).compile()


@pytest.mark.parametrize(("message", "offsets"), WRONG.items())
@pytest.mark.parametrize(
    "kernel",
    [kernels.jagged_sum, kernels.jagged_sum_by_rows, kernels.jagged_sum_masked, kernels.jagged_sum_by_items],
    ids=lambda kernel: kernel.__name__,
)
def test_offsets_are_checked_on_the_reference(kernel, message, offsets) -> None:
    """However the kernel comes to its rows; and good ones pass."""
    run = compiled(kernel, X, GOOD)
    run(X, GOOD)
    with pytest.raises(ArgumentError) as error:
        run(X, torch.tensor(offsets))
    assert error.value.message == f"{kernel.__name__}: {message}"


def test_interpreters_look_and_chips_on_request() -> None:
    offsets = torch.tensor([0, 3, 20, 17, 18, 19])
    with pytest.raises(ArgumentError, match=r"offsets\[3\] = 17 is less than"):
        compiled(kernels.segment_max, X, GOOD, target="triton:interpret")(X, offsets)
    for checks in (False, True):
        low = kopt.kernel(kernels.segment_max).lower(X, GOOD, target="triton:sm90", config={"checks": checks})
        assert bool(low.checks and low.checks.slices) is checks


def test_two_extents() -> None:
    run = compiled(kernels.jagged_mean, X, GOOD, FEATURES)
    with pytest.raises(ArgumentError, match="item 3 ends at 21 in dimension 1 of 'x', whose extent is 20"):
        run(X, GOOD, torch.tensor([20, 0, 7, 21, 16], dtype=torch.int32))


def test_starts_and_lengths_of_their_own() -> None:
    """Of a slice of the starts, under a condition that leaves out empty items."""
    starts, lengths = torch.tensor([9, 0, 3, 99, 36]), torch.tensor([3, 5, 0, 4])
    run = compiled(by_lengths, X, starts, lengths)
    expected = torch.stack([X[s : s + n].sum(0) for s, n in zip([0, 3, 40, 36], [3, 5, 0, 4], strict=True)])
    torch.testing.assert_close(run(X, starts, lengths), expected)
    with pytest.raises(ArgumentError, match="item 3 ends at row 41 of 'x', which has 40 rows"):
        run(X, torch.tensor([9, 0, 3, 99, 37]), lengths)


def test_too_few_offsets() -> None:
    """Which shapes show already."""
    with pytest.raises(AccessError, match=r"'tile.load' of %offsets, shape \[4\]: lane \[3\] of the block is outside"):
        compiled(kernels.jagged_dense_bmm, X, GOOD[:4], torch.ones(4, 20, 8))


def test_masks_may_leave_out_what_is_not_there() -> None:
    offsets = torch.tensor([0, 38, 50])
    found = compiled(under_a_mask, X, offsets, 40)(X, offsets, 40)
    torch.testing.assert_close(found, torch.stack([X[:38, 0].sum(), X[38:, 0].sum()]))


@pytest.mark.parametrize("config", [{}, {"checks": True}])
def test_offsets_of_64_bits_must_fit_a_tpu(config) -> None:
    """By default, with no other check."""
    args = X, GOOD
    run = compiled(kernels.segment_max, *args, target="pallas:interpret", block_sizes=[4, 16, 8], **config)
    with pytest.raises(ArgumentError, match=r"offsets\[5\] = \d+ is not from|ends at row 1099511627776"):
        run(X, torch.tensor([0, 3, 3, 11, 16, 2**40]))


@pytest.mark.parametrize(
    ("message", "lengths"),
    {
        "item 3 ends at row 43 of 'x', which has 40 rows": [30, 0, 9, 4],
        "offsets[2] = 18 is less than offsets[1] = 20": [20, -2, 3, 4],
    }.items(),
)
@pytest.mark.parametrize("target", ["reference", "triton:interpret"])
def test_what_the_host_computes_is_checked(target, message, lengths) -> None:
    """By the kernel's own names."""
    good = torch.tensor([3, 0, 8, 5])
    run = compiled(by_cumulated_lengths, X, good, target=target, checks=True)
    torch.testing.assert_close(run(X, good)[2], X[3:11].sum(0))
    with pytest.raises(ArgumentError) as error:
        run(X, torch.tensor(lengths))
    assert error.value.message == f"by_cumulated_lengths: {message}"
