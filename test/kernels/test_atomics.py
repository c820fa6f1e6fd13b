"""Atomic updates on every CPU target beside torch: kinds, dtypes, index lists, previous values, sizes."""

import pytest
import torch

import kopt
import kopt.language as hl
from kopt.errors import LoweringError
from kopt.runtime.tolerance import mismatch
from kopt.specs import spec_of
from test.kernels.atomic_cases import FOLDS, INDICES, random, segment_sum, split_matmul

TARGETS = ("reference", "triton:interpret", "pallas:interpret")
on_targets = pytest.mark.parametrize("target", TARGETS)


def pairs(dtypes):
    """Each dtype with each target that has its arithmetic: a TPU has no f64."""
    return [(d, target) for d in dtypes for target in TARGETS if d != torch.float64 or not target.startswith("pallas")]


def on_targets_of(*dtypes):
    return pytest.mark.parametrize("dtype, target", pairs(dtypes), ids=str)


def run(target, kernel, *args):
    """What a kernel gives; arguments change in place."""
    return kopt.kernel(kernel).on(target)(*args)


@pytest.mark.parametrize(
    "kind, dtype, target", [(kind, *pair) for kind, row in FOLDS.items() for pair in pairs(row[2])], ids=str
)
def test_lanes_of_all_rows_meet_in_one(kind, dtype, target):
    function, expected, _ = FOLDS[kind]

    def kernel(out, x):
        for i, j in hl.tile(x.size(), block_size=[8, 16]):
            zero = i.index * 0
            function(out, [zero, j], x[i, j])

    out, x = random(1, 21, dtype=dtype), random(13, 21, dtype=dtype)
    wanted = expected(out[0], x)
    run(target, kernel, out, x)
    rtol, atol = (2**-6, 2**-5) if dtype.itemsize == 2 else (1e-5, 1e-5)
    torch.testing.assert_close(out[0], wanted, rtol=rtol, atol=atol)


ANY = [torch.float32, torch.bfloat16, torch.float64, torch.int8, torch.int64, torch.bool]
ANY += [torch.float8_e4m3fn, torch.float8_e5m2]


@on_targets_of(*ANY)
def test_exchange_gives_what_was_there(dtype, target):
    def swap(x, y):
        old = torch.empty_like(x)
        for i, j in hl.tile(x.size(), block_size=[4, 8]):
            old[i, j] = hl.atomic_xchg(x, [i, j], y[i, j], sem="acq_rel")
        return old

    x, y = random(5, 13, dtype=dtype), random(5, 13, dtype=torch.int32)
    before = x.clone()
    old = run(target, swap, x, y)
    torch.testing.assert_close(old.double(), before.double())
    torch.testing.assert_close(x.double(), y.to(dtype).double())


@on_targets_of(*ANY)
def test_compare_and_swap(dtype, target):
    def claim(x, owner):
        old = torch.empty_like(x)
        for i in hl.tile(x.size(0), block_size=8):
            old[i] = hl.atomic_cas(x, [i], 0, owner[i])
        return old

    x = torch.tensor([0, 3, 0, 0, 7, 0, 1, 0, 0, 2, 0]).to(dtype)
    owner = torch.arange(11, dtype=torch.int32) + 100
    wanted = torch.where(x.double() == 0, owner.to(dtype).double(), x.double())
    before = x.clone()
    torch.testing.assert_close(run(target, claim, x, owner).double(), before.double())
    torch.testing.assert_close(x.double(), wanted.double())


@on_targets
def test_one_lane_takes_each_lock(target):
    def lock(lock, keys):
        won = torch.empty(keys.size(), dtype=torch.bool)
        for i in hl.tile(keys.size(0), block_size=16):
            won[i] = hl.atomic_cas(lock, [keys[i]], -1, i.index, sem="acquire") == -1
        return won

    locks = torch.full([7], -1, dtype=torch.int32)
    keys = torch.randint(6, (45,), generator=torch.Generator().manual_seed(0))
    won = run(target, lock, locks, keys)
    assert sorted(keys[won].tolist()) == sorted(set(keys.tolist()))
    assert locks[-1] == -1 and all(locks[keys[n]] == n for n in won.nonzero()[:, 0].tolist())


@on_targets
@pytest.mark.parametrize("size", [0, 1, 5])
@pytest.mark.parametrize("length", [0, 1, 33])
def test_sizes(size, length, target):
    def kernel(out, rows, x):
        before = torch.zeros_like(x)
        for i in hl.tile(x.size(0), block_size=8):
            before[i] = hl.atomic_add(out, [rows[i]], x[i])
        return before

    out, x = torch.zeros(size), random(length if size else 0)
    rows = torch.randint(max(size, 1), x.shape)
    run(target, kernel, out, rows, x)
    torch.testing.assert_close(out, torch.zeros(size).index_add(0, rows, x))


@on_targets_of(torch.float32, torch.float64, torch.bfloat16)
def test_extremes_propagate_nan(dtype, target):
    def extremes(low, high, x):
        for i in hl.tile(x.size(1), block_size=4):
            for n in hl.grid(x.size(0)):
                hl.atomic_min(low, [i], x[n, i])
                hl.atomic_max(high, [i], x[n, i])

    nan, inf = float("nan"), float("inf")
    x = torch.tensor([[nan, -nan, 1.0, -0.0, inf], [-3.0, 2.0, nan, 0.5, -2.0], [4.0, -1.0, -5.0, -0.5, -inf]]).to(
        dtype
    )
    low, high = torch.full([5], inf, dtype=dtype), torch.full([5], -inf, dtype=dtype)
    run(target, extremes, low, high, x)
    torch.testing.assert_close(low, x.amin(0), equal_nan=True)
    torch.testing.assert_close(high, x.amax(0), equal_nan=True)


@on_targets
@pytest.mark.parametrize(
    ("splits", "dtype"), [(1, torch.float16), (3, torch.float32), (64, torch.bfloat16), (64, torch.float16)], ids=str
)
def test_split_products(splits, dtype, target):
    """Sums of 16-bit floats are as good as one product in f32, however many parts there are."""
    x, y = random(19, 192, dtype=dtype), random(192, 21, dtype=dtype)
    kernel = kopt.kernel(split_matmul, config={"block_sizes": [16, 16, 16]})
    wanted = (x.double() @ y.double()).to(dtype)
    assert mismatch(kernel.on(target)(x, y, splits), wanted, spec_of(x).dtype, 192) is None


@on_targets
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_segments(dtype, target):
    x = random(200, 21, dtype=dtype) + 1
    segments = torch.randint(7, (200,), generator=torch.Generator().manual_seed(0))
    got = kopt.kernel(segment_sum, config={"block_sizes": [32, 16]}).on(target)(x, segments, 9)
    wanted = torch.zeros(9, 21, dtype=torch.float64).index_add(0, segments, x.double()).to(dtype)
    assert mismatch(got, wanted, spec_of(x).dtype, 200) is None


@on_targets
def test_tickets_are_a_permutation(target):
    def tickets(bins, n):
        count = torch.zeros([n], dtype=torch.int32)
        ticket = torch.empty_like(bins)
        for i in hl.tile(bins.size(0), block_size=16):
            ticket[i] = hl.atomic_add(count, [bins[i]], 1)
        return count, ticket

    bins = torch.randint(5, (77,), generator=torch.Generator().manual_seed(0), dtype=torch.int32)
    count, ticket = run(target, tickets, bins, 5)
    assert count.tolist() == bins.bincount(minlength=5).tolist()
    for number, total in enumerate(count.tolist()):
        assert sorted(ticket[bins == number].tolist()) == list(range(total))


@on_targets
@pytest.mark.parametrize("name", INDICES)
def test_index_lists(name, target):
    kernel, expected = INDICES[name]
    out, x = random(9, 40), random(37, 40) + 1
    rows = torch.randint(9, (37,), generator=torch.Generator().manual_seed(1), dtype=torch.int32)
    wanted = expected(out.clone(), rows, x)
    run(target, kernel, out, rows, x)
    torch.testing.assert_close(out[:, : wanted.size(1)], wanted, rtol=1e-4, atol=1e-4)


@on_targets
def test_numbers_are_converted_to_the_target(target):
    def numbers(x, flag):
        for i in hl.tile(x.size(0), block_size=4):
            hl.atomic_add(x, [i], 2.75)
            hl.atomic_or(flag, [i], i.index > 2)

    x, flag = torch.arange(6, dtype=torch.int32), torch.zeros(6, dtype=torch.bool)
    run(target, numbers, x, flag)
    assert x.tolist() == [2, 3, 4, 5, 6, 7]
    assert flag.tolist() == [False, False, False, True, True, True]


@on_targets
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.int8], ids=str)
def test_narrow_targets_are_read_and_stored_too(dtype, target):
    def kernel(out, x):
        for i in hl.tile(out.size(0), block_size=8):
            out[i] = out[i] + 1
            before = hl.atomic_max(out, [i], x[i])
            out[i] = out[i] + before

    out, x = random(21, dtype=dtype).abs(), random(21, dtype=dtype)
    wanted = torch.maximum(out + 1, x) + (out + 1)
    run(target, kernel, out, x)
    torch.testing.assert_close(out, wanted)


@on_targets
@pytest.mark.parametrize(
    "dtype", [torch.uint8, torch.int16, torch.uint32, torch.float8_e5m2, torch.float8_e4m3fn], ids=str
)
def test_counts_in_any_dtype(dtype, target):
    """37 is no number of 8 bits: the exact sum is rounded to 40, or to 36, the even one of two as near."""

    def count(out, x):
        for i in hl.tile(x.size(0), block_size=8):
            hl.atomic_add(out, [i.index * 0], x[i])

    out = torch.zeros(1).to(dtype)
    run(target, count, out, torch.ones(37).to(dtype))
    assert out.float().tolist() == [torch.tensor(37.0).to(dtype).float()]


@pytest.mark.parametrize("gathered", [True, False])
def test_f64_is_refused_on_a_tpu(gathered):
    def kernel(out, x):
        for i in hl.tile(x.size(0), block_size=8):
            hl.atomic_add(out, [i.index * 0 if gathered else i], x[i])

    with pytest.raises(LoweringError, match="no 64-bit elements|no arithmetic on f64"):
        run("pallas:interpret", kernel, torch.zeros(8, dtype=torch.float64), torch.ones(8, dtype=torch.float64))


@kopt.kernel
def whole_blocks(x):
    """Updates of one element by all lanes of a block, where the block begins."""
    out = torch.zeros([x.size(0)], dtype=x.dtype)
    for row, column in hl.tile([x.size(0), x.size(1)]):
        hl.atomic_add(out, [row.begin], x[row, column])
    return out


@pytest.mark.parametrize("target", ["reference", "pallas:interpret", "triton:interpret"])
def test_lanes_that_meet_in_one_element(target):
    x = torch.randn(5, 70)
    kernel = kopt.kernel(whole_blocks, config={"block_sizes": [1, 64]})
    torch.testing.assert_close(kernel.on(target)(x), x.sum(1), rtol=1e-4, atol=1e-4)


@kopt.kernel
def old_of_a_block(x):
    out = torch.zeros([1], dtype=x.dtype)
    for tile in hl.tile(x.size(0)):
        x[tile] = hl.atomic_add(out, [0], x[tile]) + 1
    return x


def test_previous_elements_of_lanes_that_meet_are_refused():
    with pytest.raises(kopt.UnsupportedError, match="several lanes update one element"):
        old_of_a_block(torch.zeros(8))


@on_targets
def test_places_are_a_counter_and_the_lanes_that_are_kept(target):
    def kept(x):
        out, count = torch.zeros_like(x), torch.zeros(1, dtype=torch.int32)
        for i in hl.tile(x.size(0), block_size=8):
            keep = x[i] > 0
            begin = hl.atomic_add(count, [0], keep.sum())
            hl.store(out, [begin + keep.cumsum(0) - keep], x[i], extra_mask=keep)
        return out, count

    x = torch.randn(29)
    out, count = run(target, kept, x)
    torch.testing.assert_close(out[: int(count)].sort().values, x[x > 0].sort().values)
