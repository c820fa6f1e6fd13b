"""One element of each group of a row of flat storage, rows from a loaded number on, and factors in swizzled order."""

import pytest
import torch

import kopt
import kopt.language as hl


def swizzled(row, column, columns):
    """Where a factor stands: tiles of 128 rows by 4 columns, in which 4 rows 32 apart stand together."""
    tiles = (columns + 3) // 4
    return ((row >> 7) * tiles + (column >> 2)) * 512 + (row & 31) * 16 + ((row & 127) >> 5) * 4 + (column & 3)


@kopt.kernel
def blocks_of_rows(expert, packed, weights, out):
    """Sums over groups of 16 bytes, of each its first byte and its tenth, for rows of one matrix of several."""
    _, rows, width = packed.size()
    groups, flat = width // 16, packed.view(-1)
    step = hl.register_block_size(1, groups)
    for row in hl.tile(rows):
        numbers = expert[0] * rows + row.index
        total = hl.zeros([row])
        for group in hl.tile(groups, block_size=step):
            first = numbers[:, None] * width + group.index[None, :] * 16
            inside = (row.index[:, None] < rows) & (group.index < groups)[None, :]
            values = hl.load(flat, [first], extra_mask=inside).float() + 2.0 * flat[first + 9].float()
            total += torch.sum(values * weights[group.index * 4 + 1].float()[None, :], dim=-1)
        out[row] = total


@kopt.kernel
def sixteen_rows(expert, packed, weights, out):
    """The same of 16 rows at a time, from a number on."""
    _, rows, width = packed.size()
    groups, flat = width // 16, packed.view(-1)
    step = hl.register_block_size(1, groups)
    for part in hl.tile(rows // 16, block_size=1):
        numbers = part.begin * 16 + hl.arange(16)
        total = hl.zeros([16])
        for group in hl.tile(groups, block_size=step):
            first = (expert[0] * rows + numbers)[:, None] * width + group.index[None, :] * 16
            values = flat[first].float() + 2.0 * flat[first + 9].float()
            total += torch.sum(values * weights[group.index * 4 + 1].float()[None, :], dim=-1)
        out[part.begin * 16 + hl.arange(16)] = total


@kopt.kernel
def factors(expert, scales, rows: hl.constexpr, columns: hl.constexpr):
    """Factors of one matrix of several, in order."""
    out = torch.empty([rows, columns])
    for row, column in hl.tile([rows, columns]):
        place = swizzled(row.index[:, None], column.index[None, :], columns)
        out[row, column] = scales[expert[0] * rows * columns + place].float()
    return out


@kopt.kernel
def ring(x, first: hl.constexpr):
    """Numbers that go round, from one before the array's first on."""
    out = torch.empty([512, 2])
    for i in hl.tile(512, block_size=64):
        out[i, 0] = x[(i.index + first) & (x.size(0) - 1)]
        out[i, 1] = x[(i.index + first) % x.size(0)]
    return out


@pytest.mark.parametrize("first", [-64, -40, 8100])
@pytest.mark.parametrize("target", ["pallas:interpret", "triton:interpret"])
def test_a_ring(target, first):
    x = torch.randn(8192)
    wanted = x[(torch.arange(512) + first) % 8192]
    assert torch.equal(ring.on(target)(x, first), torch.stack([wanted, wanted], 1))


def _args(experts, rows, groups):
    generator = torch.Generator().manual_seed(0)
    packed = torch.randint(0, 256, (experts, rows, groups * 16), dtype=torch.uint8, generator=generator)
    weights = torch.randint(-5, 5, (groups * 4,), dtype=torch.int8, generator=generator)
    return torch.tensor([experts - 1], dtype=torch.int32), packed, weights, torch.zeros(rows)


KERNELS = {"blocks of rows": blocks_of_rows, "sixteen rows": sixteen_rows}


def _check(kernel, target, rows, groups):
    expert, packed, weights, out = _args(3, rows, groups)
    kernel.on(target)(expert, packed, weights, out)
    values = packed[2].view(rows, groups, 16).float()
    wanted = ((values[..., 0] + 2 * values[..., 9]) * weights.view(groups, 4)[:, 1].float()).sum(-1)
    torch.testing.assert_close(out, wanted, rtol=0, atol=0)  # whole numbers below 2 ** 24


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize(("rows", "groups"), [(64, 8), (144, 92)])
@pytest.mark.parametrize("target", ["pallas:interpret", "triton:interpret"])
def test_groups(kernel, target, rows, groups):
    _check(kernel, target, rows, groups)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_groups_as_a_chip_fetches_them(kernel):
    _check(kernel, "pallas:strict", 16, 12)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_groups_of_many_large_matrices(kernel):
    """In memory that no chip holds: aligned blocks of rows come."""
    low = kernel.lower("i32[1]", "u8[128,3072,1472]", "i8[368]", "f32[3072]", target="pallas:tpu7x")
    report = low.report(estimates=False)
    assert report["legal"], report["reason"]


@pytest.mark.parametrize(("rows", "columns"), [(128, 8), (384, 92)])
@pytest.mark.parametrize("target", ["pallas:interpret", "triton:interpret"])
def test_swizzled_factors(target, rows, columns):
    generator = torch.Generator().manual_seed(0)
    scales = torch.randint(0, 256, (3 * rows * columns,), dtype=torch.uint8, generator=generator)
    places = swizzled(torch.arange(rows)[:, None], torch.arange(columns)[None, :], columns)
    got = factors.on(target)(torch.tensor([1], dtype=torch.int32), scales, rows, columns)
    assert torch.equal(got, scales[rows * columns + places].float())


@pytest.mark.slow
def test_swizzled_factors_of_many_matrices():
    """What lies between the first factor of a block and the last comes, and no more."""
    low = factors.lower("i32[1]", "u8[36175872]", 3072, 92, target="pallas:tpu7x")
    assert "_rows_ref" not in low.source
    report = low.report(estimates=False)
    assert report["legal"], report["reason"]
