"""The emitted modules compile for GPUs that are not here."""

from __future__ import annotations

import itertools

import pytest

from test.rotating import rotating
from test.triton_values import cases
from test.triton_values.support import assert_legal

PLAIN = ["ONLINE", "BMM", "SHAPES", "MEMORY", "ODD_BLOCKS", "CONTROL", "GATHERS", "EMPTY", "UNITS"]
PRODUCTS = [("f32", "f32"), ("bf16", "f32"), ("f64", "f64"), ("i8", "i32"), ("f8E5M2", "f32")]
KINDS = [("max", "f32"), ("mul", "f32"), ("add", "i8"), ("or", "i1"), ("and", "i32")]
OTHERS = ("gfx942", "sm80", "sm100")


@pytest.mark.slow
@pytest.mark.parametrize(("case", "chip"), rotating(PLAIN, "sm90", OTHERS))
def test_cases(case, chip):
    assert_legal(getattr(cases, case), (chip,))


@pytest.mark.parametrize("chip", ["sm90", "gfx942"])
def test_softmax(chip):
    assert_legal(cases.SOFTMAX.format(t="bf16"), (chip,))


@pytest.mark.slow
@pytest.mark.parametrize(("types", "chip"), rotating(PRODUCTS, "sm90", OTHERS))
def test_matmul(types, chip):
    dtype, acc = types
    assert_legal(cases.MATMUL.format(m=50, k=70, n=40, bm=16, bn=32, bk=32, t=dtype, a=acc), (chip,))


def test_a_chip_without_e4m3_multiplies_it():
    assert_legal(cases.MATMUL.format(m=50, k=70, n=40, bm=16, bn=32, bk=32, t="f8E4M3FN", a="f32"), ("sm80",))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "chip"),
    rotating([*itertools.product(("REDUCE",), KINDS), *itertools.product(("SCAN",), KINDS[:2])], "sm90", OTHERS),
)
def test_reductions(case, chip):
    name, (kind, dtype) = case
    assert_legal(getattr(cases, name).format(t=dtype, kind=kind), (chip,))


@pytest.mark.slow
def test_argreduce():
    assert_legal(cases.ARGREDUCE.format(t="f32", kind="max"), ("sm90", "gfx942"))
