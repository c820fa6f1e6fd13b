"""Rows picked one by one, from flat storage by numbers of elements and from large arrays; masks of what was picked."""

import pytest
import torch

import kopt
import kopt.language as hl

WIDTH = 160


@kopt.kernel
def paged(q, pages, table, factor: hl.constexpr):
    """Scaled products with rows of a paged cache: each row number is a page's, and one in the page."""
    heads, width = q.size()
    size = hl.specialize(pages.size(1))
    width = hl.specialize(width)
    flat, rows = pages.view(-1), table.size(0) * size
    out = torch.empty([heads, rows])
    for head, row in hl.tile([heads, rows]):
        page = table[row.index // size]
        first = (page * size + row.index % size) * width
        total = hl.zeros([head, row])
        for lane in hl.tile(width, block_size=128):
            keys = hl.load(flat, [first[:, None] + lane.index[None, :]]) * factor
            total = hl.dot(q[head, lane], keys.T, acc=total)
        out[head, row] = total
    return out


@kopt.kernel
def heads_of(x, request, weights):
    """Products with the rows of several dimensions of one request, by numbers of elements."""
    _, tokens, heads, width = x.size()
    tokens, heads, width = hl.specialize(tokens), hl.specialize(heads), hl.specialize(width)
    flat = x.view(-1)
    out = torch.empty([tokens * heads, weights.size(1)])
    for column in hl.tile(weights.size(1), block_size=128):
        token = request[0] * tokens + hl.arange(tokens)[:, None, None]
        first = (token * heads + hl.arange(heads)[None, :, None]) * width
        total = hl.zeros([tokens * heads, column])
        for lane in hl.tile(width, block_size=128):
            rows = (hl.load(flat, [first + lane.index[None, None, :]]) * 0.5).view(tokens * heads, lane.block_size)
            total = hl.dot(rows, weights[lane, column], acc=total)
        out[:, column] = total
    return out


@kopt.kernel
def elements(x, at, weights):
    """Products with scaled elements, each picked by a number of its own."""
    out = torch.empty([at.size(0), weights.size(1)])
    for row, column in hl.tile([at.size(0), weights.size(1)]):
        total = hl.zeros([row, column])
        for lane in hl.tile(at.size(1), block_size=128):
            total = hl.dot(x[at[row, lane]] * 0.5, weights[lane, column], acc=total)
        out[row, column] = total
    return out


def _paged(target, dtype, factor):
    q, pages = torch.randn(8, WIDTH).to(dtype), torch.randn(6, 4, WIDTH).to(dtype)
    table = torch.tensor([5, 0, 2, 2], dtype=torch.int32)
    keys = (pages[table.long()].reshape(-1, WIDTH) * factor).float()
    torch.testing.assert_close(paged.on(target)(q, pages, table, factor), q.float() @ keys.T, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("target", ["pallas:interpret", "triton:interpret"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_rows_of_pages(target, dtype):
    _paged(target, dtype, 0.5)


@pytest.mark.slow
def test_rows_of_pages_as_a_chip_fetches_them():
    _paged("pallas:strict", torch.bfloat16, 0.5)


@pytest.mark.parametrize("target", ["pallas:interpret", "triton:interpret"])
def test_rows_of_several_dimensions(target):
    x, weights = torch.randn(3, 2, 4, WIDTH), torch.randn(WIDTH, 130)
    found = heads_of.on(target)(x, torch.tensor([1], dtype=torch.int32), weights)
    torch.testing.assert_close(found, x[1].reshape(8, WIDTH) * 0.5 @ weights, rtol=1e-4, atol=1e-3)


def test_rows_are_fetched_whole():
    """One DMA a row, not one an element."""
    for arguments, rows in (
        (("bf16[64,576]", "bf16[1146,64,576]", "i32[802]"), "row_2, :, :"),  # eight rows of a tile of memory
        (("f32[64,576]", "f32[1146,64,576]", "i32[802]"), "pl.ds(row_2, 1), :"),
    ):
        source = paged.lower(*arguments, 0.5, target="pallas:tpu7x").source
        assert f"pages_ref.at[{rows}],\n" in source


@kopt.kernel
def last_rows(x, ends):
    """The last row of each item of a large array, a block of its lanes a cell."""
    out = torch.empty([ends.size(0), x.size(1)])
    for item, lane in hl.tile([ends.size(0), x.size(1)], block_size=[1, 128]):
        out[item.begin, lane] = x[ends[item.begin] - 1, lane.index]
    return out


def test_single_rows_of_large_arrays_in_blocks_of_lanes():
    x, ends = torch.randn(66000, 130), torch.tensor([66000, 1, 700])
    assert torch.equal(last_rows.on("pallas:interpret")(x, ends), x[ends - 1])


CALLS = [
    (last_rows, ("f32[131072,256]", "i32[8]")),
    (last_rows, ("bf16[131072,320]", "i32[8]")),
    (paged, ("bf16[64,576]", "bf16[1146,64,576]", "i32[8]", 0.5)),
    (heads_of, ("bf16[4,4,16,576]", "i32[1]", "bf16[576,128]")),
    (elements, ("bf16[5000]", "i32[16,160]", "bf16[160,128]")),
]


@pytest.mark.slow
@pytest.mark.parametrize(("kernel", "arguments"), CALLS, ids=[f"{kernel.__name__}-{call[0]}" for kernel, call in CALLS])
def test_masked_picks_compile(kernel, arguments):
    report = kernel.lower(*arguments, target="pallas:tpu7x").report(estimates=False)
    assert report["legal"], report["reason"]
