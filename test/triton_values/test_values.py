"""The emitted modules in Triton's interpreter give what the reference gives."""

from __future__ import annotations

import math

import pytest
import torch

from test.triton_values import cases
from test.triton_values.support import check, inputs, lower


@pytest.mark.parametrize("dtype, tolerance", [("f32", 1e-5), ("bf16", 1e-2), ("f16", 1e-3)])
def test_softmax(dtype, tolerance):
    check(cases.SOFTMAX.format(t=dtype), rtol=tolerance, atol=tolerance)


def test_softmax_of_a_row_with_nan():
    x = torch.randn(37, 100)
    x[5, 7], x[6, 99] = math.nan, math.inf
    check(cases.SOFTMAX.format(t="f32"), x)


def test_online_softmax():
    check(cases.ONLINE)


@pytest.mark.parametrize("dtype, acc", [("f32", "f32"), ("bf16", "f32"), ("f16", "f32"), ("i8", "i32"), ("f64", "f64")])
def test_matmul(dtype, acc):
    check(cases.MATMUL.format(m=50, k=70, n=40, bm=16, bn=32, bk=32, t=dtype, a=acc), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(
    "m, k, n, bm, bn, bk", [(5, 7, 3, 4, 2, 8), (33, 20, 17, 16, 16, 4), (200, 16, 40, 16, 16, 16)]
)
def test_small_and_grouped_matmul(m, k, n, bm, bn, bk):
    check(cases.MATMUL.format(m=m, k=k, n=n, bm=bm, bn=bn, bk=bk, t="f32", a="f32"), rtol=1e-4, atol=1e-4)


def test_bmm():
    check(cases.BMM, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kind", ["add", "max", "min", "mul"])
@pytest.mark.parametrize("dtype", ["f32", "i32", "i8"])
def test_reduce(kind, dtype):
    x = inputs(lower(cases.REDUCE.format(t=dtype, kind=kind)).signature.specs)[0]
    if dtype == "f32":
        x[2, 3, 4] = math.nan
    check(cases.REDUCE.format(t=dtype, kind=kind), x)


@pytest.mark.parametrize("kind", ["and", "or", "xor"])
@pytest.mark.parametrize("dtype", ["i32", "i1"])
def test_reduce_bits(kind, dtype):
    check(cases.REDUCE.format(t=dtype, kind=kind))


@pytest.mark.parametrize("kind", ["add", "mul", "max", "min"])
@pytest.mark.parametrize("dtype", ["f32", "i32", "i16"])
def test_scan(kind, dtype):
    check(cases.SCAN.format(t=dtype, kind=kind), rtol=1e-4)


@pytest.mark.parametrize("kind", ["max", "min"])
@pytest.mark.parametrize("dtype", ["f32", "i32"])
def test_argreduce(kind, dtype):
    x = torch.randint(-3, 3, (21, 11)).to(torch.float32 if dtype == "f32" else torch.int32)
    if dtype == "f32":
        x[3, 4], x[3, 9], x[4] = math.nan, math.nan, -math.inf
    check(cases.ARGREDUCE.format(t=dtype, kind=kind), x)


def test_shapes():
    check(cases.SHAPES)


def test_memory():
    check(cases.MEMORY, torch.randn(30, 20), torch.tensor([17], dtype=torch.int32))


def test_odd_blocks():
    check(cases.ODD_BLOCKS)


def test_control():
    check(cases.CONTROL, torch.randn(6, 40), torch.tensor([0, 3, 40, 17, 8, 33], dtype=torch.int32))


def test_gathers():
    rows, picks = torch.randint(0, 12, (19,)), torch.randint(0, 12, (19, 3)).to(torch.int32)
    check(cases.GATHERS, torch.randn(50, 12), rows, picks)


def test_host():
    source = check(cases.HOST)
    assert "f_1_kernel" not in source


@pytest.mark.parametrize("case", ["EMPTY", "TAKES_TAG", "UNITS"])
def test_corners(case):
    check(getattr(cases, case), rtol=1e-4, atol=1e-4)


VERIFIED = ["ONLINE", "BMM", "SHAPES", "MEMORY", "ODD_BLOCKS", "CONTROL", "GATHERS", "TAKES_TAG", "UNITS"]


@pytest.mark.parametrize("case", VERIFIED)
def test_every_stage_verifies(case):
    from kopt.api import parse
    from kopt.config import make_config
    from kopt.context import make_context
    from kopt.pass_manager import run
    from kopt.passes.pipelines import pipeline
    from kopt.targets.target import parse_target

    passes = pipeline(parse_target("triton:sm90"), make_config(None))
    run(parse(getattr(cases, case)), make_context(), passes, verify_each=True)


@pytest.mark.parametrize("first", [0, 1, 2])
def test_a_slice_from_a_loaded_number_on(first):
    check(cases.DYNAMIC_SLICE, torch.randn(13, 6), torch.tensor([first], dtype=torch.int32))
