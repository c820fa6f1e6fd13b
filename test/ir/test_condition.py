"""Conditions on index expressions, beside all numbers that these may be."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import product
from typing import Any

import numpy as np
import pytest

from kopt.ir.choices import select
from kopt.ir.condition import (
    FALSE,
    TRUE,
    Comparison,
    Condition,
    Named,
    Relation,
    compare,
    comparison,
    conjunction,
    disjunction,
    known_where,
)
from kopt.ir.evaluation import Evaluation, evaluate
from kopt.ir.index_expr import IndexExpr, number, symbol
from kopt.ir.value_range import ValueRange

SHAPE = (9, 5)
ARRAYS: dict[Hashable, Any] = {"a": np.arange(-4, 5), "b": np.arange(5), "even": np.arange(9) % 2 == 0}
A, B = symbol("a", [0], ValueRange(-4, 4)), symbol("b", [1], ValueRange(0, 4))
#: Of no known end.
FREE = symbol("a", [0])


def holds(condition: Condition) -> np.ndarray:
    """Where a condition holds, of all pairs of numbers."""
    return np.broadcast_to(Evaluation(ARRAYS, SHAPE).condition(condition), SHAPE)


def numbers(expr: IndexExpr) -> np.ndarray:
    """What an expression is, for all pairs."""
    return np.broadcast_to(evaluate(expr, ARRAYS, SHAPE), SHAPE)


LINEAR = [A * x + B * y + z for x, y, z in product((-4, -1, 0, 2), (-2, 0, 1, 6), (-3, 0, 1, 4))]
RELATIONS: dict[Relation, Any] = {"ge": np.greater_equal, "eq": np.equal, "ne": np.not_equal}


@pytest.mark.parametrize("relation", RELATIONS)
def test_comparisons_and_their_opposites(relation) -> None:
    for expr in LINEAR:
        wanted, condition = RELATIONS[relation](numbers(expr), 0), comparison(relation, expr)
        np.testing.assert_array_equal(holds(condition), wanted)
        np.testing.assert_array_equal(holds(condition.negated()), ~wanted)
        assert condition.negated().negated() == condition


@pytest.mark.parametrize("relation", RELATIONS)
def test_ranges_hold_all_numbers_for_which_a_condition_holds(relation) -> None:
    for condition_of, expr in product(LINEAR[::3], LINEAR[::2]):
        where = holds(condition := comparison(relation, condition_of))
        left = numbers(expr)[where]
        found = condition.range_of(expr)
        assert all(int(each) in found for each in np.unique(left))
        for other, test in RELATIONS.items():
            known = known_where(comparison(other, expr), condition)
            if known is not None and left.size:
                assert bool(test(left, 0).all()) is known and bool(test(left, 0).any()) is known


@pytest.mark.parametrize(
    ("condition", "expr", "low", "high"),
    [
        (compare("lt", FREE, number(10)), FREE, None, 9),
        (compare("ge", FREE, number(3)), FREE, 3, None),
        (compare("lt", FREE * 3, number(10)), FREE, None, 3),
        (compare("ge", FREE, number(3)), FREE * 4 + 1, 13, None),
        (compare("ge", FREE, number(3)), FREE * -4 + 1, None, -11),
        (compare("eq", FREE, number(3)), FREE * 4 + 1, 13, 13),
        (compare("eq", FREE, B), FREE, 0, 4),
        (compare("ne", FREE, number(3)), FREE, None, None),
        (compare("lt", FREE, B), FREE, None, 3),
        (compare("lt", FREE + B, number(7)), FREE * 2 + B, None, 12),
    ],
)
def test_ranges_are_tight(condition: Condition, expr: IndexExpr, low: int | None, high: int | None) -> None:
    found = condition.range_of(expr)
    assert (found.low, found.high) == (low, high)


def test_ranges_of_several_conditions() -> None:
    least, most = compare("ge", FREE, number(2)), compare("le", FREE, number(5))
    assert conjunction([least, most]).range_of(FREE).low == 2 and conjunction([least, most]).range_of(FREE).high == 5
    either = disjunction([compare("eq", FREE, number(2)), compare("eq", FREE, number(9))]).range_of(FREE)
    assert (either.low, either.high) == (2, 9)


@pytest.mark.parametrize(
    ("condition", "where", "known"),
    [
        (compare("ge", FREE, number(0)), compare("ge", FREE, number(0)), True),
        (compare("ge", FREE, number(0)), compare("ge", FREE, number(1)), True),
        (compare("ge", FREE, number(1)), compare("ge", FREE, number(0)), None),
        (compare("lt", FREE, number(0)), compare("ge", FREE, number(0)), False),
        (compare("eq", FREE, number(3)), compare("eq", FREE, number(3)), True),
        (compare("ne", FREE, number(3)), compare("eq", FREE, number(3)), False),
        (compare("eq", FREE, number(3)), compare("ge", FREE, number(4)), False),
        (compare("ne", FREE, number(3)), compare("ge", FREE, number(4)), True),
        (compare("ne", FREE, number(3)), compare("ge", FREE, number(3)), None),
        (Named("even", (0,)), compare("ge", FREE, number(3)), None),
        (TRUE, compare("ge", FREE, number(3)), True),
        (FALSE, compare("ge", FREE, number(3)), False),
    ],
)
def test_what_one_condition_tells_of_another(condition: Condition, where: Condition, known: bool | None) -> None:
    assert known_where(condition, where) is known


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_choice_is_compared_by_its_condition(relation) -> None:
    even = Named("even", (0,))
    for then, otherwise, factor, more in product((0, 1, 3), (0, 1), (-2, 1), (-1, 0, 2)):
        expr = select(even, number(then), number(otherwise)) * factor + more
        condition, wanted = comparison(relation, expr), RELATIONS[relation](numbers(expr), 0)
        np.testing.assert_array_equal(holds(condition), wanted)
        assert isinstance(condition, Named) or wanted.all() or not wanted.any()


def test_no_number_is_a_multiple_of_what_it_is_not() -> None:
    assert comparison("eq", FREE * 4 + 2) == FALSE and comparison("ne", FREE * 4 + 2) == TRUE
    assert isinstance(comparison("eq", FREE * 4 + 8), Comparison) and comparison("eq", FREE * 4 + 8) == comparison(
        "eq", FREE + 2
    )
    assert comparison("ge", FREE * 4 + 7) == comparison("ge", FREE + 1)
    assert comparison("ge", FREE * 2 - 1) == comparison("ge", FREE - 1)


def test_conditions_together() -> None:
    low, high, even = compare("ge", FREE, number(0)), compare("lt", FREE, number(4)), Named("even", (0,))
    assert conjunction([]) == TRUE and disjunction([]) == FALSE
    assert conjunction([low]) == low == disjunction([low]) == conjunction([low, low, TRUE])
    assert conjunction([low, FALSE]) == FALSE and disjunction([low, TRUE]) == TRUE
    assert conjunction([low, low.negated()]) == FALSE and disjunction([even, even.negated()]) == TRUE
    assert conjunction([low, conjunction([high, even])]) == conjunction([even, high, low])
    assert hash(conjunction([low, high])) == hash(conjunction([high, low]))
    assert conjunction([low, high]) != disjunction([low, high]) and conjunction([low, high]) != conjunction([low, even])
    assert conjunction([low, high]).along == {0} and even.along == {0} and TRUE.along == set()
    assert set(conjunction([low, high]).parts) == {*low.parts, *high.parts}
    for condition in (
        conjunction([low, high]),
        disjunction([low, even]),
        conjunction([even, disjunction([low, high])]),
    ):
        np.testing.assert_array_equal(holds(condition.negated()), ~holds(condition))


def test_conditions_in_messages() -> None:
    low, even = compare("ge", FREE, number(2)), Named("even", (0,))
    assert str(low) == "a[0] + -2 >= 0" and str(compare("eq", FREE, number(0))) == "a[0] == 0"
    assert str(compare("ne", FREE, number(0))) == "a[0] != 0"
    assert str(even) == "even[0]" and str(even.negated()) == "not even[0]" and str(Named("n")) == "n"
    assert str(conjunction([low, even])) == "(a[0] + -2 >= 0 and even[0])"
    assert str(disjunction([low, even])) == "(a[0] + -2 >= 0 or even[0])"
