"""Rules for integer ops: what is known of a quotient or remainder is so for numbers of both signs."""

from __future__ import annotations

import itertools
import math

import pytest

from kopt.ir.index_expr import IndexExpr
from kopt.ir.ssa_rules import _rem, _truncdiv
from kopt.ir.value_range import ValueRange


def holds(found: IndexExpr | ValueRange, number: int) -> bool:
    """Whether what was found may be, or is, a number."""
    return found.number == number if isinstance(found, IndexExpr) else found.covers(ValueRange.exactly(number))


@pytest.mark.parametrize(("a", "b"), [*itertools.product(range(-9, 10), (-4, -3, -2, -1, 1, 2, 3, 4))])
def test_quotients_that_are_cut(a: int, b: int) -> None:
    assert holds(_truncdiv(IndexExpr(a), IndexExpr(b)), math.trunc(a / b))
    assert holds(_rem(IndexExpr(a), IndexExpr(b)), int(math.fmod(a, b)))
