"""Blocks of several loops that meet, and lanes that do not stand first."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from xdsl.ir import SSAValue

import kopt.language as hl
from kopt.dialects import tile
from kopt.errors import KoptError
from kopt.frontend import import_kernel
from kopt.frontend.state import current
from kopt.walk import walk

from .support import imported, reference, seen

torch.manual_seed(7)
X, Y = torch.randn(8, 16), torch.randn(8, 16)


def one_registered_size(x, y):
    size = hl.register_block_size(1, 8)
    out = torch.zeros_like(x)
    for i in hl.tile(8, block_size=size):
        total = hl.zeros([i, 16])
        for k in hl.tile(8, block_size=size):
            total = total + x[i, :] * y[k, :]
        out[i, :] = total
    return out


def given_sizes(x, y):
    out = torch.zeros_like(x)
    for i in hl.tile(8, block_size=4):
        total = hl.zeros([i, 16])
        for k in hl.tile(8, block_size=4):
            total = total + x[i, :] * y[k, :]
        out[i, :] = total
    return out


def open_sizes(x, y):
    out = torch.zeros_like(x)
    for i in hl.tile(8):
        total = hl.zeros([i, 16])
        for k in hl.tile(8):
            total = total + x[i, :] * y[k, :]
        out[i, :] = total
    return out


def one_open_size(x, y):
    out = torch.zeros_like(x)
    for i in hl.tile(8):
        total = hl.zeros([i, 16])
        for k in hl.tile(8, block_size=8):
            total = total + x[i, :] * y[k, :]
        out[i, :] = total
    return out


@pytest.mark.parametrize(
    ("kernel", "sizes", "block"),
    [
        (one_registered_size, None, 8),
        (one_registered_size, [2], 2),
        (given_sizes, None, 4),
        (open_sizes, [4, 4], 4),
        (one_open_size, [8], 8),
    ],
)
def test_blocks_of_equal_sizes_meet_lane_by_lane(kernel: Callable[..., torch.Tensor], sizes, block: int) -> None:
    wanted = X * Y.reshape(-1, block, 16).sum(0).repeat(8 // block, 1)
    torch.testing.assert_close(reference(kernel, X, Y, block_sizes=sizes), wanted, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("kernel", [open_sizes, one_open_size])
@pytest.mark.parametrize("sizes", [None, "other"])
def test_blocks_that_need_not_be_equal_do_not(kernel, sizes) -> None:
    """Sizes that kopt chooses may be others, and those that are given are."""
    given = None if sizes is None else [4, 2] if kernel is open_sizes else [4]
    with pytest.raises(KoptError, match="do not broadcast"):
        import_kernel(kernel, (X, Y), {}, block_sizes=given)


def block_of_an_ended_loop(x):
    for i in hl.tile(8, block_size=4):
        x[i, 0] = 0
    for k in hl.tile(8, block_size=4):
        x[k, 0] = x[i, 0]


def test_blocks_of_ended_loops() -> None:
    with pytest.raises(KoptError, match="a device tensor .b0=4. of torch.float32 belongs to a loop that has ended"):
        import_kernel(block_of_an_ended_loop, (X,), {})


def test_updates_of_an_only_element() -> None:
    """All lanes of a block update the one element of a dimension of 1; a store of a number does so once a lane."""

    def kernel(x, out):
        for i in hl.tile(8, block_size=4):
            hl.atomic_add(out, [i, i], x[i, 0][:, None] * torch.ones([1, 4]))

    out = torch.zeros(8, 1)
    reference(kernel, X, out)
    torch.testing.assert_close(out[:, 0], X[:, 0] * 4)


@pytest.mark.parametrize(
    ("of", "wanted"),
    [
        (lambda v: torch.cummax(v.T.flatten(), 0).indices.float().sum(), None),
        (lambda v: torch.cummax(v.T.flatten(), 0).values.sum(), None),
        (lambda v: torch.cummin(v.T.flatten(), 0).indices.float().sum(), None),
        (lambda v: torch.argmax(v.T.flatten()).float(), None),
        (lambda v: v.T.flatten().cumsum(0).max(), None),
        (lambda v: torch.cummax(v.flatten(), 0).indices.float().sum(), None),
        (lambda v: torch.sort(v.T.flatten(), descending=True).indices.float()[0], None),
        (lambda v: v.T.reshape(-1, 1).size(0) * v.sum(), None),
        (lambda v: v.T.flatten().mean(), None),
    ],
    ids=range(9),
)
@pytest.mark.parametrize("rows", [4, 6, 7])
def test_lanes_behind_those_of_a_short_block(of, wanted, rows: int) -> None:
    """Of rows that end with their array, columns one after another: valid lanes stand behind invalid ones."""
    x = torch.randn(rows, 3)

    def kernel(x):
        out = torch.zeros([-(-x.size(0) // 4)], dtype=torch.float32)
        for i in hl.tile(x.size(0), block_size=4):
            out[i.id] = of(x[i, :])
        return out

    torch.testing.assert_close(reference(kernel, x), torch.stack([of(part) for part in x.split(4)]))


def becomes_shorter(x):
    """What is carried has fewer lanes after the first visit, which the loop around tells."""
    out = torch.zeros_like(x)
    for i in hl.tile(x.size(0), block_size=4):
        total = hl.zeros([4 * 3])
        for _ in hl.tile(2, block_size=1):
            total = total + x[i, :].flatten()
        out[i, :] = total.reshape(-1, 3)
    return out


def test_carried_lanes_that_are_not_all_valid() -> None:
    x = torch.randn(6, 3)
    torch.testing.assert_close(reference(becomes_shorter, x), x * 2)


@pytest.mark.parametrize(
    ("of", "gathers"),
    [
        (lambda x: x[torch.arange(4)[:, None], torch.arange(3)[None, :]], False),
        (lambda x: x[torch.arange(3)[None, :], torch.arange(4)[:, None]], True),
        (lambda x: x[torch.arange(4)[:, None], torch.arange(2, 9, 3)[None, :]], False),
        (lambda x: x[torch.arange(4)[:, None], torch.arange(3)[None, :] * 2], True),
        (lambda x: x[torch.arange(1, 7, 2)], False),
        (lambda x: x[torch.arange(6) + 1, 0], False),
        (lambda x: x[torch.arange(8), 3:5], False),
    ],
    ids=range(7),
)
def test_index_tensors_that_number_lanes(of: Callable[[torch.Tensor], torch.Tensor], gathers: bool) -> None:
    """They are slices, where each numbers an axis of its own, in order; else gathers."""
    wanted = of(X)

    def kernel(x):
        out = torch.zeros([1, *wanted.shape])
        for i in hl.grid(1):
            out[i] = of(x)
        return out

    (load,) = walk(imported(kernel, X).module, tile.LoadOp)
    assert any(tile.is_gather(entry) for entry in load.entries if isinstance(entry, SSAValue)) is gathers
    torch.testing.assert_close(reference(kernel, X)[0], wanted)


def test_sizes_of_two_and_three_lanes_meet_where_one_is_padding() -> None:
    """Lanes of the next power of two that were asked for, and only those."""
    found = seen(lambda x, v, t: (hl.next_power_of_2(3), (hl.arange(4) + hl.arange(3)).shape, current()), X)
    assert found[1] == (3,) and found[2].powers_of_two == {(3, 4)}
    with pytest.raises(KoptError, match="do not broadcast"):
        seen(lambda x, v, t: hl.arange(4) + hl.arange(3), X)
