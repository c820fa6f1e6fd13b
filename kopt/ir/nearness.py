"""Lanes that all lie near one number, or near one for each place: what that is, and how far from it they are.

``(row >> 7)·512 + (row & 31)·16`` of blocks of 128 rows is near ``4·begin``: 0 to 496 from it.
"""

from __future__ import annotations

from dataclasses import dataclass

from kopt.ir.atoms import Atom, Dims, Extremum, Lane, Select
from kopt.ir.division import FloorDiv, Mod, floordiv
from kopt.ir.index_expr import ZERO, IndexExpr
from kopt.ir.value_range import ValueRange


@dataclass(frozen=True)
class Near:
    """Every lane is ``base``, the same for all lanes of a place, and some of ``distance`` more."""

    base: IndexExpr
    distance: ValueRange

    def __add__(self, other: Near) -> Near:
        return Near(self.base + other.base, self.distance + other.distance)


def near(expr: IndexExpr, places: Dims = frozenset()) -> Near | None:
    """What the lanes are near; None where loaded numbers differ from lane to lane, or nothing tells.

    The lanes along ``places`` are asked of one by one: each place has a base of its own.
    """
    total = Near(ZERO, ValueRange.exactly(0))
    rest = IndexExpr(expr.const)
    for atom, factor in expr.terms.items():
        if atom.along <= places:
            rest = rest + IndexExpr(0, {atom: factor})
            continue
        found = _of_atom(atom, places) if isinstance(factor, int) else None
        if found is None:
            return None
        assert isinstance(factor, int)
        total = total + Near(found.base * factor, found.distance.times(factor))
    return Near(rest + total.base, total.distance)


def _of_atom(atom: Atom, places: Dims) -> Near | None:
    if isinstance(atom, FloorDiv) and (by := atom.divisor.number) and by > 0:
        return _quotient(atom, by, places)
    if isinstance(atom, Lane | Mod | Extremum | Select) and atom.range.is_bounded:
        return Near(ZERO, atom.range)
    return None


def _quotient(atom: FloorDiv, by: int, places: Dims) -> Near | None:
    """Of lanes in several groups, the quotient of the last is one more than the distance says, at most."""
    inner = near(atom.dividend, places)
    if inner is None or inner.distance.low is None or inner.distance.high is None:
        return None
    more = 0 if inner.base.divisor % by == 0 else by - 1
    return Near(floordiv(inner.base, by), ValueRange(inner.distance.low // by, (inner.distance.high + more) // by))
