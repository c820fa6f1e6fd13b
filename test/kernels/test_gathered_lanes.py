"""Reads at computed places whose lanes are one, follow one another, or are bounded: what DMAs of whole rows serve."""

import pytest
import torch

import kopt
import kopt.language as hl

TARGETS = ["pallas:interpret", "triton:interpret"]


@kopt.kernel
def scaled(x, scale):
    """Each column by the scale of its group of 8, each row by that of its loop's block."""
    rows, columns = x.size()
    out = torch.empty([rows], dtype=torch.float32)
    for tile in hl.tile(rows):
        acc = hl.zeros([tile], dtype=torch.float32)
        for k in hl.tile(columns, block_size=16):
            acc += x[tile, k].sum(-1) * scale[tile.index // 8, k.id].to(torch.float32)
        out[tile] = acc
    return out


@pytest.mark.parametrize("rows", [100, 9000])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_one_lane_of_computed_rows(rows, dtype):
    x, scale = torch.randint(-9, 9, (rows, 40)).float(), torch.randint(-9, 9, (-(-rows // 8), 3)).to(dtype)
    wide = scale.float().repeat_interleave(8, 0)[:rows].repeat_interleave(16, 1)[:, :40]
    torch.testing.assert_close(scaled.on("pallas:interpret")(x, scale), (x * wide).sum(1))


@kopt.kernel
def windows(x, starts, size: hl.constexpr, step: hl.constexpr):
    """Every ``step``-th of the elements from each start on, 0 where there are none."""
    out = torch.empty([starts.size(0), size], dtype=x.dtype)
    for tile in hl.tile(starts.size(0)):
        places = starts[tile][:, None] + hl.arange(size)[None, :] * step
        out[tile, :] = hl.load(x, [places], extra_mask=(places >= 0) & (places < x.size(0)))
    return out


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int8])
@pytest.mark.parametrize(("size", "step"), [(64, 1), (32, 3)])
def test_lanes_from_computed_elements_on(target, dtype, size, step):
    x, starts = torch.randint(-99, 99, (5003,)).to(dtype), torch.tensor([0, 1, 127, 128, 4096, 5002, -5, 4990, 977])
    places = starts[:, None] + torch.arange(size) * step
    inside = (places >= 0) & (places < len(x))
    wanted = torch.where(inside, x[places.clamp(0, len(x) - 1)], 0).to(dtype)
    torch.testing.assert_close(windows.on(target)(x, starts.to(torch.int32), size, step), wanted)


def test_lanes_from_computed_elements_on_come_in_rows():
    low = windows.lower("f32[50000]", "i32[32]", 256, 1, target="pallas:tpu7x")
    assert "def _take_along" not in low.source and "VMEM((32, 3, 1, 128)" in low.source


@kopt.kernel
def taps(x, weight):
    """A causal convolution whose indices are bounded, of elements that are not used there or are."""
    rows, n = x.size()
    width = hl.specialize(weight.size(0))
    used, unused = torch.empty_like(x), torch.empty_like(x)
    for row, tile in hl.tile([rows, n]):
        acc = hl.zeros([row, tile], dtype=torch.float32)
        held = hl.zeros([row, tile], dtype=torch.float32)
        for j in range(width):
            at = tile.index + (j - width + 1)
            value = hl.load(x, [row, torch.where(at >= 0, at, torch.zeros_like(at))]).to(torch.float32)
            acc = acc + torch.where((at >= 0)[None, :], value, 0.0) * weight[j]
            held = held + hl.load(x, [row, torch.clamp(at, 0, n - 1)]).to(torch.float32) * weight[j]
        unused[row, tile] = acc.to(x.dtype)
        used[row, tile] = held.to(x.dtype)
    return unused, used


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("n", [1, 150, 300])
def test_bounded_lanes(target, n):
    x, weight = torch.randint(-9, 9, (10, n)).float(), torch.tensor([2.0, 3.0, 5.0, 7.0])
    zeros = torch.nn.functional.pad(x, (3, 0))
    edges = torch.cat([x[:, :1].expand(-1, 3), x], 1)
    wanted = [sum(w * padded[:, j : j + n] for j, w in enumerate(weight)) for padded in (zeros, edges)]
    torch.testing.assert_close(list(taps.on(target)(x, weight)), wanted)


@kopt.kernel
def shifted(x, distance: hl.constexpr):
    """A vector's elements ``distance`` places on, the last one where there are none."""
    out = torch.empty_like(x)
    for tile in hl.tile(x.size(0)):
        out[tile] = x[torch.clamp(tile.index + distance, max=x.size(0) - 1)]
    return out


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("n", [5, 3000])
def test_bounded_lanes_of_a_vector(target, n):
    x = torch.randn(n)
    torch.testing.assert_close(shifted.on(target)(x, 7), x[torch.arange(7, n + 7).clamp(max=n - 1)])


@pytest.mark.slow
def test_bounded_lanes_compile():
    low = taps.lower("f32[2560,4096]", "f32[4]", target="pallas:tpu7x")
    assert "def _take_along" not in low.source and "make_async_copy" not in low.source
    report = low.report(estimates=False)
    assert report["legal"], report["reason"]


@kopt.kernel
def parts(x, first: hl.constexpr):
    """The first lanes of each group of 8 rows, and the others, which are fewer."""
    rows, columns = x.size()
    out = torch.empty_like(x)
    for group in hl.tile(rows // 8, block_size=1):
        row = group.begin * 8 + hl.arange(8)
        rest = hl.load(x, [row, hl.arange(first, columns)])
        hl.store(out, [row, hl.arange(first)], hl.load(x, [row, hl.arange(first)]) * rest.sum(-1)[:, None])
        hl.store(out, [row, hl.arange(first, columns)], rest)
    return out


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_blocks_of_several_sizes_at_known_lanes(dtype):
    """Such as the latent and the rotary part of a head: no block's size says where the other begins."""
    x = torch.randint(-3, 4, (32, 192)).to(dtype)
    wanted = torch.cat([x[:, :128] * x[:, 128:].sum(1, keepdim=True), x[:, 128:]], 1)
    torch.testing.assert_close(parts.on("pallas:interpret")(x, 128), wanted)


@pytest.mark.slow
def test_blocks_of_several_sizes_at_known_lanes_compile():
    assert parts.lower("bf16[32,192]", 128, target="pallas:tpu7x").report(estimates=False)["legal"]


@kopt.kernel
def crossed(x, columns, limit: hl.constexpr):
    """``x[i, :, columns[j]]`` for each i and j: the second row on, and the first where there are none."""
    n = x.size(0)
    out = torch.empty([n, n, n], dtype=x.dtype)
    for _ in hl.grid(1):
        numbers = hl.arange(n) + 1
        rows = torch.where(numbers < limit, numbers, 0)
        out[:, :, :] = x[rows[:, None], :, hl.load(columns, [hl.arange(n)])[None, :]]
    return out


@pytest.mark.parametrize("target", TARGETS)
def test_bounded_rows_beside_other_gathered_places(target):
    x, columns, rows = torch.randn(8, 8, 8), torch.randperm(8), torch.arange(1, 9)
    wanted = x[torch.where(rows < 6, rows, 0)[:, None], :, columns[None, :]]
    assert torch.equal(crossed.on(target)(x, columns.to(torch.int32), 6), wanted)


@kopt.kernel
def spilled(x, size: hl.constexpr, parts: hl.constexpr, group: hl.constexpr):
    """Rows in parts that end beyond the array: 0 there, and the first row."""
    columns = hl.specialize(x.size(1))
    zeros = torch.empty([parts * size, columns], dtype=x.dtype)
    firsts = torch.empty_like(zeros)
    for part in hl.grid(parts):
        number = part // group * group + part % group
        rows = number * size + hl.arange(size)
        inside = rows < x.size(0)
        for tile in hl.tile(columns):
            zeros[rows, tile] = hl.load(x, [rows, tile], extra_mask=inside[:, None])
            firsts[rows, tile] = x[torch.where(inside, rows, 0), tile]
    return zeros, firsts


@pytest.mark.parametrize("size", [32, pytest.param(64, marks=pytest.mark.slow)])
@pytest.mark.parametrize("target", [*TARGETS, pytest.param("pallas:strict", marks=pytest.mark.slow)])
def test_rows_of_parts_beyond_the_array(target, size):
    x = torch.randn(100, 128)
    zeros = torch.zeros(3 * 64, 128)
    zeros[:100] = x
    firsts = torch.cat([x, x[:1].expand(92, -1)])
    torch.testing.assert_close(list(spilled.on(target)(x, size, 3 * 64 // size, 2)), [zeros, firsts])


def test_blocks_inside_the_array_are_loaded_where_they_are():
    source = spilled.lower("f32[192,128]", 32, 6, 2, target="pallas:tpu7x").source
    assert not any(name in source for name in ("_take_rows", "jnp.maximum", "jnp.where"))


@kopt.kernel
def reordered(x, places):
    """The lanes of each row in another order."""
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0), block_size=8):
        out[i, :] = torch.gather(x[i, :], 1, places[i, :])
    return out


def test_many_lanes_are_picked_in_a_loop():
    """Written out, 1,664 lanes took minutes to trace."""
    x, places = torch.randn(9, 300), torch.stack([torch.randperm(300) for _ in range(9)]).int()
    x[0, :3] = torch.tensor([float("nan"), float("inf"), -0.0])
    low = reordered.lower(x, places, target="pallas:interpret")
    assert "_take_many(" in low.source
    found, wanted = low.compile()(x, places), torch.gather(x, 1, places.long())
    torch.testing.assert_close(found, wanted, rtol=0, atol=0, equal_nan=True)
