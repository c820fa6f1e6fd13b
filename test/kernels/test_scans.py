"""Scans and reductions by functions of the kernel's own, and the running sums and products, on every target."""

from __future__ import annotations

import importlib.util

import pytest
import torch

import kopt
import kopt.language as hl
from kopt.errors import UnsupportedError

TARGETS = ("reference", "triton:interpret", "pallas:interpret")


def run(kernel, target, blocks, *args):
    """A kernel on a target."""
    return kopt.kernel(kernel, config={"block_sizes": blocks}).on(target)(*args)


def numbers(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Numbers near 1, so that products stay in range; small integers."""
    generator = torch.Generator().manual_seed(sum(shape))
    if dtype.is_floating_point:
        return (torch.rand(shape, generator=generator) + 0.5).to(dtype)
    return torch.randint(-4, 5, shape, generator=generator).to(dtype)


def backwards(function, x: torch.Tensor, dim: int) -> torch.Tensor:
    """A running function from the last element."""
    return function(x.flip(dim), dim).flip(dim)


def recurrence(a: torch.Tensor, b: torch.Tensor, reverse: bool) -> torch.Tensor:
    """``h = a * h + b`` along rows, one step after another."""
    h, out = torch.zeros_like(b[:, 0]), torch.empty_like(b)
    steps = range(b.size(1))
    for n in reversed(steps) if reverse else steps:
        h = a[:, n] * h + b[:, n]
        out[:, n] = h
    return out


def affine(a0, b0, a1, b1):
    return a0 * a1, b0 * a1 + b1


def affine_of_tuples(left, right):
    return left[0] * right[0], left[1] * right[0] + right[1]


def larger(a, i, b, j):
    first = (a > b) | ((a == b) & (i < j))
    return torch.where(first, a, b), torch.where(first, i, j)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("function", [affine, affine_of_tuples])
@pytest.mark.parametrize("columns", [1, 16, 21])
def test_a_recurrence_of_pairs(columns, function, reverse, target):
    def kernel(a, b):
        out = torch.empty_like(b)
        for i in hl.tile(a.size(0)):
            _, out[i, :] = hl.associative_scan(function, (a[i, :], b[i, :]), dim=1, reverse=reverse)
        return out

    a, b = numbers(5, columns), numbers(5, columns) - 1
    torch.testing.assert_close(run(kernel, target, [4], a, b), recurrence(a, b, reverse))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("reverse", [False, True])
def test_scans_of_ragged_blocks(reverse, target):
    """The last block of a loop has lanes outside the array, which a scan from behind must not see."""

    def kernel(a, b):
        out = torch.empty_like(b)
        for i in hl.tile(a.size(0)):
            for j in hl.tile(a.size(1)):
                _, out[i, j] = hl.associative_scan(affine, (a[i, j], b[i, j]), dim=1, reverse=reverse)
        return out

    a, b = numbers(5, 150), numbers(5, 150) - 1
    wanted = torch.cat([recurrence(a[:, n : n + 128], b[:, n : n + 128], reverse) for n in (0, 128)], 1)
    torch.testing.assert_close(run(kernel, target, [8, 128], a, b), wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("target", TARGETS)
def test_scans_along_the_first_dimension(target):
    def kernel(x):
        out = torch.empty_like(x)
        for j in hl.tile(x.size(1)):
            out[:, j] = hl.associative_scan(
                lambda a, b: a * 0.5 + b * 0.5 - a * b * 0.0 + a * 0.5 + b * 0.5, x[:, j], 0
            )
        return out

    x = numbers(6, 9)
    torch.testing.assert_close(run(kernel, target, [4], x), x.cumsum(0))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("columns", [1, 16, 21])
def test_reductions_of_pairs(columns, keep, target):
    def kernel(x):
        best = torch.empty(x.size(0), dtype=x.dtype)
        place = torch.empty(x.size(0), dtype=torch.int32)
        for i in hl.tile(x.size(0)):
            lane = hl.arange(0, x.size(1))[None, :].expand(i.block_size, x.size(1))
            a, n = hl.reduce(larger, (x[i, :], lane), dim=1, other=(float("-inf"), 0), keep_dims=keep)
            best[i] = a[:, 0] if keep else a
            place[i] = (n[:, 0] if keep else n).to(torch.int32)
        return best, place

    x = numbers(5, columns, dtype=torch.int32).float()
    best, place = run(kernel, target, [4], x)
    wanted, index = x.max(1)
    torch.testing.assert_close(best, wanted)
    torch.testing.assert_close(place, index.to(torch.int32))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dim", [0, 1, None])
def test_reductions_of_ragged_blocks(dim, target):
    """log(sum(exp)) has no neutral value that the compiler knows."""

    def together(a, b):
        top = torch.maximum(a, b)
        return top + torch.log(torch.exp(a - top) + torch.exp(b - top))

    def kernel(x):
        out = torch.empty((1, 1) if dim is None else (x.size(0),) if dim else (x.size(1),), dtype=x.dtype)
        for i, j in hl.tile(x.size()):
            s = hl.reduce(together, x[i, j], dim)
            if dim is None:
                out[i.begin, j.begin] = s
            else:
                out[i if dim else j] = s
        return out

    x = numbers(5, 13)
    wanted = torch.logsumexp(x, (0, 1) if dim is None else dim)
    torch.testing.assert_close(run(kernel, target, [8, 16], x), wanted.reshape((1, 1) if dim is None else (-1,)))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.int32, torch.int8])
def test_dtypes(dtype, target):
    """By one operation, which has a neutral value, and by several, which have none."""

    def kernel(x):
        once, twice, total = torch.empty_like(x), torch.empty_like(x), torch.empty_like(x[:, 0])
        for i in hl.tile(x.size(0)):
            once[i, :] = hl.associative_scan(torch.add, x[i, :], 1)
            twice[i, :] = hl.associative_scan(lambda a, b: (a + b) + a * 0, x[i, :], 1, reverse=True)
            total[i] = hl.reduce(lambda a, b: torch.maximum(a, b) + a * 0, x[i, :], 1)
        return once, twice, total

    x = numbers(3, 11, dtype=dtype)
    once, twice, total = run(kernel, target, [2], x)
    wide = x.float() if dtype.is_floating_point else x.int()
    torch.testing.assert_close(once, wide.cumsum(1).to(dtype))
    torch.testing.assert_close(twice, backwards(torch.cumsum, wide, 1).to(dtype))
    torch.testing.assert_close(total, x.amax(1))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("dim", [0, 1])
def test_running_sums_and_products(dim, reverse, target):
    def kernel(x):
        sums, products = torch.empty_like(x), torch.empty_like(x)
        for i, j in hl.tile(x.size()):
            sums[i, j] = hl.cumsum(x[i, j], dim, reverse)
            products[i, j] = hl.cumprod(x[i, j], dim, reverse)
        return sums, products

    x = numbers(5, 13)
    sums, products = run(kernel, target, [8, 16], x)
    both = (torch.cumsum, torch.cumprod)
    wanted = [backwards(f, x, dim) if reverse else f(x, dim) for f in both]
    torch.testing.assert_close(sums, wanted[0])
    torch.testing.assert_close(products, wanted[1])


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.int32])
def test_torch_functions(dtype, target):
    def kernel(x):
        sums, logs = torch.empty_like(x), torch.empty_like(x, dtype=torch.float32)
        product, whole = torch.empty_like(x[:, 0]), torch.empty_like(x[:, 0])
        for i in hl.tile(x.size(0)):
            sums[i, :] = torch.cumsum(x[i, :], -1).to(x.dtype) + x[i, :].cumprod(1).to(x.dtype)
            logs[i, :] = torch.logcumsumexp(x[i, :].float(), 1)
            product[i] = torch.prod(x[i, :], 1).to(x.dtype)
            whole[i] = x[i, :].prod(dim=-1, dtype=x.dtype)
        return sums, logs, product, whole

    x = numbers(5, 13, dtype=dtype)
    sums, logs, product, whole = run(kernel, target, [4], x)
    torch.testing.assert_close(sums, (x.cumsum(1) + x.cumprod(1)).to(dtype))
    torch.testing.assert_close(logs, torch.logcumsumexp(x.float(), 1))
    torch.testing.assert_close(product, x.prod(1).to(dtype))
    torch.testing.assert_close(whole, x.prod(1).to(dtype))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ["cummax", "cummin"])
def test_running_extremes(name, target):
    """Values and places, the last of equals; NaN stays."""
    function = getattr(torch, name)

    def kernel(x):
        best, place = torch.empty_like(x), torch.empty_like(x, dtype=torch.int32)
        for i in hl.tile(x.size(0)):
            values, indices = function(x[i, :], 1)
            best[i, :] = values
            place[i, :] = indices.to(torch.int32)
        return best, place

    x = numbers(5, 13, dtype=torch.int32).float()
    x[2, 4] = torch.nan
    best, place = run(kernel, target, [4], x)
    wanted = function(x, 1)
    torch.testing.assert_close(best, wanted.values, equal_nan=True)
    torch.testing.assert_close(place, wanted.indices.to(torch.int32))


@pytest.mark.parametrize("target", TARGETS)
def test_bits(target):
    """Bitwise combinations of integers are not those of truth values."""

    def kernel(x):
        every, some, odd = (torch.empty_like(x[:, 0]) for _ in range(3))
        for i in hl.tile(x.size(0)):
            every[i] = hl.reduce(lambda a, b: a & b, x[i, :], 1)
            some[i] = hl.reduce(lambda a, b: a | b, x[i, :], 1)
            odd[i] = hl.reduce(torch.bitwise_xor, x[i, :], 1)
        return every, some, odd

    x = numbers(5, 3, dtype=torch.int32) + 16
    every, some, odd = run(kernel, target, [4], x)
    a, b, c = x.unbind(1)
    assert torch.equal(every, a & b & c) and torch.equal(some, a | b | c) and torch.equal(odd, a ^ b ^ c)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("reverse", [False, True])
def test_items_of_their_own_lengths(reverse, target):
    def kernel(x, lengths, out):
        for i in hl.tile(x.size(0)):
            for j in hl.jagged_tile(lengths[i]):
                out[i, j] = hl.associative_scan(lambda a, b: a + b + 0 * a, x[i, j], 1, reverse)
        return out

    x, lengths = numbers(3, 7), torch.tensor([4, 0, 7], dtype=torch.int32)
    wanted = torch.zeros_like(x)
    for n, length in enumerate(lengths.tolist()):
        part = x[n : n + 1, :length]
        wanted[n, :length] = (backwards(torch.cumsum, part, 1) if reverse else part.cumsum(1))[0]
    torch.testing.assert_close(run(kernel, target, [4, 8], x, lengths, torch.zeros_like(x)), wanted)


def test_a_function_of_a_value_around_it_is_refused():
    def kernel(x):
        out = torch.empty_like(x)
        for i in hl.tile(x.size(0)):
            top = x[i].amax()
            out[i] = hl.associative_scan(lambda a, b: a + b * top, x[i], 0)  # noqa: B023
        return out

    with pytest.raises(UnsupportedError, match="device value of the kernel around it"):
        run(kernel, "reference", [4], numbers(4))


def test_a_function_that_gives_too_few_values_is_refused():
    def kernel(x):
        out = torch.empty_like(x)
        for i in hl.tile(x.size(0)):
            out[i] = hl.associative_scan(lambda a, b, c, d: a + c, (x[i], x[i]), 0)[0]
        return out

    with pytest.raises(UnsupportedError, match="gives 1 values for 2 tensors"):
        run(kernel, "reference", [4], numbers(4))


CHIPS = ("pallas:tpu7x", "pallas:v5e", "triton:sm90", "triton:gfx942")


@pytest.mark.slow
@pytest.mark.parametrize("target", CHIPS)
def test_they_compile(target):
    compiler = "libtpu" if target.startswith("pallas") else "triton"
    if importlib.util.find_spec(compiler) is None:
        pytest.skip(f"{compiler} is not installed")

    def kernel(a, b):
        out, place = torch.empty_like(b), torch.empty(b.size(0), dtype=torch.int32)
        for i in hl.tile(a.size(0), block_size=8):
            _, out[i, :] = hl.associative_scan(affine, (a[i, :], b[i, :]), dim=1, reverse=True)
            lane = hl.arange(0, a.size(1))[None, :].expand(8, a.size(1))
            _, n = hl.reduce(larger, (a[i, :], lane), dim=1)
            place[i] = n.to(torch.int32)
        return out, place

    low = kopt.kernel(kernel).lower(numbers(16, 200), numbers(16, 200), target=target)
    report = low.report(estimates=False)
    assert report["legal"], report["reason"]


def running_sums(x):
    out = torch.empty(x.shape, dtype=torch.float32)
    for i in hl.tile(x.size(0)):
        out[i, :] = torch.cumsum(x[i, :].to(torch.float32), 1)
    return out


def running_sums_from_behind(x):
    out = torch.empty(x.shape, dtype=torch.float32)
    for i in hl.tile(x.size(0)):
        out[i, :] = hl.associative_scan(torch.add, x[i, :].to(torch.float32), 1, reverse=True)
    return out


@pytest.mark.parametrize("target", ["pallas:interpret@v6e", "pallas:strict@v6e", "pallas:interpret@v5e"])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
@pytest.mark.parametrize("kernel", [running_sums, running_sums_from_behind])
def test_infinities_and_nans_reach_only_the_sums_behind_them(kernel, dtype, target):
    """Products add up what is finite; the largest numbers, of which bf16 would make infinities, are."""
    x = torch.randn(12, 300, generator=torch.Generator().manual_seed(0)).to(dtype)
    inf, nan, most = float("inf"), float("nan"), torch.finfo(dtype).max
    for row, odd in enumerate([{}, {7: inf}, {150: -inf}, {0: nan}, {20: inf, 280: -inf}, {260: -inf, 255: inf}]):
        x[row, list(odd)] = torch.tensor(list(odd.values()), dtype=dtype)
    x[6, :] = inf
    x[7, 299] = nan
    x[8, 3], x[8, 200] = most, -most
    x[9, 128:] = most
    x[10, :], x[11, :256] = nan, nan
    wanted = x.float().cumsum(1)
    if kernel is running_sums_from_behind:
        wanted = x.float().flip(1).cumsum(1).flip(1)
    # Sums of hundreds of f32, and of those beside the largest number nothing but that is left, in any order.
    near = {"rtol": 1e-5, "atol": 1e-4, "equal_nan": True}
    found = run(kernel, target, [8], x)
    torch.testing.assert_close(found[[*range(8), 9]], wanted[[*range(8), 9]], **near)
    assert torch.isfinite(found[8]).all()
    torch.testing.assert_close(found[8] / most, wanted[8] / most, rtol=1e-6, atol=1e-6)


def scaled_by_totals(x):
    out, totals = torch.empty(x.shape, dtype=torch.float32), torch.empty(x.size(0), dtype=torch.float32)
    for i in hl.tile(x.size(0)):
        values = x[i, :].to(torch.float32)
        total = values.sum(1)
        out[i, :] = torch.cumsum(values, 1) - total[:, None]
        totals[i] = total
    return out, totals


@pytest.mark.parametrize("target", ["pallas:interpret@v6e", "pallas:strict@v6e"])
def test_totals_are_the_last_running_sums(target):
    x = torch.randn(10, 300, generator=torch.Generator().manual_seed(2))
    x[3, 290], x[4, 7], x[5, [1, 2]] = float("nan"), float("inf"), torch.tensor([float("inf"), -float("inf")])
    out, totals = run(scaled_by_totals, target, [8], x)
    near = {"rtol": 1e-5, "atol": 1e-4, "equal_nan": True}
    torch.testing.assert_close(totals, x.sum(1), **near)
    torch.testing.assert_close(out, x.cumsum(1) - x.sum(1)[:, None], **near)


@pytest.mark.parametrize("target", TARGETS)
def test_running_sums_keep_all_digits_of_f32(target):
    x = torch.rand(8, 200, generator=torch.Generator().manual_seed(1))
    wanted = x.double().cumsum(1)
    # 200 sums below 100 of 24 digits each.
    torch.testing.assert_close(run(running_sums, target, [8], x).double(), wanted, rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("target", [*TARGETS, "pallas:strict"])
@pytest.mark.parametrize("reverse", [False, True])
def test_recurrences_down_whole_registers(reverse, target):
    """Rows in groups of 8, each of which goes on from the last row of the one before; NaN reaches only those behind."""

    def kernel(a, b):
        out = torch.empty_like(b)
        for j in hl.tile(a.size(1)):
            _, out[:, j] = hl.associative_scan(affine, (a[:, j], b[:, j]), dim=0, reverse=reverse)
        return out

    a, b = numbers(24, 256), numbers(24, 256) - 1
    b[11, 3], b[0, 5] = float("nan"), float("inf")
    wanted = recurrence(a.T, b.T, reverse).T
    # 24 steps, of two rounded operations each, in another order.
    torch.testing.assert_close(run(kernel, target, [128], a, b), wanted, rtol=1e-5, atol=1e-5, equal_nan=True)
