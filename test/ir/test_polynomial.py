"""Coefficients compute as numbers do, whatever their parameters are."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from kopt.ir.polynomial import (
    Coefficient,
    Polynomial,
    content,
    parameter,
    parameters,
    quotient,
    range_of,
    sign,
    substituted,
)
from kopt.ir.value_range import ValueRange

SIZES = {"a": 3, "b": 8, "c": 1}
LEAVES = st.one_of(st.integers(-6, 6), st.sampled_from([parameter(name, ValueRange(1, 16)) for name in SIZES]))


def _computed(children):
    return st.builds(lambda op, a, b: op(a, b), st.sampled_from([_add, _sub, _mul]), children, children)


def _add(a, b):
    return a + b


def _sub(a, b):
    return a - b


def _mul(a, b):
    return a * b


COEFFICIENTS = st.recursive(LEAVES, _computed, max_leaves=6)


def value(one: Coefficient) -> int:
    found = substituted(one, SIZES)
    assert isinstance(found, int)
    return found


@settings(max_examples=300, deadline=None)
@given(COEFFICIENTS, COEFFICIENTS)
def test_arithmetic(a: Coefficient, b: Coefficient) -> None:
    assert all(value(op(a, b)) == op(value(a), value(b)) for op in (_add, _sub, _mul))
    assert (a + b) - b == a and hash((a + b) - b) == hash(a)
    assert value(a) in range_of(a)
    assert content(a) == 0 or value(a) % content(a) == 0


@settings(max_examples=300, deadline=None)
@given(COEFFICIENTS, COEFFICIENTS)
def test_quotients_are_exact(a: Coefficient, b: Coefficient) -> None:
    found = quotient(a, b)
    assert found is None or found * b == a
    if isinstance(b, int) and b or isinstance(b, Polynomial) and len(b.terms) == 1:
        assert quotient(a * b, b) == a


def test_numbers_are_numbers() -> None:
    size = parameter("a")
    assert size - size == 0 and isinstance(2 * size - size - size + 4, int)
    assert str(2 * size * size + 3) == "2·a^2 + 3"
    assert {one.name for one in parameters(size * parameter("b"))} == {"a", "b"}


def test_signs_are_those_of_all_values() -> None:
    size, rest = parameter("a", ValueRange(1, 16)), parameter("b", ValueRange(0, 7))
    assert [sign(each) for each in (size, size + rest, -1 * size, rest, size - rest, 3, 0, -3)] == [
        1,
        1,
        -1,
        0,
        0,
        1,
        0,
        -1,
    ]
