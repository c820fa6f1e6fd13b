"""Blocks that begin at numbers known at run time only: stored into what is there, of every element type."""

import pytest
import torch

import kopt
import kopt.language as hl

TARGETS = ["pallas:interpret", "triton:interpret"]
DTYPES = [torch.float32, torch.bfloat16, torch.float16, torch.int8, torch.bool]


def _numbers(dtype, *shape):
    return torch.rand(shape) > 0.5 if dtype == torch.bool else (torch.randn(shape) * 4).to(dtype)


def _places(*numbers):
    return torch.tensor(numbers, dtype=torch.int32)


@kopt.kernel
def put(values, at, rows, columns):
    """A matrix at a row and a column."""
    n, m = values.shape
    out = torch.ones([rows, columns], dtype=values.dtype)
    for _ in hl.grid(1):
        out[at[0] + hl.arange(n), at[1] + hl.arange(m)] = values[:, :]
    return out


def _put(values, at, rows, columns):
    out = torch.ones(rows, columns, dtype=values.dtype)
    row, column = at.tolist()
    out[row : row + values.shape[0], column : column + values.shape[1]] = values
    return out


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_matrix_anywhere(target, dtype):
    args = _numbers(dtype, 10, 100), _places(5, 77), 30, 300
    torch.testing.assert_close(put.on(target)(*args), _put(*args))


@pytest.mark.parametrize("shape", [(1, 1), (7, 9)])
def test_a_matrix_at_the_end_of_an_array(shape):
    args = _numbers(torch.float32, *shape), _places(100 - shape[0], 200 - shape[1]), 100, 200
    torch.testing.assert_close(put.on("pallas:interpret")(*args), _put(*args))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.bool])
def test_a_matrix_anywhere_on_a_chip(dtype):
    args = _numbers(dtype, 10, 100), _places(5, 77), 30, 300
    torch.testing.assert_close(put.on("pallas:strict")(*args), _put(*args))
    assert put.on("pallas:tpu7x").lower(*args).report(estimates=False)["legal"]


@pytest.mark.slow
def test_a_matrix_anywhere_in_what_is_too_large_for_the_chip():
    args = _numbers(torch.bfloat16, 40, 200), _places(11, 99), 2500, 4500
    lowered = put.on("pallas:tpu7x").lower(*args)
    assert any("'out' stays in HBM" in str(remark) for remark in lowered.remarks)
    assert lowered.report(estimates=False)["legal"]
    torch.testing.assert_close(put.on("pallas:strict")(*args), _put(*args))


@kopt.kernel
def segments(x, offsets, most: hl.constexpr):
    """Rows of segments, in blocks that begin before them: masks say which are the segment's."""
    out = torch.zeros_like(x)
    for segment in hl.grid(offsets.size(0) - 1):
        first, end = offsets[segment], offsets[segment + 1]
        for tile in hl.tile(x.size(1)):
            rows = first - 3 + hl.arange(most)
            own = (rows >= first) & (rows < end)
            values = hl.load(x, [rows, tile], extra_mask=own[:, None])
            hl.store(out, [rows, tile], values + 1, extra_mask=own[:, None])
    return out


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_blocks_that_begin_before_the_array(target, dtype):
    x = _numbers(dtype, 40, 130)
    torch.testing.assert_close(segments.on(target)(x, _places(0, 5, 5, 21, 40), 24), x + 1)


@kopt.kernel
def halves(x, y):
    """The first half of one array and the second of another: two blocks a cell."""
    n, m = x.shape
    out = torch.zeros_like(x)
    for rows, columns in hl.tile([n // 2, m // 2]):
        out[rows, columns] = x[rows, columns]
        out[rows.index + n // 2, columns] = y[rows.index + n // 2, columns]
        out[rows, columns + m // 2] = x[rows, columns + m // 2]
        out[rows.index + n // 2, columns + m // 2] = y[rows.index + n // 2, columns + m // 2]
    return out


@pytest.mark.parametrize("shape", [(128, 128), (30, 50)])
def test_blocks_at_a_distance_from_others(shape):
    x, y = torch.randn(shape), torch.randn(shape)
    wanted = torch.cat([x[: shape[0] // 2], y[shape[0] // 2 :]])
    torch.testing.assert_close(halves.on("pallas:interpret")(x, y), wanted)


@kopt.kernel
def doubled(x, places):
    for number in hl.grid(places.size(0)):
        rows = places[number] + hl.arange(16)
        x[rows, :] = x[rows, :] * 2
    return x


def test_blocks_anywhere_in_place():
    x = torch.randn(100, 20)
    wanted = x.clone()
    for place in (11, 60, 30, 78):
        wanted[place : place + 16] *= 2
    torch.testing.assert_close(doubled.on("pallas:interpret")(x, _places(11, 60, 30, 78)), wanted)


@kopt.kernel
def groups(x, w, offsets):
    """Groups of rows times one matrix, by flat element numbers: the matrix's are the same for all groups."""
    rows, k = x.shape
    n = w.shape[1]
    out = torch.empty([rows, n], dtype=x.dtype)
    flat_x, flat_w, flat_out = x.view(-1), w.view(-1), out.view(-1)
    for group in hl.tile(offsets.size(0) - 1):
        first = offsets[group]
        for row in hl.jagged_tile(offsets[group.index + 1] - first):
            at = first[:, None] + row.index[None, :]
            for column in hl.tile(n):
                total = hl.zeros([group, row, column], dtype=torch.float32)
                for inner in hl.tile(k):
                    a = hl.load(flat_x, [at[:, :, None] * k + inner.index[None, None, :]])
                    places = inner.index[None, :, None] * n + column.index[None, None, :]
                    total = torch.baddbmm(total, a, hl.load(flat_w, [first[:, None, None] * 0 + places]))
                hl.store(flat_out, [at[:, :, None] * n + column.index[None, None, :]], total.to(out.dtype))
    return out


@pytest.mark.parametrize("target", TARGETS)
def test_blocks_of_flat_storage_that_are_repeated(target):
    x, w, offsets = torch.randn(60, 32), torch.randn(32, 40), _places(0, 23, 23, 60)
    torch.testing.assert_close(groups.on(target)(x, w, offsets), x @ w, rtol=1e-3, atol=1e-3)
    if target == "pallas:interpret":
        assert "make_async_copy" not in groups.on(target).lower(x, w, offsets).source


@kopt.kernel
def written_and_read(x, y):
    """What the same visit stored at a moving place."""
    for i in hl.grid(x.size(0) - 1):
        y[i : i + 1] = x[i] + 1
        x[i] = y[i : i + 1]
    return x, y


@pytest.mark.parametrize("target", TARGETS)
def test_a_moving_block_is_read_after_it_was_stored(target):
    x, y = torch.randn(33), torch.zeros(33)
    wanted = torch.cat([x[:-1] + 1, x[-1:]]), torch.cat([x[:-1] + 1, y[-1:]])
    torch.testing.assert_close(written_and_read.on(target)(x, y), wanted)


@kopt.kernel
def histories(x, state, slots, heads: hl.constexpr):
    """Each channel's history in its slot moves on; heads and batch are one dimension of the grid."""
    batch, width = x.size()
    n = width // heads
    out = torch.empty_like(x)
    for cell, tile in hl.tile([batch * heads, n], block_size=[1, 128]):
        b = cell.id // heads
        channel = (cell.id % heads) * n + tile.index
        slot = slots[b]
        value = x[b, channel]
        if slot >= 0:
            out[b, channel] = state[slot, 0, channel]
            state[slot, 0, channel] = state[slot, 1, channel]
            state[slot, 1, channel] = value
        else:
            out[b, channel] = value
    return out


@pytest.mark.parametrize("target", ["pallas:interpret", "triton:interpret"])
def test_blocks_that_one_dimension_comes_back_to(target):
    x, state, slots = torch.randn(3, 256), torch.randn(5, 2, 256), torch.tensor([3, -1, 4], dtype=torch.int32)
    wanted = state.clone()
    wanted[slots[::2], 0], wanted[slots[::2], 1] = state[slots[::2], 1], x[::2]
    out = histories.on(target)(x, got := state.clone(), slots, 2)
    torch.testing.assert_close(got, wanted)
    torch.testing.assert_close(out, torch.stack([state[3, 0], x[1], state[4, 0]]))


@kopt.kernel
def side_by_side(x, y):
    """Two matrices side by side: the second begins in the middle of a block."""
    rows, n = x.shape
    out = torch.empty([rows, 2 * n], dtype=x.dtype)
    for i, j in hl.tile([rows, n]):
        out[i, j] = x[i, j]
        out[i, j.index + n] = y[i, j]
    return out


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("shape", [(3, 72), (20, 200)])
def test_matrices_side_by_side(target, dtype, shape):
    x, y = _numbers(dtype, *shape), _numbers(dtype, *shape)
    torch.testing.assert_close(side_by_side.on(target)(x, y), torch.cat((x, y), 1))


@pytest.mark.slow
def test_matrices_side_by_side_on_a_chip():
    x, y = _numbers(torch.float32, 20, 200), _numbers(torch.float32, 20, 200)
    torch.testing.assert_close(side_by_side.on("pallas:strict")(x, y), torch.cat((x, y), 1))
    assert side_by_side.on("pallas:tpu7x").lower(x, y).report(estimates=False)["legal"]


@kopt.kernel
def in_parts(x, out, size: hl.constexpr, parts: hl.constexpr):
    """Rows in parts of which the last ones lie beyond what is written."""
    for part in hl.grid(parts):
        rows = part * size + hl.arange(size)
        for tile in hl.tile(out.size(1)):
            hl.store(out, [rows, tile], x[rows, tile] * 2, extra_mask=(rows < out.size(0))[:, None])


@pytest.mark.parametrize("target", [*TARGETS, pytest.param("pallas:strict", marks=pytest.mark.slow)])
def test_parts_beyond_the_array(target):
    x, out = torch.randn(192, 128), torch.zeros(100, 128)
    in_parts.on(target)(x, out, 32, 6)
    assert torch.equal(out, x[:100] * 2)


@kopt.kernel
def quantised(x, scale, rows: hl.constexpr, columns: hl.constexpr):
    """Groups of rows and columns, each divided by its own number, as 8-bit floats."""
    out = torch.empty_like(x, dtype=torch.float8_e4m3fn)
    sizes = [scale.size(0), scale.size(1), rows, columns]
    for group_row, group_column, row, column in hl.tile(sizes, block_size=[2, 2, 4, 16]):
        i = (group_row.index[:, None] * rows + row.index[None, :])[:, None, :, None]
        j = (group_column.index[:, None] * columns + column.index[None, :])[None, :, None, :]
        groups = (group_row.index < scale.size(0))[:, None] & (group_column.index < scale.size(1))[None, :]
        inside = (row.index < rows)[:, None] & (column.index < columns)[None, :]
        mask = groups[:, :, None, None] & inside[None, None, :, :]
        factor = hl.load(scale, [group_row.index[:, None], group_column.index[None, :]], extra_mask=groups)
        values = hl.load(x, [i, j], extra_mask=mask) / factor[:, :, None, None]
        hl.store(out, [i, j], values.to(out.dtype), extra_mask=mask)
    return out


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("rows", "columns"), [(5, 32), (1, 96)])
def test_groups_of_bytes(target, rows, columns):
    x, scale = torch.randn(10, 96), torch.rand(10 // rows, 96 // columns) + 0.5
    wanted = x / scale.repeat_interleave(rows, 0).repeat_interleave(columns, 1)
    got = quantised.on(target)(x, scale, rows, columns)
    # A quotient next to the middle of two numbers may go to the other one: an eighth, with 3 binary digits, apart.
    torch.testing.assert_close(got.float(), wanted.to(torch.float8_e4m3fn).float(), rtol=0.13, atol=0.01)


@pytest.mark.slow
def test_groups_of_bytes_on_a_chip():
    low = quantised.on("pallas:tpu7x").lower("f32[10,96]", "f32[2,3]", 5, 32)
    assert low.report(estimates=False)["legal"]


@kopt.kernel
def columns_first(x, count, block: hl.constexpr):
    """Columns of a loop inside, whose bound is known when it runs, before the rows of the loop around."""
    rows, n = x.shape
    whole, part = torch.zeros([rows, n], dtype=x.dtype), torch.zeros([n, rows], dtype=x.dtype)
    for i in hl.tile(rows, block_size=8):
        for j in hl.tile(0, i.end, block_size=block):
            whole[i, j] = x[i, j]
        for j in hl.tile(0, count[0], block_size=block):
            part[j, i] = x[i, j].T
    return whole, part


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.uint8])
@pytest.mark.parametrize("block", [1, 2, 8])
def test_columns_before_rows_up_to_a_computed_bound(target, dtype, block):
    x = _numbers(dtype, 6, 6) if dtype == torch.float32 else torch.randint(0, 9, (6, 6)).to(dtype)
    whole, part = columns_first.on(target)(x, torch.tensor([3], dtype=torch.int32), block)
    torch.testing.assert_close(whole, x)
    torch.testing.assert_close(part, torch.where(torch.arange(6)[:, None] < 3, x.T, 0))


@kopt.kernel
def rows_then_column(x, column):
    """What has been stored is kept where a computed column of it is stored again, and nothing is there before."""
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0), block_size=1):
        row = x[i, :]
        out[i, :] = row
        out[i, column[0]] = row.amax(1)
    return out


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_whole_rows_and_then_a_column(target, dtype):
    x = _numbers(dtype, 5, 6)
    wanted = x.clone()
    wanted[:, 3] = x.amax(1)
    torch.testing.assert_close(rows_then_column.on(target)(x, _places(3)), wanted)


@kopt.kernel
def rows_and_columns(x, columns):
    """A row is stored, and then some of its columns: both ways through one array."""
    n, m = x.size()
    out = torch.empty_like(x)
    for row in hl.tile(n, block_size=1):
        out[row, :] = x[row, :]
        out[row, columns[:]] = x[row, :] * 2
    return out


@pytest.mark.parametrize("target", ["reference", "eager", *TARGETS])
@pytest.mark.parametrize("shape", [(4, 4), (6, 4)])
def test_columns_of_what_rows_are_stored_to(target: str, shape: tuple[int, int]) -> None:
    """Right, or refused: as rows that are computed, columns of a square array have the type of its rows."""
    x, columns = torch.randn(shape), torch.tensor([3, 0, 1, 2], dtype=torch.int32)
    if target.startswith("pallas"):
        with pytest.raises(kopt.LoweringError, match="updated by computed rows in one place and accessed by blocks"):
            rows_and_columns.on(target)(x, columns)
        return
    wanted = torch.empty_like(x)
    wanted[:, columns.long()] = x * 2
    torch.testing.assert_close(rows_and_columns.on(target)(x, columns), wanted)


@pytest.mark.parametrize("dtype", [torch.bool, torch.int8, torch.bfloat16])
def test_single_elements_beside_blocks_of_the_same_array(dtype: torch.dtype) -> None:
    """The one and the other keep what is beside them in the same tile: of booleans the bytes."""

    def positive(x, out):
        for i in hl.tile(x.size(0), block_size=2):
            rows = x[i, :]
            for j in hl.tile(i.begin, i.end, block_size=1):
                out[i] = (rows.sum(1) > 0).to(out.dtype)
                out[j] = (rows.sum() > 1).to(out.dtype)[None]

    x = torch.randn(17, 3, generator=torch.Generator().manual_seed(0))
    found, wanted = torch.ones(17, dtype=dtype), torch.ones(17, dtype=dtype)
    kopt.kernel(positive, target="pallas:interpret")(x, found)
    kopt.kernel(positive, target="eager")(x, wanted)
    assert torch.equal(found, wanted) and wanted.any() and not wanted.all()
