"""Rows that are walked in blocks: the values are torch's, however they are walked."""

from __future__ import annotations

import math

import pytest
import torch

import kopt
from kopt.analysis.plans import set_plan
from kopt.context import make_context
from kopt.dialects.tile import GridOp
from kopt.passes.walk_dims import WalkDimsPass
from kopt.plans.plan import Plan, Walk
from test.kernels import rows

TARGETS = ("reference", "triton:interpret", "pallas:interpret")
#: Columns that no block divides.
COLUMNS = 300


def arguments(kernel, dtype):
    """What a kernel is called with: finite numbers, and where it may be, infinities: a part of a row, and all of it."""
    x = torch.randn(6, COLUMNS) * 3
    if kernel in (rows.layer_norm, rows.rms_norm):
        return [x.to(dtype), *(torch.rand(COLUMNS) for _ in range(2 - (kernel is rows.rms_norm)))]
    if kernel is rows.attention:
        return [torch.randn(COLUMNS, 16).to(dtype), torch.randn(6, 16).to(dtype), torch.randn(COLUMNS, 16).to(dtype)]
    if kernel not in (rows.largest_and_sum, rows.softmin_above):
        x[1], x[2, :140], x[3, 200], x[4, 290] = -math.inf, -math.inf, math.inf, math.nan
    labels = [torch.tensor([3, 0, 299, 128, 140, 7])] if kernel is rows.cross_entropy else []
    return [x.to(dtype), *labels]


def walked(kernel, args, target, how, size):
    """A kernel whose first argument's rows are walked, as its plan says."""
    module = kernel.lower(*args, target=target).module.clone()
    (grid,) = [op for op in module.walk() if isinstance(op, GridOp)]
    name, dim = ("keys", 0) if kernel is rows.attention else ("x", 1)
    set_plan(grid, Plan(grid.tags, frozenset(grid.tags), (), {}, walks=(Walk(name, dim, "walked", size, how),)))
    WalkDimsPass().apply(make_context(), module)
    return kopt.lower_module(module, target=target)


def check(found, wanted, dtype):
    """Results agree to what the dtype tells."""
    found, wanted = (some if isinstance(some, tuple) else (some,) for some in (found, wanted))
    tolerance = {"rtol": 2e-2, "atol": 2e-2} if dtype == torch.bfloat16 else {"rtol": 2e-5, "atol": 1e-5}
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one.float(), other.float(), equal_nan=True, **tolerance)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("kernel", rows.TORCH, ids=lambda kernel: kernel.__name__)
def test_values_in_passes(kernel, dtype, target):
    args = arguments(kernel, dtype)
    found = walked(kernel, args, target, "passes", 128).compile()(*args)
    check(found, rows.TORCH[kernel](*(arg.float() if arg.is_floating_point() else arg for arg in args)), dtype)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("kernel", rows.ONLINE, ids=lambda kernel: kernel.__name__)
def test_values_online(kernel, dtype, target):
    args = arguments(kernel, dtype)
    found = walked(kernel, args, target, "online", 128).compile()(*args)
    check(found, rows.TORCH[kernel](*(arg.float() if arg.is_floating_point() else arg for arg in args)), dtype)


@pytest.mark.parametrize("target", TARGETS)
def test_a_row_is_walked_in_place(target):
    x = torch.randn(6, COLUMNS)
    found = x.clone()
    walked(rows.softmax_in_place, [x], target, "online", 128).compile()(found)
    check(found, torch.softmax(x, -1), torch.float32)


@pytest.mark.parametrize(("kernel", "how"), [(rows.softmax, "online"), (rows.rms_norm, "passes")])
def test_walks_of_a_tpu_are_free_of_races(kernel, how):
    args = arguments(kernel, torch.float32)
    found = walked(kernel, args, "pallas:strict", how, 128).compile()(*args)
    check(found, rows.TORCH[kernel](*args), torch.float32)


@pytest.mark.parametrize("kernel", rows.ONLINE, ids=lambda kernel: kernel.__name__)
def test_a_sum_that_is_mended_needs_no_walk_of_its_own(kernel):
    args = arguments(kernel, torch.float32)
    loops = [walked(kernel, args, "triton:sm90", how, 128).source.count("for k_begin") for how in ("online", "passes")]
    assert loops[0] == loops[1] - 1, loops


@pytest.mark.parametrize("columns", [65536, 131072, 100003])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_long_rows_are_walked_unasked(columns, dtype):
    x = torch.randn(3, columns).to(dtype)
    low = rows.softmax.lower(x, target="triton:interpret", config={"split_k": 1})
    assert "range(0, " + str(columns) in low.source
    check(low.compile()(x), torch.softmax(x.float(), -1), dtype)


def test_short_rows_are_taken_whole():
    assert "for " not in rows.softmax.lower("f32[64,32768]", target="triton:sm90").source.split("pid")[1]


def test_rows_beyond_vmem_are_walked_on_a_tpu():
    """A row of one block is all of VMEM four times; values on a smaller one, walked by the same plan, are above."""
    low = rows.softmax.lower("f32[64,4000000]", target="pallas:v6e")
    assert "walk(dim 1 of %x: b1=32768, online)" in dict(low.stages())["plan-walks"]
    assert "walk(" not in rows.softmax.lower("f32[64,131072]", target="pallas:v6e").stages()[-1][1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kernel", "specs"),
    [
        (rows.softmax, ["f32[64,131072]"]),
        (rows.softmax, ["bf16[64,131072]"]),
        (rows.softmax, ["f32[64,131071]"]),
        (rows.log_softmax, ["f32[64,131072]"]),
        (rows.layer_norm, ["bf16[64,131072]", "f32[131072]", "f32[131072]"]),
        (rows.cross_entropy, ["bf16[64,131072]", "i64[64]"]),
        (rows.softmax, ["f32[64,2000000]"]),
    ],
    ids=lambda value: getattr(value, "__name__", None) or value[0],
)
def test_long_rows_stay_in_registers(kernel, specs):
    report = kernel.lower(*specs, target="triton:sm90").report()
    assert report["legal"], report["reason"]
    assert report["spill_bytes"] == 0
