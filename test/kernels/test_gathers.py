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


@pytest.mark.parametrize("target", TARGETS)
def test_rows_that_are_put_back(target):
    x, new = torch.zeros(9, 130), torch.randn(8, 130)
    rows = torch.tensor([3, 0, 7, 8, 1, 1, 1, 1])
    wanted = x.clone()
    wanted[rows[:4]] = new[:4]
    torch.testing.assert_close(some_rows.on(target)(x, rows, new, 4), wanted)


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
    assert "_gather(" not in low.source and "_take_along(" not in low.source
    for target in TARGETS:
        torch.testing.assert_close(window.on(target)(x, start, 16, 128), wanted)
