"""Choices between index expressions, products of them, and what integer types hold of them."""

from __future__ import annotations

from kopt.ir.atoms import Extremum, Select, Wrap
from kopt.ir.condition import Condition
from kopt.ir.index_expr import IndexExpr, of_atom


def minimum(*exprs: IndexExpr) -> IndexExpr:
    """The least of some expressions; those that another is never above are left out."""
    return _extremum(False, exprs)


def maximum(*exprs: IndexExpr) -> IndexExpr:
    """The largest of some expressions."""
    return _extremum(True, exprs)


def select(condition: Condition, then: IndexExpr, otherwise: IndexExpr) -> IndexExpr:
    """One expression where a condition holds, another elsewhere."""
    if condition.known is not None:
        return then if condition.known else otherwise
    return then if then == otherwise else of_atom(Select(condition, then, otherwise))


def wrap(bits: int, expr: IndexExpr, signed: bool = True) -> IndexExpr:
    """What an integer type of ``bits`` holds of an expression: the same where it always fits."""
    if expr.range.fits(bits, signed):
        return expr
    for atom, factor in expr.terms.items():
        if isinstance(atom, Wrap) and atom.bits >= bits and isinstance(factor, int):
            return wrap(bits, expr - IndexExpr(0, {atom: factor}) + atom.inner * factor, signed)
    return of_atom(Wrap(bits, signed, expr))


def product(first: IndexExpr, second: IndexExpr) -> IndexExpr | None:
    """The product, where one of them is a number or made of block sizes."""
    if second.is_constant:
        return first * second.const
    return second * first.const if first.is_constant else None


def _extremum(largest: bool, exprs: tuple[IndexExpr, ...]) -> IndexExpr:
    flat: list[IndexExpr] = []
    for expr in exprs:
        inner = expr.atom
        flat += inner.operands if isinstance(inner, Extremum) and inner.largest == largest else (expr,)
    kept: list[IndexExpr] = []
    for expr in flat:
        if not any(_beats(other, expr, largest) for other in kept):
            kept = [other for other in kept if not _beats(expr, other, largest)] + [expr]
    return kept[0] if len(kept) == 1 else of_atom(Extremum(largest, tuple(kept)))


def _beats(first: IndexExpr, second: IndexExpr, largest: bool) -> bool:
    """Whether the first is never on the wrong side of the second."""
    least = (first - second if largest else second - first).range.low
    return least is not None and least >= 0
