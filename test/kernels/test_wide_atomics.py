"""Atomic updates of 64-bit integers on a TPU: exact where nothing can leave 32 bits, else refused."""

from __future__ import annotations

import importlib.util

import pytest
import torch

import kopt
import kopt.language as hl
from kopt.errors import ArgumentError, LoweringError
from test.kernels.atomic_cases import random

I64 = torch.int64
on_targets = pytest.mark.parametrize(
    "target", ["pallas:interpret", pytest.param("pallas:strict", marks=pytest.mark.slow)]
)


def tickets(bins, n):
    """Counts that nothing in the arguments can make too large."""
    count = torch.zeros([n], dtype=torch.int64)
    ticket = torch.empty_like(bins)
    for i in hl.tile(bins.size(0), block_size=16):
        ticket[i] = hl.atomic_add(count, [bins[i]], 1)
    for i in hl.tile(bins.size(0), block_size=16):
        hl.atomic_add(count, [bins[i]], 2)
    return count, ticket


def sums(out, x):
    for i, j in hl.tile(x.size(), block_size=[8, 16]):
        hl.atomic_add(out, [j], x[i, j].sum(0))


def weighted(out, rows, weights):
    """Numbers of 32 bits, whose sums may have more."""
    for i in hl.tile(weights.size(0), block_size=16):
        hl.atomic_add(out, [rows[i]], weights[i].to(torch.int64) * 3)


def extremes(low, high, x):
    for i, j in hl.tile(x.size(), block_size=[8, 16]):
        hl.atomic_min(low, [j], x[i, j].amin(0))
        hl.atomic_max(high, [j], x[i, j].amax(0))


def exchange(x, y):
    old = torch.empty_like(x)
    for i, j in hl.tile(x.size(), block_size=[4, 8]):
        old[i, j] = hl.atomic_xchg(x, [i, j], y[i, j])
        hl.atomic_cas(x, [i, j], 7, -1)
    return old


@on_targets
def test_counts_need_no_check(target):
    bins = torch.randint(5, (77,), generator=torch.Generator().manual_seed(0))
    count, ticket = kopt.kernel(tickets).on(target)(bins, 5)
    assert torch.equal(count, 3 * bins.bincount(minlength=5))
    for number, total in enumerate(count.tolist()):
        assert sorted(ticket[bins == number].tolist()) == list(range(total // 3))


@on_targets
def test_sums(target):
    out, x = random(40, dtype=I64), random(37, 40, dtype=I64)
    wanted = out + x.sum(0)
    kopt.kernel(sums).on(target)(out, x)
    assert torch.equal(out, wanted)


@on_targets
def test_32_bit_numbers_in_64_bit_sums(target):
    out, rows, weights = random(5, dtype=I64), torch.arange(45) % 5, random(45, dtype=torch.int32)
    wanted = out.index_add(0, rows, 3 * weights.long())
    kopt.kernel(weighted).on(target)(out, rows, weights)
    assert torch.equal(out, wanted)
    with pytest.raises(ArgumentError, match=r"weights\[7\] = 1073741824 is not from -\d+ to \d+"):
        weights[7] = 2**30
        kopt.kernel(weighted).on(target)(out, rows, weights)


@on_targets
def test_other_kinds_keep_all_of_32_bits(target):
    x = random(37, 40, dtype=I64)
    x[3, 3], x[4, 4] = 2**31 - 1, 1 - 2**31
    low, high = torch.zeros(40, dtype=I64), torch.zeros(40, dtype=I64)
    kopt.kernel(extremes).on(target)(low, high, x)
    assert torch.equal(low, x.amin(0).clamp(max=0)) and torch.equal(high, x.amax(0).clamp(min=0))
    old, y = x.clone(), random(37, 40, dtype=I64)
    assert torch.equal(kopt.kernel(exchange).on(target)(x, y), old)
    assert torch.equal(x, torch.where(y == 7, -1, y))


def test_calls_check_what_must_be_small():
    run = kopt.kernel(sums).on("pallas:interpret")
    zero, x = torch.zeros(40, dtype=I64), random(37, 40, dtype=I64)
    with pytest.raises(ArgumentError, match=r"x\[2, 5\] = 1099511627776 is not from -\d+ to \d+"):
        run(zero, x.index_put((torch.tensor(2), torch.tensor(5)), torch.tensor(2**40)))
    with pytest.raises(ArgumentError, match=r"out\[0\] = 2147483648 is not from -\d+ to \d+"):
        run(zero + 2**31, x)


def from_the_host(out, x):
    doubled = x * x
    for i in hl.tile(x.size(0), block_size=8):
        hl.atomic_add(out, [i], doubled[i])


def already_there(out, x):
    total = torch.cumsum(x, 0)
    for i in hl.tile(x.size(0), block_size=8):
        hl.atomic_add(total, [i], 1)
    return total


def bits_of_sums(out, x):
    for i in hl.tile(x.size(0), block_size=8):
        hl.atomic_add(out, [i], 1)
        hl.atomic_or(out, [i], 1)


@pytest.mark.parametrize(
    ("kernel", "reason"),
    [
        (from_the_host, "how large its values are is not known"),
        (already_there, "what it holds before is computed on the host"),
        (bits_of_sums, "its bits are changed between additions"),
    ],
)
def test_what_has_no_bound_is_refused(kernel, reason):
    with pytest.raises(LoweringError, match=f"updates of '(out|total)' may not fit 32 bits: {reason}"):
        kopt.kernel(kernel).lower("i64[40]", "i64[40]", target="pallas:tpu7x")


@pytest.mark.slow
@pytest.mark.parametrize("chip", ["tpu7x", "v6e", "v5e"])
@pytest.mark.parametrize(
    ("kernel", "args"),
    [(tickets, ("i64[77]", 5)), (sums, ("i64[40]", "i64[37,40]")), (exchange, ("i64[37,40]", "i64[37,40]"))],
)
def test_compiles(kernel, args, chip):
    if importlib.util.find_spec("libtpu") is None:
        pytest.skip("libtpu is not installed")
    report = kopt.kernel(kernel).lower(*args, target=f"pallas:{chip}").report(estimates=False)
    assert report["legal"], report["reason"]
