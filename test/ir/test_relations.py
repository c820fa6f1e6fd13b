"""Access relations by hand: whether all lanes are in bounds, which cases there are, and what cannot wrap."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import product
from typing import Any

import numpy as np
import pytest

from kopt.ir.access_relation import AccessRelation, settled
from kopt.ir.choices import select, wrap
from kopt.ir.condition import FALSE, TRUE, Condition, Named, compare, conjunction
from kopt.ir.evaluation import evaluate
from kopt.ir.index_expr import IndexExpr, lane, number, symbol
from kopt.ir.value_range import ValueRange
from kopt.open_extents import OpenExtent

L, M = lane(0, 4), lane(1, 8)
NEAR, FREE = symbol("n", range=ValueRange(0, 6)), symbol("s")


@pytest.mark.parametrize(
    ("shape", "indices", "domain", "inside"),
    [
        ((10,), (L,), TRUE, True),
        ((10,), (L + 6,), TRUE, True),
        ((10,), (L + 7,), TRUE, False),
        ((10,), (L - 1,), TRUE, False),
        ((10,), (L + 7,), compare("lt", L, number(3)), True),
        ((10,), (L + 7,), compare("lt", L, number(4)), False),
        ((10,), (L - 1,), compare("ge", L, number(1)), True),
        ((10,), (3 - L,), TRUE, True),
        ((10,), (2 - L,), TRUE, False),
        ((10,), (NEAR + L,), TRUE, True),
        ((9,), (NEAR + L,), TRUE, False),
        ((10,), (FREE,), TRUE, False),
        ((10,), (FREE,), conjunction([compare("ge", FREE, number(0)), compare("lt", FREE, number(10))]), True),
        ((10,), (FREE,), conjunction([compare("ge", FREE, number(0)), compare("le", FREE, number(10))]), False),
        ((10,), (FREE,), compare("ge", FREE, number(0)), False),
        ((10,), (FREE,), FALSE, True),
        ((4, 8), (L, M), TRUE, True),
        ((4, 8), (M, L), TRUE, False),
        ((8, 4), (M, L), TRUE, True),
        ((8, 4), (L, M), TRUE, False),
        ((OpenExtent("x.size(0)"), 8), (number(0), M), TRUE, False),
    ],
)
def test_lanes_in_bounds(shape, indices: tuple[IndexExpr, ...], domain: Condition, inside: bool) -> None:
    assert AccessRelation(shape, (4, 8), indices, domain).in_bounds is inside


SMALL: dict[Hashable, Any] = {"s": np.arange(-300, 300)}


@pytest.mark.parametrize("extent", [1, 5, 64, 120, 127, 128, 129, 200])
def test_what_cannot_wrap_names_the_same_elements(extent: int) -> None:
    """Where a number without wrapping differs from the one that wraps, neither is an element of the array."""
    s, along = symbol("s", [0]), lane(1, 8)
    simpler = 0
    for factor, step, more in product((1, 16, -3), (1, -2, 0), (-9, 0, 7, 100)):
        index = wrap(8, s * factor + along * step + more)
        numbers, kept = (
            np.broadcast_to(evaluate(each, SMALL, (600, 8)), (600, 8)) for each in (index, settled(index, extent))
        )
        simpler += settled(index, extent) != index
        named = ((0 <= numbers) & (numbers < extent)) | ((0 <= kept) & (kept < extent))
        np.testing.assert_array_equal(numbers[named], kept[named])
    assert (simpler > 0) is (extent <= 120)


def test_lanes_leave_a_wrap_where_the_rest_stays_in_it() -> None:
    assert settled(wrap(32, FREE * 16 + L), 100) == wrap(32, FREE * 16) + L
    assert settled(wrap(32, FREE * 16 + L - 2) + 5, 100) == wrap(32, FREE * 16) + L + 3
    assert settled(FREE + L, 100) == FREE + L
    # An array that the type cannot count: what is added after the wrap stays there.
    assert settled(wrap(8, FREE) + 5, 200) == wrap(8, FREE) + 5


EVEN, LOW = Named("even", (0,)), compare("lt", FREE, number(3))


def test_cases_of_selects() -> None:
    index = select(EVEN, L, L + 4)
    pieces = AccessRelation((10,), (4,), (index,), TRUE).pieces
    assert {(guard, piece.indices) for guard, piece in pieces} == {(EVEN, (L,)), (EVEN.negated(), (L + 4,))}


def test_a_condition_of_two_selects_is_one_case_for_both() -> None:
    indices = (select(LOW, L, L + 1), select(LOW, M, M + 1))
    pieces = AccessRelation((10, 10), (4, 8), indices, TRUE).pieces
    assert {(guard, piece.indices) for guard, piece in pieces} == {
        (LOW, (L, M)),
        (LOW.negated(), (L + 1, M + 1)),
    }


def test_more_cases_than_are_followed_are_one() -> None:
    index = sum((select(Named(n, (0,)), number(1), number(0)) * (n + 2) for n in range(12)), L)
    relation = AccessRelation((1000,), (4,), (index,), TRUE)
    assert relation.pieces == ((TRUE, relation),)


@pytest.mark.parametrize(
    ("shape", "lanes", "indices", "runs"),
    [
        ((64,), (8,), (lane(0, 8),), 1),
        ((64,), (8,), (lane(0, 8) * 2,), 8),
        ((8, 8), (4, 8), (lane(0, 4), lane(1, 8)), 1),
        ((8, 16), (4, 8), (lane(0, 4), lane(1, 8)), 4),
        ((8, 8), (4, 8), (lane(0, 4) * 2, lane(1, 8)), 4),
        ((64, 8), (4, 8), (symbol("rows", [0]), lane(1, 8)), 4),
        ((64, 64), (4, 8), (symbol("rows", [0]), symbol("columns", [1])), 32),
        ((64, 8), (1, 8), (symbol("rows", [0]), lane(1, 8)), 1),
    ],
)
def test_runs(shape, lanes, indices, runs: int) -> None:
    assert AccessRelation(shape, lanes, indices, TRUE).runs == runs
