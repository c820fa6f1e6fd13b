"""Quotients and remainders of index expressions, taken apart as far as ranges allow. Python's ``//`` and ``%``.

(8·a + b) // 8 -> a + b // 8        (8·a + b) % 8 -> b % 8
(4·a + b) // 8 -> a // 2            where b is known to be 0 to 3
(a // 2) // 4  -> a // 8            (a % 8) // 2 -> (a // 2) % 4
a - 8·(a // 8) -> a % 8             8·(a // 8) + a % 8 -> a
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import gcd, prod

from kopt.cached_property import cached_property
from kopt.ir.atoms import Atom, Computed
from kopt.ir.index_expr import ZERO, IndexExpr, of_atom
from kopt.ir.polynomial import Coefficient, content, quotient, sign
from kopt.ir.value_range import ValueRange


@dataclass(frozen=True)
class _Division(Computed):
    dividend: IndexExpr
    divisor: IndexExpr

    divides = True

    @property
    def parts(self) -> tuple[IndexExpr, ...]:
        return self.dividend, self.divisor


@dataclass(frozen=True)
class FloorDiv(_Division):
    """A quotient rounded towards minus infinity: Python's ``//``."""

    @cached_property
    def range(self) -> ValueRange:
        """What the quotient may be."""
        return self.dividend.range // self.divisor.range

    def joined(self, expr: IndexExpr) -> IndexExpr | None:
        return None if self.divisor.terms else _join_quotient(_without(expr, self), self, expr.terms[self])

    def __str__(self) -> str:
        return f"({self.dividend}) // {self.divisor}"


@dataclass(frozen=True)
class Mod(_Division):
    """A remainder with the divisor's sign: Python's ``%``."""

    @cached_property
    def range(self) -> ValueRange:
        """What the remainder may be."""
        return self.dividend.range % self.divisor.range

    @property
    def open_end(self) -> Coefficient | None:
        if not self.divisor.is_constant or isinstance(self.divisor.const, int):
            return None
        return self.divisor.const - 1 if sign(self.divisor.const) > 0 else None

    def joined(self, expr: IndexExpr) -> IndexExpr | None:
        return None if self.divisor.terms else _join_remainder(_without(expr, self), self, expr.terms[self])

    def __str__(self) -> str:
        return f"({self.dividend}) % {self.divisor}"


def floordiv(expr: IndexExpr, by: IndexExpr | Coefficient) -> IndexExpr:
    """The quotient rounded towards minus infinity."""
    if expr == ZERO:
        return ZERO
    if not isinstance(by, IndexExpr):
        by = IndexExpr(by)
    if not _is_divisor(by):
        return IndexExpr(1) if expr == by and 0 not in by.range else of_atom(FloorDiv(expr, by))
    if isinstance(by.const, int) and by.const < 0:
        return floordiv(-expr, -by)
    whole, rest = _split(expr, by.const)
    if (periods := _periods(rest, by.const)) is not None:
        return whole + periods
    return whole + _quotient(rest, by.const)


def mod(expr: IndexExpr, by: IndexExpr | Coefficient) -> IndexExpr:
    """The remainder with the divisor's sign."""
    if expr == ZERO:
        return ZERO
    if not isinstance(by, IndexExpr):
        by = IndexExpr(by)
    if not _is_divisor(by):
        return ZERO if expr == by else of_atom(Mod(expr, by))
    if isinstance(by.const, int) and by.const < 0:
        return -mod(-expr, -by)
    _, rest = _split(expr, by.const)
    if (periods := _periods(rest, by.const)) is not None:
        return rest - by.const * periods
    return _remainder(rest, by.const)


def delinearized(expr: IndexExpr, shape: Sequence[Coefficient]) -> tuple[IndexExpr, ...]:
    """The element numbers in a row-major array of ``shape``; inner ones stay inside their dimensions."""
    digits: list[IndexExpr] = []
    for size in reversed(shape[1:]):
        digits.append(mod(expr, size))
        expr = floordiv(expr, size)
    return (expr, *reversed(digits)) if shape else ()


def _is_divisor(by: IndexExpr) -> bool:
    """Whether it is a number, or one that block sizes make and that is not 0."""
    return by.is_constant and (isinstance(by.const, int) or 0 not in by.range)


def _split(expr: IndexExpr, by: Coefficient) -> tuple[IndexExpr, IndexExpr]:
    """The multiples of ``by`` among the terms, divided; and the rest."""
    whole: dict[Atom, Coefficient] = {}
    rest: dict[Atom, Coefficient] = {}
    for atom, factor in expr.terms.items():
        part = quotient(factor, by)
        if part is None:
            rest[atom] = factor
        else:
            whole[atom] = part
    if isinstance(expr.const, int) and isinstance(by, int) and by:
        return IndexExpr(expr.const // by, whole), IndexExpr(expr.const % by, rest)
    part = quotient(expr.const, by)
    return IndexExpr(part or 0, whole), IndexExpr(expr.const if part is None else 0, rest)


def _periods(rest: IndexExpr, by: Coefficient) -> int | None:
    """The quotient of a number that is known to have one quotient only."""
    known = rest.range
    if isinstance(by, int):
        if by == 0 or known.low is None or known.high is None:
            return None
        return known.low // by if known.low // by == known.high // by else None
    return 0 if rest.range.is_natural and (by - 1 - rest).range.is_natural else None


def _quotient(rest: IndexExpr, by: Coefficient) -> IndexExpr:
    if not isinstance(by, int) or by == 0:
        return of_atom(FloorDiv(rest, IndexExpr(by)))
    for scale, coarse, _ in _groups(rest, by):
        return floordiv(coarse, by // scale)
    inner = _inner(rest)
    if isinstance(inner, FloorDiv) and (divisor := inner.divisor.number) is not None and divisor > 0:
        assert isinstance(rest.const, int)
        return floordiv(inner.dividend + rest.const * divisor, divisor * by)
    if isinstance(inner, Mod) and rest.const == 0 and (period := inner.divisor.number) and period % by == 0:
        return mod(floordiv(inner.dividend, by), period // by)
    return of_atom(FloorDiv(rest, IndexExpr(by)))


def _remainder(rest: IndexExpr, by: Coefficient) -> IndexExpr:
    if not isinstance(by, int) or by == 0:
        return of_atom(Mod(rest, IndexExpr(by)))
    for scale, coarse, fine in _groups(rest, by):
        return mod(coarse, by // scale) * scale + fine
    for atom, factor in rest.terms.items():
        period = atom.divisor.number if isinstance(atom, Mod) and isinstance(factor, int) else None
        if isinstance(atom, Mod) and period and (factor * period) % by == 0:  # pyright: ignore[reportOperatorIssue]
            return mod(rest - IndexExpr(0, {atom: factor}) + atom.dividend * factor, by)
    return of_atom(Mod(rest, IndexExpr(by)))


def _inner(rest: IndexExpr) -> Atom | None:
    """The only atom of a sum, counted once, beside a number."""
    if len(rest.terms) != 1 or not isinstance(rest.const, int):
        return None
    ((atom, factor),) = rest.terms.items()
    return atom if factor == 1 else None


def _groups(rest: IndexExpr, by: int) -> Iterator[tuple[int, IndexExpr, IndexExpr]]:
    """A sum as ``scale · coarse + fine``, ``fine`` from 0 to below ``scale``, a divisor of ``by``; largest first."""
    scales = {gcd(content(factor), by) for factor in rest.terms.values()} - {1, by}
    for scale in sorted(scales, reverse=True):
        coarse, fine = _split(rest, scale)
        if ValueRange(0, scale - 1).covers(fine.range):
            yield scale, coarse, fine


def _without(expr: IndexExpr, atom: Atom) -> IndexExpr:
    """A sum without one of its atoms."""
    return IndexExpr(expr.const, {other: own for other, own in expr.terms.items() if other != atom})


def _join_quotient(rest: IndexExpr, atom: FloorDiv, factor: Coefficient) -> IndexExpr | None:
    if (found := _next_digit(rest, atom, factor)) is not None:
        return found
    scale, remainder = quotient(factor, atom.divisor.const), Mod(atom.dividend, atom.divisor)
    if scale is None:
        return None
    if rest.terms.get(remainder, 0) == scale:
        return rest - IndexExpr(0, {remainder: scale}) + atom.dividend * scale
    if _cancels(rest, atom.dividend, scale):
        return rest + atom.dividend * scale - mod(atom.dividend, atom.divisor) * scale
    return None


def _join_remainder(rest: IndexExpr, atom: Mod, factor: Coefficient) -> IndexExpr | None:
    if not _cancels(rest, atom.dividend, factor):
        return None
    return rest + atom.dividend * factor - floordiv(atom.dividend, atom.divisor) * (atom.divisor.const * factor)


def _next_digit(rest: IndexExpr, atom: FloorDiv, factor: Coefficient) -> IndexExpr | None:
    """``a // 32 * 4 + a // 8 % 4`` as ``a // 8``: a quotient and the digit below it."""
    for other, own in rest.terms.items():
        inner = other.dividend.atom if isinstance(other, Mod) else None
        if not isinstance(other, Mod) or not isinstance(inner, FloorDiv) or inner.dividend != atom.dividend:
            continue
        period, below = other.divisor.const, inner.divisor.const
        if period * below == atom.divisor.const and own * period == factor:
            return rest - IndexExpr(0, {other: own}) + IndexExpr(0, {inner: own})
    return None


def _cancels(rest: IndexExpr, dividend: IndexExpr, scale: Coefficient) -> bool:
    """Whether adding ``scale`` times a dividend takes all of its atoms out of a sum."""
    terms = dividend.terms.items()
    return bool(terms) and all(rest.terms.get(atom, 0) == -(factor * scale) for atom, factor in terms)


def strides(shape: Sequence[Coefficient]) -> tuple[Coefficient, ...]:
    """How many elements apart the rows of each dimension of a row-major array are."""
    return tuple(prod(shape[n + 1 :], start=1) for n in range(len(shape)))
