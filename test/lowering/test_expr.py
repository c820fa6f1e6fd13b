"""Expressions bind as they were put together, and numbers are the shortest texts of their values."""

from __future__ import annotations

import ast
import math
from random import Random

import ml_dtypes
import numpy as np
import pytest
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, bf16, f16, f32, f64, i1, i32

from kopt.lowering.expr import JNP, Expr, add, known, literal, number, place, spell, subtract, template, times
from test.lowering.trees import tree

X, Y = Expr("x"), Expr("y")
TYPES = {f16: np.float16, bf16: ml_dtypes.bfloat16, f32: np.float32, f64: np.float64}


def test_precedence_is_that_of_the_tree() -> None:
    random = Random(1)
    for _ in range(2000):
        expr, full = tree(random, random.randrange(1, 5))
        assert ast.dump(ast.parse(expr.text)) == ast.dump(ast.parse(full)), expr.text


@pytest.mark.parametrize(
    ("text", "operands", "expected"),
    [
        ("{0} + {1}", ("x - y", "x - y"), "x - y + (x - y)"),
        ("{0} * {1}", ("x - y", "x * y"), "(x - y) * (x * y)"),
        ("{0} < {1}", ("x < y", "x + y"), "(x < y) < x + y"),
        ("~{0}", ("-x", ""), "~(-x)"),
        ("f({0}, {1})", ("x < y", "-x"), "f(x < y, -x)"),
        ("{0}.T", ("x + y", ""), "(x + y).T"),
        ("{0}", ("x + y", ""), "x + y"),
        ("jnp.where({0} < {1}, {1}, {0})", ("x", "x + y"), "jnp.where(x < x + y, x + y, x)"),
    ],
)
def test_parentheses_stand_where_precedence_wants_them(text: str, operands: tuple[str, ...], expected: str) -> None:
    exprs = [spell(operand.replace("x", "{0}").replace("y", "{1}") or "{0}", X, Y) for operand in operands]
    assert spell(text, *exprs).text == expected


def test_templates_know_their_helpers_and_what_they_repeat() -> None:
    read = template("_divided(jnp.floor_divide, {0}, _sign({1}) + {0}.f_(x._g(2)))")
    assert read.helpers == ("_divided", "_sign")
    assert [read.is_repeated(number) for number in (0, 1, 2)] == [True, False, False]


def test_integers_are_folded() -> None:
    zero, one, two = (number(value) for value in (0, 1, 2))
    shorter = [add(X, zero), add(zero, X), subtract(X, zero), times(X, one), times(one, X)]
    assert shorter == [X] * 5
    assert [expr.text for expr in (add(one, two), subtract(one, two), times(zero, X))] == ["3", "-1", "0"]
    mask = known("{0} & {1}", lambda left, right: left & right)
    assert [mask(X, one).text, mask(two, one).text] == ["x & 1", "0"]
    assert [add(X, Y).text, subtract(zero, X).text, times(two, X).text] == ["x + y", "0 - x", "2 * x"]


def test_shapes_join_and_are_placed() -> None:
    row, column = Expr("r", shape=(8,)), Expr("c", shape=(4,))
    both = spell("{0} * {1}", place(row, [1], 2), place(column, [0], 2))
    assert (both.text, both.shape) == ("r[None, :] * c[:, None]", (4, 8))
    assert place(X, [1], 2) == X
    assert spell("f({0})", both, shape=()).shape == ()


@pytest.mark.parametrize(
    ("attr", "plain", "jnp"),
    [
        (FloatAttr(0.3, f32), "0.3", "0.3"),
        (FloatAttr(0.3, f64), "0.3", "0.3"),
        (FloatAttr(0.3, bf16), "0.3", "0.3"),
        (FloatAttr(-0.0, f32), "-0.0", "-0.0"),
        (FloatAttr(-math.inf, f32), 'float("-inf")', "-jnp.inf"),
        (FloatAttr(math.nan, f32), 'float("nan")', "jnp.nan"),
        (IntegerAttr(-7, i32), "-7", "-7"),
        (IntegerAttr(1, i1), "True", "True"),
    ],
)
def test_literals(attr: FloatAttr | IntegerAttr, plain: str, jnp: str) -> None:
    assert (literal(attr).text, literal(attr, JNP).text) == (plain, jnp)


def test_numbers_without_a_type_are_f64() -> None:
    assert [number(each).text for each in (0.1, 1e-300, 1 / 3, 2, math.inf)] == [
        "0.1", "1e-300", "0.3333333333333333", "2", 'float("inf")'
    ]  # fmt: skip


@pytest.mark.parametrize("type", TYPES, ids=str)
def test_numbers_are_read_back_to_the_same_bits(type) -> None:
    """Read as an f64, at once or by way of an f32; and no text is longer than that of the f64."""
    numpy, random = np.dtype(TYPES[type]), np.random.default_rng(2)
    bits = random.integers(0, 1 << 8 * numpy.itemsize, 3000, dtype=np.uint64).astype(f"u{numpy.itemsize}")
    for value in bits.view(numpy):
        if not math.isfinite(float(value)):
            continue
        text = number(float(value), type).text
        read = [float(text), float(np.float32(text))] if type != f64 else [float(text)]
        assert {numpy.type(each).tobytes() for each in read} == {value.tobytes()}, text
        assert len(text) <= len(repr(float(value)))
