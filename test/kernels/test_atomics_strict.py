"""Atomic updates in the strict interpreter: two cores, races watched, memory full of NaN; in each form of loop."""

from __future__ import annotations

import pytest
import torch

import kopt
import kopt.language as hl
from kopt.dtypes import DType
from kopt.runtime.tolerance import mismatch
from kopt.specs import spec_of
from test.kernels.atomic_cases import INDICES, random

pytestmark = pytest.mark.slow
LOOP_TYPES = ("grid", "pipeline", "fori", "resident")
F32, BF16, F16, I32 = torch.float32, torch.bfloat16, torch.float16, torch.int32


def parts(x):
    """Sums and maxima of columns, in parts that cells of their own walk."""
    wide = torch.float32 if x.dtype.is_floating_point else torch.int32
    total = torch.zeros([x.size(2)], dtype=x.dtype)
    top = torch.full([x.size(2)], -100, dtype=x.dtype)
    for part, j in hl.tile([x.size(0), x.size(2)], block_size=[1, 128]):
        acc = hl.zeros([j], dtype=wide)
        high = hl.full([j], -100, dtype=wide)
        for i in hl.tile(x.size(1), block_size=8):
            block = x[part, i, j].to(wide)
            acc = acc + block.sum(1, dtype=wide).sum(0, dtype=wide)
            high = torch.maximum(high, block.amax(1).amax(0))
        hl.atomic_add(total, [j], acc)
        hl.atomic_max(top, [j], high)
    return total, top


def matmul(x, y):
    out = torch.empty([x.size(0), y.size(1)], dtype=x.dtype)
    for i, j in hl.tile(out.size()):
        acc = hl.zeros([i, j], dtype=torch.float32)
        for k in hl.tile(x.size(1)):
            acc = torch.addmm(acc, x[i, k], y[k, j])
        out[i, j] = acc
    return out


def both_sums(x):
    """No one order of the grid serves both outputs."""
    rows = torch.zeros([x.size(0)], dtype=torch.float32)
    columns = torch.zeros([x.size(1)], dtype=torch.float32)
    for i, j in hl.tile(x.size(), block_size=[8, 128]):
        block = x[i, j].to(torch.float32)
        hl.atomic_add(rows, [i], block.sum(1))
        hl.atomic_add(columns, [j], block.sum(0))
    return rows, columns


def locks(lock, last, keys):
    """Compare-and-swap and exchange by computed elements."""
    won = torch.empty(keys.size(), dtype=torch.int32)
    for i in hl.tile(keys.size(0), block_size=16):
        won[i] = hl.atomic_cas(lock, [keys[i]], -1, i.index)
        hl.atomic_xchg(last, [keys[i]], i.index)
    return won


def strict(kernel, *args, **config):
    pytest.importorskip("jax")
    return kopt.kernel(kernel, config=config, target="pallas:strict")(*args)


def check(found, wanted, terms):
    dtype: DType = spec_of(found).dtype
    assert mismatch(found, wanted.to(found.dtype), dtype, terms) is None


@pytest.mark.parametrize(("dtype", "splits"), [(F32, 4), (BF16, 64), (F16, 1), (I32, 4)], ids=str)
def test_sums_and_maxima_in_parts(dtype, splits):
    x = random(splits, 20, 130, dtype=dtype)
    total, top = strict(parts, x, loop_type="resident")
    check(total, x.double().sum((0, 1)), 20 * splits)
    check(top, x.amax((0, 1)), 1)


@pytest.mark.parametrize("loop_type", LOOP_TYPES)
@pytest.mark.parametrize("dtype", [F32, BF16], ids=str)
def test_split_by_the_configuration(dtype, loop_type):
    x, y = random(16, 1000, dtype=dtype), random(1000, 130, dtype=dtype)
    found = strict(matmul, x, y, loop_type=loop_type, split_k=4, block_sizes=[16, 128, 128])
    check(found, x.double() @ y.double(), 1000)


@pytest.mark.parametrize("dtype", [F32, BF16], ids=str)
def test_outputs_of_different_dimensions(dtype):
    x = random(20, 300, dtype=dtype)
    rows, columns = strict(both_sums, x)
    check(rows, x.double().sum(1), 300)
    check(columns, x.double().sum(0), 20)


@pytest.mark.parametrize("name", ["rows", "pointwise", "views", "repeated", "moving", "of one"])
def test_index_lists(name):
    kernel, expected = INDICES[name]
    out, x = random(9, 40), random(37, 40) + 1
    rows = torch.randint(9, (37,), generator=torch.Generator().manual_seed(1), dtype=torch.int32)
    wanted = expected(out.clone(), rows, x)
    strict(kernel, out, rows, x)
    torch.testing.assert_close(out[:, : wanted.size(1)], wanted, rtol=1e-4, atol=1e-4)


def test_compare_and_swap_and_exchange():
    lock, last = torch.full([7], -1, dtype=I32), torch.full([7], -1, dtype=I32)
    keys = torch.randint(6, (45,), generator=torch.Generator().manual_seed(0), dtype=I32)
    won = strict(locks, lock, last, keys) == -1
    assert sorted(keys[won].tolist()) == sorted(set(keys.tolist()))
    assert all(lock[keys[n]] == n for n in won.nonzero()[:, 0].tolist())
    assert all(keys[last[n]] == n for n in set(keys.tolist()))
