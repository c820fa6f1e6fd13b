"""Index maps: the number of a block as an affine expression of the grid's dimensions, and of further numbers.

Pure. ``d0`` is the number of a cell along the first dimension, ``s0`` the first `IndexNumber`. Division and remainder
by numbers are allowed: ``tile.id %h floordiv 4`` is ``d0 floordiv 4``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from xdsl.ir import SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineExpr,
    AffineSymExpr,
)

from kopt.ir.atoms import Atom, BlockNumber
from kopt.ir.division import FloorDiv, Mod
from kopt.ir.index_expr import IndexExpr

#: The affine expression of an atom that is no quotient, or None where it has none.
Leaf = Callable[[Atom], AffineExpr | None]


@dataclass(frozen=True)
class IndexNumber:
    """A number that an index map computes: it loads ``memory[at]``, or takes the least or largest of ``at``.

    All is over the grid, and over the numbers before it.
    """

    kind: Literal["load", "min", "max"]
    at: tuple[AffineExpr, ...]
    memory: SSAValue | None = None


def over_axes(form: IndexExpr, axes: Sequence[SSAValue], other: Leaf = lambda atom: None) -> AffineExpr | None:
    """An index as an affine expression of the block numbers of some ranges, and of ``other`` atoms; else None."""

    def leaf(atom: Atom) -> AffineExpr | None:
        if isinstance(atom, BlockNumber):
            return AffineExpr.dimension(axes.index(atom.name)) if atom.name in axes else None
        return other(atom)

    return _affine(form, leaf)


def _affine(form: IndexExpr, leaf: Leaf) -> AffineExpr | None:
    if not isinstance(form.const, int):
        return None
    total = AffineExpr.constant(form.const) if form.const or not form.terms else None
    for atom, coefficient in form.terms.items():
        part = _quotient(atom, leaf) if isinstance(atom, FloorDiv | Mod) else leaf(atom)
        if part is None or not isinstance(coefficient, int):
            return None
        part = part if coefficient == 1 else part * coefficient
        total = part if total is None else total + part
    return total


def _quotient(atom: FloorDiv | Mod, leaf: Leaf) -> AffineExpr | None:
    dividend, divisor = _affine(atom.dividend, leaf), atom.divisor.number
    if dividend is None or divisor is None or divisor < 1:
        return None
    return dividend // divisor if isinstance(atom, FloorDiv) else dividend % divisor


def is_injective(index: AffineExpr) -> bool:
    """Whether a block number is different for different values of the one grid dimension that it uses."""
    return len(index.used_dims()) == 1 and "floordiv" not in str(index) and "mod" not in str(index)


def used_dims(indices: Iterable[AffineExpr], numbers: Sequence[IndexNumber] = ()) -> frozenset[int]:
    """The dimensions of the grid that indices depend on, through numbers too."""
    found: set[int] = set()
    for index in indices:
        found |= index.used_dims()
        for symbol in used_symbols(index):
            found |= used_dims(numbers[symbol].at, numbers)
    return frozenset(found)


def used_symbols(index: AffineExpr) -> frozenset[int]:
    """The numbers that an index is made of."""
    return frozenset(part.position for part in index.dfs() if isinstance(part, AffineSymExpr))


def divisor(expr: AffineExpr) -> int:
    """What divides an affine number, whatever its dimensions are; 0 of the number 0."""
    if isinstance(expr, AffineConstantExpr):
        return abs(expr.value)
    if isinstance(expr, AffineBinaryOpExpr):
        lhs, rhs = divisor(expr.lhs), divisor(expr.rhs)
        return {AffineBinaryOpKind.Add: math.gcd(lhs, rhs), AffineBinaryOpKind.Mul: lhs * rhs}.get(expr.kind, 1)
    return 1
