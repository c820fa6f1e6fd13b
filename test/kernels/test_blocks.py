"""Kernels that see their blocks: sizes, numbers and begins, on every CPU target."""

import itertools

import pytest
import torch

import kopt
import kopt.language as hl

TARGETS = ("reference", "triton:interpret", "pallas:interpret")
X = torch.arange(64, dtype=torch.float32)


def check(kernel, arguments, expected, target, **config):
    """The kernel's result is the expected one, and its place in memory does not matter."""
    result = kopt.kernel(kernel, target=target, config=config)(*[argument.clone() for argument in arguments])
    torch.testing.assert_close(result, expected)


def seen(x):
    """What a block says of itself."""
    out = torch.zeros([4, x.size(0)], dtype=torch.int32)
    for tile in hl.tile(x.size(0)):
        out[0, tile] = tile.block_size
        out[1, tile] = tile.id
        out[2, tile] = tile.count
        out[3, tile] = hl.arange(tile.block_size)
    return out


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("size", [16, 1])
def test_blocks_have_the_size_that_was_asked_for(target, size):
    """A chip's tiles do not round a size that the kernel shows."""
    lanes = torch.arange(64, dtype=torch.int32)
    rows = [torch.full_like(lanes, size), lanes // size, torch.full_like(lanes, 64 // size), lanes % size]
    check(seen, [X], torch.stack(rows), target, block_sizes=[size])


def by_groups(x, y):
    """Blocks that must not reach into the next group."""
    out = torch.empty_like(x)
    block = hl.register_block_size(y.size(0))
    for tile in hl.tile(x.size(0), block_size=block):
        group = tile.begin // y.size(0)
        out[tile] = x[tile] + y[group]
    return out


@pytest.mark.parametrize("target", TARGETS)
def test_registered_blocks_stay_below_their_bound(target):
    """However large a block the chip would like."""
    y = torch.randn(16)
    check(by_groups, [X.repeat(4), y], X.repeat(4) + y.repeat_interleave(16), target)


def numbered(x):
    """``arange`` from one computed number to another."""
    once = torch.zeros([x.size(0)], dtype=torch.int32)
    even = torch.zeros([x.size(0)], dtype=torch.int32)
    twice = torch.zeros([2 * x.size(0)], dtype=torch.int32)
    for tile in hl.tile(x.size(0)):
        once[tile] = torch.arange(tile.begin, tile.begin + tile.block_size)
        even[tile] = hl.arange(tile.begin * 2, (tile.begin + tile.block_size) * 2, step=2)
        lanes = hl.arange(tile.begin * 2, tile.begin * 2 + tile.block_size * 2)
        twice[lanes] = lanes + 1
    return once, even, twice


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("size", [8, 64])
def test_arange_between_computed_numbers(target, size):
    """Of a known length: as lanes of the block, and as index."""
    lanes = torch.arange(128, dtype=torch.int32)
    check(numbered, [X], (lanes[:64], lanes[::2], lanes + 1), target, block_sizes=[size])


def numbered_by_id(x):
    """As many lanes as the block has, by its number."""
    out = torch.empty_like(x)
    rows = hl.register_block_size(x.size(0))
    for tile in hl.tile(x.size(0), block_size=rows):
        lanes = hl.arange(tile.id * rows, (tile.id + 1) * rows)
        out[lanes] = x[lanes] * 2
    return out


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("sizes", [None, [8]])
def test_arange_by_products_with_a_size(target, sizes):
    """The length follows from the size: one that is chosen is imported."""
    check(numbered_by_id, [X], X * 2, target, block_sizes=sizes)


def test_arange_of_unknown_length():
    """Is refused with its place."""

    def unknown(x, n):
        out = torch.zeros_like(x)
        for _ in hl.grid(1):
            out[hl.arange(0, n[0])] = 1
        return out

    with pytest.raises(kopt.UnsupportedError, match="arange has a length that is known"):
        kopt.kernel(unknown, target="reference")(X, torch.tensor([3]))


def recurrence(x, w):
    """One carried value becomes another."""
    out = torch.empty_like(x)
    for i, j in hl.tile(x.size()):
        before = hl.full([i, j], 1.0)
        now = x[i, j]
        for k in hl.tile(1, w.size(0), block_size=1):
            after = 2 * x[i, j] * now - before * w[k, j]
            before = now
            now = after
        out[i, j] = now
    return out


@pytest.mark.parametrize("target", TARGETS)
def test_carried_values_that_are_passed_on(target):
    """Each visit gets what the last two computed."""
    x, w = torch.rand(23, 40), torch.rand(5, 40)
    before, now = torch.ones_like(x), x
    for row in w[1:]:
        before, now = now, 2 * x * now - before * row
    check(recurrence, [x, w], now, target)


def odd_extents(x):
    """Blocks of sizes that are no powers of two, which nothing masks."""
    out = torch.zeros([7, 6])
    for _ in hl.grid(1):
        rows, columns = hl.arange(5), hl.arange(3)
        hl.store(out, [rows, columns], torch.ones(5, 3) * x[0], extra_mask=(rows < 4)[:, None] & (columns < 2)[None, :])
        out[6, 0] = hl.zeros([260]).sum() + 3
    return out


@pytest.mark.parametrize("target", TARGETS)
def test_odd_extents_without_masks(target):
    """Their ranges are not needed in the end."""
    expected = torch.zeros([7, 6])
    expected[:4, :2] = X[5]
    expected[6, 0] = 3
    check(odd_extents, [X[5:]], expected, target)


def every_cell(x):
    """All cells write the same, and read it back."""
    flags = torch.zeros([4])
    out = torch.empty_like(x)
    for tile in hl.tile(x.size(0), block_size=16):
        flags[:] = 2.0
        out[tile] = x[tile] * flags[1]
    return out


@pytest.mark.parametrize("target", TARGETS)
def test_cells_that_write_the_same(target):
    """Do not disturb each other."""
    check(every_cell, [X], X * 2, target)


def centred(x: torch.Tensor) -> torch.Tensor:
    """Every block of rows less its own mean: the size of the blocks shows."""
    out = torch.empty_like(x)
    for rows in hl.tile(x.size(0)):
        out[rows, :] = x[rows, :] - x[rows, :].mean(0)[None, :]
    return out


def doubled_where_marked(x: torch.Tensor, marks: torch.Tensor) -> torch.Tensor:
    """A branch on what a block holds."""
    out = torch.empty_like(x)
    for tile in hl.tile(x.size(0)):
        if (marks[tile] != 0).sum():
            out[tile] = x[tile] * 2
        else:
            out[tile] = x[tile]
    return out


@pytest.mark.parametrize("target", ["reference", "pallas:interpret", "triton:interpret"])
def test_sizes_that_show_are_kept(target: str) -> None:
    """A TPU wants blocks of 8 rows or 128 lanes, but those would give something else."""
    x = torch.randn(12, 140, generator=torch.Generator().manual_seed(0))
    found = kopt.kernel(centred, target=target, config={"block_sizes": [4]})(x)
    torch.testing.assert_close(found, torch.cat([part - part.mean(0) for part in x.split(4)]))
    x, marks = torch.arange(8.0), torch.tensor([0, 1, 0, 0, 1, 0, 0, 1], dtype=torch.int32)
    found = kopt.kernel(doubled_where_marked, target=target, config={"block_sizes": [1]})(x, marks)
    torch.testing.assert_close(found, torch.where(marks != 0, x * 2, x))


def lane_by_lane(x, y, offsets):
    """For each pair of blocks of an item's rows the sum of their product: two loops of one size, and ragged items."""
    out = torch.empty([offsets.size(0) - 1, x.size(1)])
    for item in hl.grid(offsets.size(0) - 1):
        begin, end = offsets[item], offsets[item + 1]
        acc = hl.zeros([x.size(1)])
        for i in hl.tile(begin, end):
            for j in hl.tile(begin, end):
                acc = acc + (x[i, :] * y[j, :]).sum(0)
        out[item, :] = acc
    return out


@pytest.mark.parametrize("target", ["reference", "pallas:interpret", "triton:interpret"])
def test_blocks_of_one_given_size_go_together(target):
    x, y, offsets = torch.randn(30, 5), torch.randn(30, 5), torch.tensor([0, 11, 11, 30], dtype=torch.int32)
    wanted = torch.zeros(3, 5)
    for item, (begin, end) in enumerate(zip(offsets.tolist(), offsets.tolist()[1:], strict=False)):
        blocks = range(begin, end, 8)
        for i, j in itertools.product(blocks, blocks):
            count = min(end - i, end - j, 8)
            wanted[item] += (x[i : i + count] * y[j : j + count]).sum(0)
    check(lane_by_lane, (x, y, offsets), wanted, target, block_sizes=[8, 8])
