"""Lane numbers out of choices: the sum counts them, the choices do not, and the numbers are the same."""

from __future__ import annotations

from random import Random

import pytest

from kopt.ir.atoms import Lane
from kopt.ir.choices import maximum, minimum, select, wrap
from kopt.ir.condition import compare, conjunction, disjunction
from kopt.ir.division import floordiv, mod
from kopt.ir.factoring import coarse, taken_out
from kopt.ir.index_expr import IndexExpr, lane, symbol
from test.ir.expressions import SHAPE, SIZE, cases, evaluated, guards, holds

s, t = symbol("s"), symbol("t")
inside = lane(1, 4)
four = Lane(1, 4)


@pytest.mark.parametrize("dim", [0, 1])
def test_numbers_stay_the_same(dim: int) -> None:
    for case in cases(150, seed=30):
        assert (evaluated(taken_out(case.expr, Lane(dim, SHAPE[dim]))) == case.value).all(), str(case.expr)


def test_conditions_stay_the_same() -> None:
    dims = Random(0)
    for guard in guards(150, seed=31):
        found = coarse(guard.condition, frozenset(dims.sample([0, 1], dims.randint(0, 2))))
        assert (holds(found) == guard.value).all(), str(guard.condition)


@pytest.mark.parametrize(
    "expr",
    [
        select(compare("gt", s, t), s + inside, t + inside),
        select(compare("gt", s * 4 + inside, 3), s * 4 + inside - 3, s * 4 + inside),
        minimum(s + inside, t + inside),
        maximum(s + inside, t * 2 + inside),
        wrap(32, s * 4 + inside),
        mod(wrap(32, s * 4 + inside), 100),
        mod(s * 4 + inside, t * 0 + 100),
        maximum(wrap(32, s * 4 + inside), wrap(32, t * 4 + inside)),
        floordiv(select(compare("gt", s, t), s * 8 + inside * 2, t * 8 + inside * 2 + 1) + s * 2, 2),
        mod(select(compare("gt", s, t), s * 4 + inside, t * 8 + inside) + s * 4, 100),
    ],
    ids=str,
)
def test_what_all_cases_count_is_in_the_sum(expr: IndexExpr) -> None:
    found = taken_out(expr, four)
    assert found.coefficient(four) == 1
    assert 1 not in (found - inside).along


@pytest.mark.parametrize(
    "expr",
    [
        minimum(s + inside, t),
        maximum(s + inside, t + inside * 2),
        select(compare("gt", s, t), s + inside, t - inside),
        wrap(32, s * 2 + inside),
        wrap(32, s + inside),
        wrap(32, s * 4 + inside + SIZE),
    ],
    ids=str,
)
def test_what_cases_count_otherwise_stays(expr: IndexExpr) -> None:
    """By other steps, or with a digit that may carry."""
    assert taken_out(expr, four) == expr


def test_choices_along_others_stay() -> None:
    expr = minimum(s + lane(0, 3), t + lane(0, 3)) + inside * 2
    assert taken_out(expr, four) == expr


def test_a_digit_has_the_constants_below_its_pitch() -> None:
    """Lanes 0 to 3 after 8·s + 3 stay in one group of 8, after 8·s + 5 they do not."""
    found = taken_out(wrap(32, s * 8 + inside + 3), four)
    assert found == wrap(32, s * 8) + inside + 3
    assert taken_out(wrap(32, s * 8 + inside + 5), four) == wrap(32, s * 8 + inside + 5)


@pytest.mark.parametrize(
    ("condition", "wanted"),
    [
        (compare("ge", s * 4 + inside, 0), compare("ge", s, 0)),
        (compare("gt", s * 4 + inside, 3), compare("gt", s, 0)),
        (compare("lt", s * 4 + inside, 8), compare("lt", s, 2)),
        (
            conjunction([compare("ge", s * 4 + inside, 0), compare("lt", s * 4 + inside, 40)]),
            conjunction([compare("ge", s, 0), compare("lt", s, 10)]),
        ),
        (
            disjunction([compare("lt", s * 4 + inside, 0), compare("ge", t * 4 + inside, 8)]),
            disjunction([compare("lt", s, 0), compare("ge", t, 2)]),
        ),
        (compare("ge", s * 2 + lane(1, 2), 0), compare("ge", s, 0)),
        (compare("ge", s * 4 + inside, 2), None),
        (compare("ge", s * 2 + inside, 0), None),
        (compare("eq", s * 4 + inside, 0), None),
    ],
    ids=str,
)
def test_coarse(condition, wanted) -> None:
    """Lanes go from comparisons at multiples of what they count in, and stay where they matter."""
    assert coarse(condition, frozenset({1})) == (condition if wanted is None else wanted)


def test_only_lanes_that_are_asked_for_go() -> None:
    condition = compare("ge", s * 4 + inside, 0)
    assert coarse(condition, frozenset({0})) == coarse(condition, frozenset()) == condition
