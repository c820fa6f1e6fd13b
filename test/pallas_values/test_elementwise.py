"""Every row of the elementwise table against NumPy, with special values, and compiled for chips."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from xdsl.dialects.builtin import f32, i1, i32

from kopt.dialects.tile import ELEMENTWISE, TABLE, TileType
from kopt.interpreter.elementwise import compute
from kopt.lowering.pallas.values import VALUES, elementwise
from test.pallas_values.support import assert_same, chips_for, compile_for_chips, run

SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.0, -2.0, 2.5, -3.5, 88.0, -88.0, 1e-30, 1e30, -1e30, 3e9]
NOT_FINITE = [np.inf, -np.inf, np.nan]
INTEGERS = [0, 1, -1, 2, -2, 3, -7, 8, 31, 127, -128, 1000003, -1000003, 2**31 - 1, -(2**31)]
SHAPE = (8, 128)
ROWS = {row.name: row for row in TABLE}
FLOAT_ROWS = [row.name for row in TABLE if row.rule.accepts(f32)]
INTEGER_ROWS = [row.name for row in TABLE if row.rule.accepts(i32)]
PREDICATE_ROWS = [row.name for row in TABLE if row.rule.accepts(i1)]
#: Powers round in the exponent, which costs digits of the result.
RTOL = {"exp2": 1e-5}
#: Of large angles the targets keep fewer digits: not tested.
TRIGONOMETRIC = ("sin", "cos", "tan")
SHIFTS = ("shl", "shr")
DIVIDING = ("floordiv", "truncdiv", "mod", "rem")


def _fill(values: list[float] | list[int], dtype) -> np.ndarray:
    """The values, repeated to the tests' shape."""
    return np.resize(np.array(values, dtype), SHAPE)


def _float_operands(name: str) -> list[np.ndarray]:
    rng = np.random.default_rng(7)
    values = [*SPECIAL, *NOT_FINITE]
    if name in TRIGONOMETRIC:
        values = [value for value in values if not abs(value) > 1e4]
    arity = ROWS[name].arity
    pairs = list(itertools.product(values, repeat=2)) if arity > 1 else [(value,) for value in values]
    wide = (rng.standard_normal((512, 2)) * np.exp(rng.uniform(-8, 4, (512, 2)))).tolist()
    if arity == 2:
        pairs = [*pairs, *wide]
    if arity == 3:
        pairs = [(a, b, 0.25) for a, b in [*pairs, *wide]]
    if arity == 1:
        pairs = [*pairs, *((value,) for pair in wide for value in pair)]
    return [_fill(list(column), np.float32) for column in zip(*pairs[: SHAPE[0] * SHAPE[1]], strict=True)]


def _integer_operands(name: str) -> list[np.ndarray]:
    if ROWS[name].arity == 1:
        return [_fill(INTEGERS, np.int32)]
    pairs = list(itertools.product(INTEGERS, repeat=2))
    if name in SHIFTS:
        pairs = [(a, b) for a, b in pairs if 0 <= b < 32]
    if name in DIVIDING:
        pairs = [(a, b) for a, b in pairs if b != 0 and (a, b) != (-(2**31), -1)]
    return [_fill(list(column), np.int32) for column in zip(*pairs, strict=True)]


def _computed(name: str, element, operands: list[np.ndarray]) -> np.ndarray:
    types = [TileType(SHAPE, element)] * len(operands)
    (found,) = run(types, operands, lambda *inputs: [ELEMENTWISE[name](*inputs)])
    return found


def test_no_row_is_missing() -> None:
    """Each row of the table has a spelling, and no spelling is left over."""
    assert {row.name for row in TABLE} == {name.partition(".")[0] for name in elementwise.TEMPLATES}
    assert all(op in VALUES for op in ELEMENTWISE.values())


@pytest.mark.parametrize("name", FLOAT_ROWS)
def test_floats(name: str) -> None:
    """f32 as NumPy computes it, NaN, infinities, zeros and large values included."""
    operands = _float_operands(name)
    expected = compute(name, *operands)
    with np.errstate(all="ignore"):
        expected = expected if expected.dtype == bool else expected.astype(np.float32)
    assert_same(_computed(name, f32, operands), expected, rtol=RTOL.get(name, 3e-6))


@pytest.mark.parametrize("name", INTEGER_ROWS)
def test_integers(name: str) -> None:
    """i32 as NumPy computes it: wrapping, and Python's floor division and remainder."""
    operands = _integer_operands(name)
    np.testing.assert_array_equal(_computed(name, i32, operands), compute(name, *operands))


@pytest.mark.parametrize("name", PREDICATE_ROWS)
def test_predicates(name: str) -> None:
    """i1: logic and comparisons."""
    pairs = list(itertools.product([False, True], repeat=ROWS[name].arity))
    operands = [_fill(list(column), np.bool_) for column in zip(*pairs, strict=True)]
    np.testing.assert_array_equal(_computed(name, i1, operands), compute(name, *operands))


@pytest.mark.slow
@pytest.mark.parametrize(("number", "shape"), list(enumerate([(16, 256), (40, 100), (64,), (256,), (), (2, 8, 128)])))
@pytest.mark.parametrize(("element", "rows"), [(f32, FLOAT_ROWS), (i32, INTEGER_ROWS), (i1, PREDICATE_ROWS)])
def test_compiles(number: int, shape: tuple[int, ...], element, rows: list[str]) -> None:
    """One kernel with every row compiles, for tiles of every rank."""
    builds = [lambda *inputs, name=name: [ELEMENTWISE[name](*inputs[: ROWS[name].arity])] for name in rows]
    assert not compile_for_chips([TileType(shape, element)] * 3, builds, chips_for(number))
