"""Default block sizes on a TPU: what is resident while loops run, and how much is drawn at once."""

from __future__ import annotations

from math import prod

import pytest
import torch

import kopt
import kopt.language as hl
from kopt.dialects.tile import CarryingLoop, GridOp, PhiloxOp
from kopt.ir.ranges import binding
from kopt.lowered import Lowered


def matmul(x, y):
    out = torch.empty([x.size(0), y.size(1)], dtype=x.dtype)
    for i, j in hl.tile(out.size()):
        acc = hl.zeros([i, j], dtype=torch.float32)
        for k in hl.tile(x.size(1)):
            acc = torch.addmm(acc, x[i, k], y[k, j])
        out[i, j] = acc
    return out


def noise(x):
    out = torch.empty_like(x)
    for i, j in hl.tile(x.size()):
        out[i, j] = x[i, j] + hl.rand([i, j], seed=3)
    return out


def lower(kernel, *shapes, **config) -> Lowered:
    return kopt.kernel(kernel, config=config).lower(*map(torch.empty, shapes), target="pallas:v5e")


def sizes(low: Lowered) -> list[int]:
    ranges = [op.ranges if isinstance(op, GridOp) else [op.range] for op in low.module.walk() if _binds(op)]
    return [binding(range).size for own in ranges for range in own]


def _binds(op) -> bool:
    return isinstance(op, GridOp | CarryingLoop)


@pytest.mark.parametrize("loop_type", ["auto", "grid", "pipeline", "fori"])
def test_a_loop_that_streams_leaves_room_for_large_blocks(loop_type):
    rows, *others = sizes(lower(matmul, (512, 8192), (8192, 512), loop_type=loop_type))
    assert rows >= 256 and others == [512, 512]


def test_a_resident_loop_leaves_less():
    rows, columns, _ = sizes(lower(matmul, (512, 8192), (8192, 512), loop_type="resident"))
    assert rows * columns < 512 * 512


def test_few_random_numbers_are_drawn_at_once():
    """Compiling 512 x 1024 of them takes minutes."""
    low = lower(noise, (4096, 2560))
    drawn = [op.offset.type for op in low.module.walk() if isinstance(op, PhiloxOp)]
    assert drawn and all(prod(type.shape) <= 8192 for type in drawn)  # pyright: ignore[reportAttributeAccessIssue]


def weight_gradient(grad, x, mean):
    block = hl.register_block_size(x.size(0))
    out = torch.empty_like(x)
    parts = torch.empty([-(-x.size(0) // block), x.size(1)])
    for batch in hl.tile(x.size(0), block_size=block):
        part = hl.zeros([x.size(1)])
        for rows in hl.tile(batch.begin, batch.end):
            centred = x[rows, :] - mean[rows][:, None]
            out[rows, :] = centred * grad[rows, :]
            part += (centred * grad[rows, :]).sum(0)
        parts[batch.id, :] = part
    return out, parts.sum(0)


@pytest.mark.parametrize("columns", [64, 10240])
def test_a_block_that_is_walked_in_blocks_is_no_smaller_than_those(columns):
    """Else a cell would visit rows of other cells, which it may not write."""
    batch, rows = sizes(lower(weight_gradient, (4096, columns), (4096, columns), (4096,)))
    assert batch % rows == 0


def test_what_saves_nothing_stays_large():
    """Wide rows take small blocks; how many of those one cell walks costs no memory."""
    batch, rows = sizes(lower(weight_gradient, (4096, 10240), (4096, 10240), (4096,)))
    assert batch >= 512
    assert rows < 128


def test_blocks_are_no_larger_than_the_array():
    """A tile of memory may be: lanes beyond the array would be moved and computed with in vain."""
    assert sizes(lower(weight_gradient, (4, 10240), (4, 10240), (4,))) == [4, 4]


def doubled(x):
    out = torch.empty_like(x)
    for tile in hl.tile(x.size(0)):
        out[tile] = 2 * x[tile]
    return out


def counted(x):
    out = torch.zeros([16], dtype=torch.int32)
    for tile in hl.tile(x.size(0)):
        hl.atomic_add(out, [x[tile].to(torch.int32)], torch.ones_like(x[tile], dtype=torch.int32))
    return out


def test_lanes_alone_take_long_blocks():
    """A thousand elements are copied in less than a cell costs; not where each lane becomes a row of something."""
    assert sizes(lower(doubled, (10**6,))) == [524288]
    assert sizes(lower(counted, (10**6,))) == [8192]


def largest(x):
    out = torch.empty([x.size(0), 8], dtype=x.dtype)
    for rows in hl.tile(x.size(0)):
        out[rows, :] = torch.topk(x[rows, :], 8, dim=-1)[0]
    return out


def test_few_rows_are_sorted_at_once():
    """Each lane is compared and exchanged dozens of times."""
    (rows,) = sizes(lower(largest, (4096, 64)))
    assert rows * 64 <= 8192


def heads_of_rows(state, x):
    """A product for each row and head: rows and heads are one dimension, of as many lanes as both have."""
    out = torch.empty_like(x)
    heads, width = state.size(1), state.size(2)
    for i in hl.tile(x.size(0)):
        planes = state[i, :, :, :].reshape(i.block_size * heads, width, width)
        product = torch.bmm(x[i, :, :].reshape(i.block_size * heads, 1, width), planes)
        out[i, :, :] = product.reshape(i.block_size, heads, width)
    return out


@pytest.mark.parametrize("target", ["triton:sm90", "pallas:tpu7x"])
def test_blocks_are_small_where_the_kernel_computes_with_their_size(target):
    """What a size makes of other dimensions counts too."""
    low = kopt.kernel(heads_of_rows).lower(torch.empty(512, 8, 128, 128), torch.empty(512, 8, 128), target=target)
    (rows,) = sizes(low)
    assert rows * 8 * 128 * 128 * 4 <= (2**20 * 32 if target == "pallas:tpu7x" else 2**19)


def parts_of_sums(x, parts):
    """The first tile is never an index: its blocks are named by where they begin."""
    out = torch.empty([parts, x.size(0)])
    width = x.size(1) // parts
    for part, rows in hl.tile([parts, x.size(0)]):
        total = hl.zeros([rows])
        for k in hl.tile(width):
            total += x[rows, part.begin * width + k.index].sum(1)
        out[part.begin, rows] = total
    return out


def first_of_each(x):
    out = torch.zeros_like(x)
    for tile in hl.tile(x.size(0)):
        lanes = tile.begin + hl.arange(tile.block_size)
        hl.store(out, [lanes], hl.load(x, [lanes], extra_mask=lanes < x.size(0)), extra_mask=lanes < x.size(0))
    return out


@pytest.mark.parametrize("target", ["reference", "triton:interpret", "pallas:interpret"])
def test_a_block_that_is_only_begun_stands_for_one_element(target):
    x = torch.randn(24, 96)
    low = kopt.kernel(parts_of_sums).lower(x, 3, target=target)
    assert sizes(low)[0] == 1
    torch.testing.assert_close(low.compile()(x, 3), x.view(24, 3, 32).sum(2).T)


def test_but_not_where_its_size_counts_further_elements():
    (size,) = sizes(lower(first_of_each, (4096,)))
    assert size > 1


def picked(values, places):
    """Single elements of a long vector: each comes as a row of 128."""
    out = torch.empty(places.size(), dtype=values.dtype)
    for rows, columns in hl.tile(places.size()):
        out[rows, columns] = values[places[rows, columns]]
    return out


@pytest.mark.parametrize("length", [640_000, 100_000_000])
def test_rows_that_dmas_bring_count_but_not_their_array(length):
    rows, columns = sizes(kopt.kernel(picked).lower(f"f32[{length}]", "i32[256,5000]", target="pallas:tpu7x"))
    assert 2**20 < rows * columns * 512 <= 2**24


def runs(values, starts):
    """Elements that follow one another come together, and how many rows hold them follows from the block."""
    out = torch.empty([8192])
    for k in hl.tile(out.size(0)):
        total = hl.zeros([k])
        for items in hl.tile(starts.size(0)):
            total += values[starts[items][:, None] + k.index[None, :]].sum(0)
        out[k] = total
    return out


def test_rows_that_follow_from_a_block_count_as_they_are_with_it():
    lanes, few = sizes(kopt.kernel(runs).lower("f32[640000]", "i32[4096]", target="pallas:v4"))
    longer, more = sizes(kopt.kernel(runs).lower("f32[640000]", "i32[4096]", target="pallas:v6e"))
    assert few * (lanes + 128) * 4 <= 2**20 and few * lanes < longer * more


def rows_of_table(table, numbers):
    out = torch.empty([numbers.size(0), table.size(1)])
    for tile in hl.tile(numbers.size(0)):
        out[tile, :] = table[numbers[tile], :]
    return out


def test_numbers_that_are_compared_with_all_rows_of_a_table_count():
    (few,) = sizes(kopt.kernel(rows_of_table).lower("f32[8192,8]", "i32[65536]", target="pallas:v5e"))
    (more,) = sizes(kopt.kernel(rows_of_table).lower("f32[1024,8]", "i32[65536]", target="pallas:v5e"))
    assert few * 8192 * 4 <= 2**23 and few < more


def scaled(x, scales):
    """One number of each row scales 32 lanes: blocks of more have no one scale."""
    out = torch.empty_like(x)
    for rows, k in hl.tile(x.size()):
        group = k.begin * 2 // 64
        out[rows, k] = x[rows, k] * scales[rows, group + 1][:, None]
    return out


@pytest.mark.parametrize("target", ["reference", "triton:sm90", "pallas:interpret"])
def test_blocks_hold_no_lanes_of_two_rows_that_they_name(target):
    x, scales = torch.randn(16, 256), torch.randn(16, 9)
    low = kopt.kernel(scaled).lower(x, scales, target=target)
    assert sizes(low)[1] == 32
    if target != "triton:sm90":
        torch.testing.assert_close(low.compile()(x, scales), x * scales[:, 1:].repeat_interleave(32, 1))


def test_nor_do_blocks_that_are_rounded_up():
    assert sizes(lower(scaled, (16, 256), (16, 9), block_sizes=[8, 16]))[1] == 32
    assert sizes(lower(scaled, (16, 256), (16, 9), block_sizes=[8, 128]))[1] == 128


def gated(x, wide, down):
    """All of ``down`` is one tile, which no block makes smaller."""
    out = torch.empty([x.size(0), down.size(1)])
    for rows in hl.tile(x.size(0)):
        total = hl.zeros([rows, wide.size(1)])
        for k in hl.tile(x.size(1)):
            total = torch.addmm(total, x[rows, k], wide[k, :])
        out[rows, :] = torch.matmul(torch.relu(total), down[:, :])
    return out


def summed_by_hand(x):
    """A size that no loop has: ``arange`` counts its lanes."""
    lanes = hl.register_block_size(64)
    out = torch.empty([x.size(0)])
    for row in hl.grid(x.size(0)):
        head = x[row, hl.arange(lanes)].sum()
        out[row] = head + x[row, :].sum()
    return out


def test_a_size_of_no_loop_stays_where_cells_take_too_much():
    low = kopt.kernel(summed_by_hand).lower("f32[4,20000]", target="triton:sm90")
    assert "20000" in low.source


def test_a_tile_of_no_open_block_leaves_others_their_budget():
    rows, k = sizes(kopt.kernel(gated).lower("f32[1024,128]", "f32[128,256]", "f32[256,128]", target="triton:sm90"))
    assert rows * 256 <= 4096 and k * 256 <= 4096
