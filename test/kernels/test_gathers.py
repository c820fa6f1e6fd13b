"""Reads and writes at computed places that are blocks, single elements, or rows of which some stay."""

import pytest
import torch

import kopt
import kopt.language as hl

TARGETS = ["pallas:interpret", "triton:interpret"]


@kopt.kernel
def before(x, distance):
    """Each element ``distance`` places before, 0 where there is none: lanes counted from what may be negative."""
    rows, n = x.size()
    out = torch.empty_like(x)
    for row in hl.grid(rows):
        for tile in hl.tile(n):
            places = tile.begin - distance + hl.arange(tile.block_size)
            out[row, tile] = hl.load(x, [row, places], extra_mask=(places >= 0) & (places < n))
    return out


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("distance", [0, 3, 128])
def test_lanes_counted_from_before_the_array(target, distance):
    x = torch.randn(3, 300)
    wanted = torch.nn.functional.pad(x, (distance, 0))[:, :300]
    kernel = kopt.kernel(before, config={"block_sizes": [128]})
    torch.testing.assert_close(kernel.on(target)(x, distance), wanted)


@kopt.kernel
def since_last(x, chunk):
    """What each element is more than the last of its chunk: blocks and single elements of one array."""
    length, heads = x.size()
    chunk = hl.specialize(chunk)
    out = torch.empty_like(x)
    for h in hl.grid(heads):
        for tile in hl.tile(length, block_size=chunk):
            last = x[min(tile.begin + chunk, length) - 1, h]
            out[tile, h] = (x[tile, h].to(torch.float32) - last).to(x.dtype)
    return out


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("dtype", "length"), [(torch.bfloat16, 70), (torch.float32, 70), (torch.float32, 50000)])
def test_single_elements_of_what_a_loop_reads_by_blocks(target, dtype, length):
    x = torch.randint(-50, 50, (length, 3)).to(dtype)
    chunk = 16 if length < 100 else 10000
    lasts = [min(begin + chunk, length) - 1 for begin in range(0, length, chunk) for _ in range(chunk)]
    torch.testing.assert_close(since_last.on(target)(x, chunk), x - x[lasts[:length]])


@kopt.kernel
def some_rows(x, rows, new, count):
    """The first ``count`` of ``rows`` are written; the others name row 0, which keeps what was written."""
    places = torch.arange(rows.size(0), dtype=torch.int32)
    for tile in hl.tile(rows.size(0)):
        counts = places[tile] < count
        row = torch.where(counts, rows[tile], 0)
        x[row, :] = torch.where(counts[:, None], new[tile, :], x[row, :])
    return x


@pytest.mark.parametrize("target", [*TARGETS, "eager"])
def test_rows_that_are_put_back(target):
    x, new = torch.zeros(9, 130), torch.randn(8, 130)
    rows = torch.tensor([3, 0, 7, 8, 1, 1, 1, 1])
    wanted = x.clone()
    wanted[rows[:4]] = new[:4]
    kernel = kopt.kernel(some_rows, config={"block_sizes": [8]})
    torch.testing.assert_close(kernel.on(target)(x, rows, new, 4), wanted)


@kopt.kernel
def other_rows(x, rows, new, count):
    """The same with the opposite condition, and numbers of another type than the array's."""
    for tile in hl.tile(rows.size(0)):
        beyond = tile.index >= count
        row = torch.where(beyond, 0, rows[tile])
        x[row, :] = torch.where(beyond[:, None], x[row, :], new[tile, :])
    return x


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("target", [*TARGETS, "reference", "eager"])
def test_rows_that_are_put_back_otherwise(target, dtype):
    x, new = torch.zeros(9, 130, dtype=dtype), torch.randn(8, 130)
    rows = torch.tensor([3, 0, 7, 8, 1, 1, 1, 1])
    wanted = x.clone()
    wanted[rows[:4]] = new[:4].to(dtype)
    kernel = kopt.kernel(other_rows, config={"block_sizes": [8]})
    torch.testing.assert_close(kernel.on(target)(x, rows, new, 4), wanted)


@kopt.kernel
def chosen(x, columns):
    """One element of each row, by its number in the array."""
    out = torch.empty_like(columns, dtype=x.dtype)
    for tile in hl.tile(x.size(0)):
        out[tile] = hl.load(x.view(-1), [tile.index * x.size(1) + columns[tile]])
    return out


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int8])
def test_numbers_of_64_bits_in_packed_arrays(dtype):
    """The row is found among those that are packed with it, by the bits of its number."""
    x, columns = torch.randn(40, 150).to(dtype), torch.randint(150, (40,))
    got = chosen.on("pallas:interpret")(x, columns)
    torch.testing.assert_close(got, x.gather(1, columns[:, None])[:, 0])


@kopt.kernel
def window(x, start, rows, columns):
    """A block of a matrix from a loaded row and a computed column on, both counted; 0 outside of the matrix."""
    height, width = x.size()
    out = torch.empty([2, rows, columns], dtype=x.dtype)
    for n in hl.grid(2):
        row = start[n] + hl.arange(rows)
        column = n * columns - 3 + hl.arange(columns)
        inside = ((row >= 0) & (row < height))[:, None] & ((column >= 0) & (column < width))[None, :]
        out[n, :, :] = hl.load(x, [row, column], extra_mask=inside)
    return out


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int8])
def test_windows_from_anywhere(dtype):
    """Are blocks cut out of larger ones: no element is looked for by itself."""
    x, start = (torch.randn(50, 200) * 9).to(dtype), torch.tensor([5, 41], dtype=torch.int32)
    padded = torch.nn.functional.pad(x, (3, 300, 0, 50))
    wanted = torch.stack([padded[first : first + 16, n * 128 : n * 128 + 128] for n, first in enumerate(start)])
    low = window.lower(x, start, 16, 128, target="pallas:interpret")
    assert "make_async_copy" not in low.source and "_take_along(" not in low.source
    for target in TARGETS:
        torch.testing.assert_close(window.on(target)(x, start, 16, 128), wanted)


@kopt.kernel
def anchored(x, chunk):
    """Each element less the first of its rows' block, and less the last row: rows by number of what is read whole."""
    batch, rows, n = x.size()
    out = torch.empty_like(x)
    for b in hl.tile(batch, block_size=1):
        last = x[b, :, :].to(torch.float32)[:, rows - 1, :]
        for row in hl.tile(rows, block_size=chunk):
            first = x[b, row.begin, :].to(torch.float32)
            out[b, row, :] = (x[b, row, :].to(torch.float32) - first[:, None, :] - last[:, None, :]).to(x.dtype)
    return out


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_first_rows_of_blocks_of_what_is_read_whole(target, dtype):
    x = torch.randint(-9, 9, (3, 64, 48)).to(dtype)
    wanted = x - x[:, ::16].repeat_interleave(16, 1) - x[:, -1:]
    torch.testing.assert_close(anchored.on(target)(x, hl.constexpr(16)), wanted)


@kopt.kernel
def rotated_in_place(x, turn, interleaved, limit):
    """Pairs of elements turned in place, after the rows up to a limit are doubled: lane numbers of what is written."""
    tokens, rows, n = x.size()
    half = n // 2
    for t, row, column in hl.tile([tokens, rows, n], block_size=[1, None, n]):
        block = x[t, row, column]
        x[t, row, column] = torch.where((row.index < limit)[None, :, None], block * 2, block)
        first = hl.arange(half) * 2 if interleaved else hl.arange(half)
        second = first + (1 if interleaved else half)
        a, b, c = x[t, row, first], x[t, row, second], turn[t, hl.arange(half) + half]
        x[t, row, first] = a - b * c[:, None, :]
        x[t, row, second] = b + a * c[:, None, :]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("interleaved", [False, True])
def test_halves_of_rows_that_the_same_loop_writes(target, interleaved):
    x, turn = torch.randint(-5, 5, (5, 6, 32)).float(), torch.randint(-5, 5, (5, 32)).float()
    y = x * torch.tensor([2.0, 2, 2, 2, 1, 1])[:, None]
    a, b = (y[..., ::2], y[..., 1::2]) if interleaved else y.chunk(2, -1)
    pairs = [a - b * turn[:, None, 16:], b + a * turn[:, None, 16:]]
    wanted = torch.stack(pairs, -1).flatten(-2) if interleaved else torch.cat(pairs, -1)
    rotated_in_place.on(target)(x, turn, interleaved, 4)
    torch.testing.assert_close(x, wanted)


@kopt.kernel
def chosen_rows(flags, a, b, limit):
    """One row below a limit, another from it on: a mask over rows of what repeats one row."""
    out = torch.empty([flags.size(0), a.size(0)], dtype=a.dtype)
    for row, column in hl.tile(out.size()):
        out[row, column] = torch.where((row.index < limit)[:, None], a[None, column], b[None, column])
    return out


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["bf16", "i8"])
def test_rows_chosen_by_mask_compile(dtype):
    report = chosen_rows.lower("f32[64]", f"{dtype}[128]", f"{dtype}[128]", 10, target="pallas:tpu7x").report(
        estimates=False
    )
    assert report["legal"], report["reason"]


@kopt.kernel
def row_product(x, w):
    out = torch.empty([x.size(0), w.size(1)], dtype=x.dtype)
    for m, n in hl.tile(out.size(), block_size=[x.size(0), 512]):
        acc = hl.zeros([m, n], dtype=torch.float32)
        for k in hl.tile(x.size(1), block_size=512):
            acc = hl.dot(x[m, k], w[k, n], acc=acc)
        out[m, n] = acc.to(x.dtype)
    return out


@pytest.mark.slow
@pytest.mark.parametrize(("dtype", "rows"), [("bf16", 1), ("i8", 1), ("bf16", 2), ("bf16", 5)])
def test_few_rows_cut_by_a_block_compile(dtype, rows):
    """The mask of the last block has as few rows."""
    args = (f"{dtype}[{rows},900]", f"{dtype}[900,512]")
    report = row_product.lower(*args, target="pallas:tpu7x").report(estimates=False)
    assert report["legal"], report["reason"]


@kopt.kernel
def gated(x, g):
    """Rows by the numbers of a matrix whose rows are padded in scalar memory."""
    out = torch.empty_like(x)
    for i, j in hl.tile([x.size(0), x.size(1)], block_size=[1, 1]):
        out[i.begin, j.begin, :] = x[i.begin, j.begin, :] * g[i.begin, j.begin]
    return out


@pytest.mark.slow
def test_numbers_that_scalar_memory_pads_beyond_its_size_compile():
    report = gated.lower("f32[2048,4,128]", "f32[2048,4]", target="pallas:tpu7x").report(estimates=False)
    assert report["legal"], report["reason"]


@kopt.kernel
def noise(x, seed):
    out = torch.empty_like(x)
    for tile in hl.tile(x.size(0)):
        out[tile] = hl.rand([tile], seed=seed[0])
    return out


@pytest.mark.parametrize("seed", [3, -5])
def test_a_wide_seed_from_an_array(seed):
    """The high word of a seed that fits 32 bits is its sign."""
    x, seed = torch.zeros(100), torch.tensor([seed])
    assert torch.equal(noise.on("pallas:interpret")(x, seed), noise.on("reference")(x, seed))


@kopt.kernel
def losses(x, labels):
    """One lane picked by a number that is a row of one."""
    out = torch.empty([x.size(0)], dtype=x.dtype)
    for row in hl.grid(x.size(0)):
        label = labels[row].unsqueeze(0)
        out[row] = (x[row, :].sum() - x[row, label]).squeeze(0)
    return out


@pytest.mark.slow
def test_one_lane_by_a_scalar_compiles():
    report = losses.lower("f32[66,100]", "i64[66]", target="triton:sm90").report(estimates=False)
    assert report["legal"], report["reason"]


@kopt.kernel
def sparse_product(columns, values, x):
    """A sparse matrix, as the columns and values of each row, times a matrix: rows picked by a block of two."""
    rows, n = columns.size(0), x.size(1)
    out = torch.empty([rows, n], dtype=x.dtype)
    for row, lane in hl.tile([rows, n]):
        total = hl.zeros([row, lane])
        for entry in hl.tile(columns.size(1)):
            picked = x[columns[row, entry][:, :, None], lane.index[None, None, :]]
            total += (values[row, entry][:, :, None] * picked).sum(1)
        out[row, lane] = total
    return out


@kopt.kernel
def flat_sparse_product(columns, values, x):
    """The same by element numbers of the flattened matrix."""
    rows, n = columns.size(0), x.size(1)
    out = torch.empty([rows, n], dtype=x.dtype)
    flat = x.view(-1)
    for row, lane in hl.tile([rows, n]):
        total = hl.zeros([row, lane])
        for entry in hl.tile(columns.size(1)):
            at = (columns[row, entry] * n)[:, :, None] + lane.index[None, None, :]
            total += (values[row, entry][:, :, None] * hl.load(flat, [at])).sum(1)
        out[row, lane] = total
    return out


@pytest.mark.parametrize("kernel", [sparse_product, flat_sparse_product])
def test_rows_picked_by_a_block_come_whole(kernel):
    columns, values, x = torch.randint(0, 30, (9, 5)), torch.rand(9, 5), torch.rand(30, 20)
    wanted = (values[..., None] * x[columns]).sum(1)
    for target in TARGETS:
        torch.testing.assert_close(kernel.on(target)(columns, values, x), wanted)
    source = kernel.on("pallas:tpu7x").lower(columns, values, torch.rand(3000, 200)).source
    assert "x_rows_ref.at" in source and "_take_along" not in source


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [sparse_product, flat_sparse_product])
def test_rows_picked_by_a_block_on_a_chip(kernel):
    args = torch.randint(0, 30, (9, 5)), torch.rand(9, 5), torch.rand(30, 20)
    assert kernel.on("pallas:tpu7x").lower(*args).report(estimates=False)["legal"]


@kopt.kernel
def appended(cache, new, at, weights):
    """A row is written at a loaded number, then all rows are read block by block in the same cell."""
    heads, rows, n = cache.size()
    out = torch.empty([heads, n], dtype=torch.float32)
    for _ in hl.grid(1):
        cache[:, at[0], :] = new[:, :]
        total = hl.zeros([heads, n], dtype=torch.float32)
        for row in hl.tile(rows):
            total = total + (cache[:, row, :].to(torch.float32) * weights[row][None, :, None]).sum(1)
        out[:, :] = total
    return out


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_row_put_among_blocks(target, dtype):
    cache, new = torch.randint(-9, 9, (2, 40, 32)).to(dtype), torch.randint(-9, 9, (2, 32)).to(dtype)
    weights, at = torch.randint(-3, 3, (40,)).float(), torch.tensor([21], dtype=torch.int32)
    wanted = cache.clone()
    wanted[:, 21] = new
    kernel = kopt.kernel(appended, config={"block_sizes": [16]})
    out = kernel.on(target)(cache, new, at, weights)
    torch.testing.assert_close(cache, wanted)
    torch.testing.assert_close(out, (wanted.float() * weights[:, None]).sum(1))


@kopt.kernel
def looked_up(table, at):
    """One row of a table that no VMEM holds."""
    out = torch.empty([1, table.size(1)], dtype=table.dtype)
    for _ in hl.grid(1):
        out[0, :] = table[at[0], :] * 2
    return out


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_row_of_a_table_beyond_vmem(dtype):
    table, at = torch.zeros(70_001, 128, dtype=dtype), torch.tensor([70_000], dtype=torch.int32)
    table[70_000] = torch.randn(128)
    torch.testing.assert_close(looked_up.on("pallas:interpret")(table, at), table[-1:] * 2)


@pytest.mark.slow
def test_a_row_of_a_table_beyond_vmem_compiles():
    report = looked_up.lower("bf16[262208,3840]", "i32[1]", target="pallas:tpu7x").report(estimates=False)
    assert report["legal"], report["reason"]


@kopt.kernel
def doubled_rows(table, at):
    """Blocks of rows of a table that no VMEM holds."""
    out = torch.empty([at.size(0), table.size(1)], dtype=table.dtype)
    for i, j in hl.tile(out.size()):
        out[i, j] = table[at[i], j] * 2
    return out


#: Lanes of a row and of a block, and whether the block is cut out of the row on the chip: it divides no row.
BLOCKS = [(200, 256, False), (200, 128, True), (384, 256, True), (256, 128, False)]


@pytest.mark.parametrize(("columns", "block", "is_cut"), BLOCKS)
def test_blocks_of_rows_of_a_table_beyond_vmem(columns, block, is_cut):
    table, at = torch.randn(70_000, columns), torch.randint(0, 70_000, (20,), dtype=torch.int32)
    kernel = kopt.kernel(doubled_rows, config={"block_sizes": [16, block], "accesses": {"table": "rows"}})
    low = kernel.on("pallas:interpret").lower(table, at)
    assert "table_rows_ref.at" in low.source
    assert ("_lanes_from(" in low.source) == is_cut
    torch.testing.assert_close(kernel.on("pallas:interpret")(table, at), table[at.long()] * 2)


@pytest.mark.slow
@pytest.mark.parametrize(("columns", "block", "is_cut"), BLOCKS)
@pytest.mark.parametrize("dtype", ["f32", "bf16", "i8"])
def test_blocks_of_rows_compile(columns, block, is_cut, dtype):
    kernel = kopt.kernel(doubled_rows, config={"block_sizes": [16, block], "accesses": {"table": "rows"}})
    low = kernel.on("pallas:tpu7x").lower(f"{dtype}[70000,{columns}]", "i32[20]")
    report = low.report(estimates=False)
    assert report["legal"], report["reason"]
    assert is_cut == ("_lanes_from(" in low.source)


@kopt.kernel
def every_second(x, out):
    for i in hl.grid(out.size(0)):
        out[i] = x[::2][i]
    return out


@pytest.mark.parametrize("target", ["reference", *TARGETS])
def test_a_number_of_the_device_picks_from_a_loaded_block(target):
    x = torch.randn(12)
    torch.testing.assert_close(every_second.on(target)(x, torch.zeros(6)), x[::2])


@kopt.kernel
def product_of_columns(a, b):
    """``b.T @ a.T`` from blocks whose indices are the other way round."""
    m, k = a.size()
    n = b.size(1)
    out = torch.empty([n, m], dtype=torch.float32)
    for i, j in hl.tile([m, n]):
        acc = hl.zeros([j, i], dtype=torch.float32)
        for t in hl.tile(k):
            left = hl.load(b, [t.index[None, :], j.index[:, None]])
            right = hl.load(a, [i.index[None, :], t.index[:, None]])
            acc = hl.dot(left, right, acc=acc)
        out[j, i] = acc
    return out


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float8_e4m3fn])
def test_blocks_of_indices_the_other_way_round(target, dtype):
    a, b = torch.randn(20, 70).to(dtype), torch.randn(70, 40).to(dtype)
    torch.testing.assert_close(product_of_columns.on(target)(a, b), b.float().T @ a.float().T, rtol=1e-4, atol=1e-4)


def test_blocks_of_indices_the_other_way_round_are_no_gathers():
    low = product_of_columns.lower("f32[64,2048]", "f32[2048,4096]", target="pallas:tpu7x")
    assert "make_async_copy" not in low.source and ".T" in low.source


@kopt.kernel
def same_place(x, row, weights):
    """One row for all lanes of a block: summed, picked from behind a mask, stored, and added to."""
    n, columns = weights.size()
    out, sums, last = torch.empty_like(weights), torch.empty([n // 8, columns]), torch.zeros([4])
    for tile in hl.tile(n, block_size=8):
        rows = hl.full([tile], 3, dtype=torch.int32)
        sums[tile.id, :] = x[rows, :].sum(0) + x[rows, 1].sum(0) + x[rows + row, :].amax(0)
        out[tile, :] = hl.load(x, [rows, slice(None)], extra_mask=weights[tile, :] > 0) * weights[tile, :]
        out[tile, 0] = hl.load(x, [rows, 2], extra_mask=weights[tile, 0] > 0)
        last[hl.full([tile], 2, dtype=torch.int32)] = weights[tile, 1] * 0 + 5
        hl.store(last, [hl.full([tile], 1, dtype=torch.int32)], 7.0, extra_mask=tile.index % 2 == 0)
    return out, sums, last


@pytest.mark.parametrize("target", [*TARGETS, "reference"])
def test_a_place_that_is_the_same_in_all_lanes(target):
    x, weights = torch.randn(50, 4), torch.randn(32, 4)
    out, sums, last = same_place.on(target)(x, 5, weights)
    wanted = torch.where(weights > 0, x[3] * weights, 0)
    wanted[:, 0] = torch.where(weights[:, 0] > 0, x[3, 2], 0)
    torch.testing.assert_close(out, wanted)
    torch.testing.assert_close(sums, (x[3] * 8 + x[3, 1] * 8 + x[8]).expand(4, 4))
    assert last.tolist() == [0, 7, 5, 0]


def kept_by_method(x, rows, m, z):
    """``Tensor.where`` has its condition second."""
    for t in hl.tile(rows.size(0), block_size=4):
        at = rows[t]
        old = x[at]
        x[at] = old.where(m[t] > 0, z[t])
    return x


@pytest.mark.parametrize("target", ["eager", "reference", "triton:interpret", "pallas:interpret"])
def test_lanes_that_a_method_puts_back_are_not_stored(target: str) -> None:
    rows, m = torch.tensor([1, 1, 2, 3]), torch.tensor([0, 1, 1, 0])
    found = kopt.kernel(kept_by_method).on(target)(torch.arange(4.0), rows, m, torch.tensor([10.0, 20.0, 30.0, 40.0]))
    assert found.tolist() == [0, 10, 2, 40]
