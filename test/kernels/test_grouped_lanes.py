"""Index tiles of several dimensions whose lanes together number elements that follow one another."""

import pytest
import torch

import kopt
import kopt.language as hl

TARGETS = ["reference", "pallas:interpret", "triton:interpret"]


@kopt.kernel
def largest(x, count: hl.constexpr, size: hl.constexpr):
    """Adds to the first ``count`` groups of each row, in place; gives the largest of each group."""
    rows, n = x.size()
    out = torch.zeros([rows, count], dtype=x.dtype)
    for row in hl.tile(rows, block_size=1):
        places = row.begin + hl.arange(row.block_size)
        for group, lane in hl.tile([count, size], block_size=[None, size]):
            numbers = group.index[:, None] * size + lane.index[None, :]
            values = hl.load(x, [places[:, None, None], numbers[None, :, :]])
            out[row, group] = values.amax(-1)
            hl.store(x, [places[:, None, None], numbers[None, :, :]], values + 1)
    return out


def _largest(x, count, size):
    groups = x[:, : count * size].view(len(x), count, size)
    found = groups.amax(-1)
    groups += 1
    return found


def _agrees(kernel, dtype, rows, n, count, size):
    x = (torch.randn(rows, n) * 4).to(dtype)
    wanted = x.clone()
    found = _largest(wanted, count, size)
    torch.testing.assert_close(kernel(x, count, size), found)
    torch.testing.assert_close(x, wanted)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("dtype", "rows", "n", "count", "size", "block"),
    [
        (torch.float32, 3, 256, 4, 64, 4),
        (torch.bfloat16, 2, 1024, 8, 128, 8),
        (torch.float32, 3, 640, 5, 128, 4),  # the last block reaches beyond the array
        (torch.float32, 3, 1024, 5, 128, 4),  # … and here beyond the groups, into what must stay
        (torch.float32, 2, 40, 5, 8, 2),
        (torch.float32, 2, 21, 7, 3, 4),
        (torch.float32, 2, 5, 5, 1, 4),
        (torch.float32, 0, 64, 4, 16, 4),
    ],
)
def test_groups_of_lanes(target, dtype, rows, n, count, size, block):
    kernel = kopt.kernel(largest, config={"block_sizes": [block]}).on(target)
    _agrees(kernel, dtype, rows, n, count, size)


@pytest.mark.parametrize("target", ["pallas:interpret", "triton:interpret"])
def test_groups_of_lanes_in_default_blocks(target):
    _agrees(largest.on(target), torch.float32, 2, 1024, 8, 128)


@kopt.kernel
def flattened(x, width: hl.constexpr):
    """The sum of each row of a flattened matrix, and of rows that begin at the second group of 8."""
    rows = x.numel() // width
    sums, later = torch.empty([rows]), torch.empty([rows])
    for row in hl.tile(rows):
        lanes = hl.arange(width // 8)[:, None] * 8 + hl.arange(8)[None, :]
        sums[row] = x[row.index[:, None, None] * width + lanes[None, :, :]].sum(-1).sum(-1)
        begins = 8 + hl.arange(width // 8 - 1)[:, None] * 8 + hl.arange(8)[None, :]
        later[row] = x[row.index[:, None, None] * width + begins[None, :, :]].sum(-1).sum(-1)
    return sums, later


@pytest.mark.parametrize("target", TARGETS)
def test_rows_and_groups_of_a_flattened_matrix(target):
    x = torch.randn(5 * 32)
    rows = x.view(5, 32)
    found = kopt.kernel(flattened, config={"block_sizes": [4]}).on(target)(x, 32)
    torch.testing.assert_close(found, (rows.sum(1), rows[:, 8:].sum(1)))


@kopt.kernel
def largest_of_rows(x, width: hl.constexpr):
    """Each row's largest, of a matrix that is known by its elements alone."""
    rows = x.numel() // width
    out = torch.full([rows], -100.0)
    for row in hl.tile(rows):
        found = hl.full([row], -100.0)
        for lane in hl.tile(width):
            found = torch.maximum(found, x[row.index[:, None] * width + lane.index[None, :]].amax(-1))
        out[row] = found
    return out


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("rows", "width"), [(5, 300), (8, 256), (1, 7), (3, 1)])
def test_rows_of_flat_storage(target, rows, width):
    x = torch.randn(rows, width)
    kernel = kopt.kernel(largest_of_rows, config={"block_sizes": [8, 128]}).on(target)
    torch.testing.assert_close(kernel(x.view(-1), width), x.amax(1))


@pytest.mark.slow
def test_rows_of_flat_storage_are_windows_on_a_chip():
    lowered = largest_of_rows.on("pallas:tpu7x").lower("f32[2056192]", 128512)
    assert "make_async_copy" not in lowered.source
    assert lowered.report(estimates=False)["legal"]


@pytest.mark.slow
@pytest.mark.parametrize("chip", ["tpu7x", "v6e"])
def test_groups_of_lanes_are_windows_on_a_chip(chip):
    lowered = largest.on(f"pallas:{chip}").lower("bf16[256,4096]", 32, 128)
    assert "(None, 1, 4096)" in lowered.source and "async_copy" not in lowered.source
    assert lowered.report(estimates=False)["legal"]


@pytest.mark.slow
def test_groups_of_lanes_do_not_race():
    _agrees(kopt.kernel(largest, config={"block_sizes": [8]}).on("pallas:strict"), torch.float32, 2, 1280, 10, 128)


@kopt.kernel
def elements(x, places):
    """Elements by number of what is too large for a chip."""
    out = torch.empty(places.shape, dtype=x.dtype)
    for row, lane in hl.tile(places.shape, block_size=[16, 512]):
        out[row, lane] = x[places[row, lane]]
    return out


@pytest.mark.slow
def test_room_for_elements_that_come_one_by_one():
    lowered = elements.on("pallas:v6e").lower("f32[2056192]", "i32[16,2048]")
    assert lowered.report(estimates=False)["legal"]
