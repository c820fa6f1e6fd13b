"""Index arithmetic as sums: ``constant + Σ coefficient · symbol``.

The symbols are SSA values: a range stands for the number of its block (`tile.id`), any other ``index`` value for
itself. ``linear(%k.begin)`` of ``%k: b2=64`` in ``(0, n)`` is ``64 · %k``; differences cancel, so where a block lies
relative to another, and which power of two divides an offset, is read off.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from kopt.analysis.ranges import always_full, binding
from kopt.dialects.tile import BeginOp, CountOp, EndOp, IdOp, RangeType, ShiftOp, WholeOp


@dataclass(frozen=True)
class Linear:
    """``const`` plus the ``terms``, one a symbol, none with coefficient 0, in order of appearance."""

    const: int = 0
    terms: tuple[tuple[SSAValue, int], ...] = ()

    @property
    def divisor(self) -> int:
        """The largest number known to divide the value; 0 for the constant 0."""
        return math.gcd(self.const, *(coefficient for _, coefficient in self.terms))

    @property
    def symbols(self) -> tuple[SSAValue, ...]:
        """The values it depends on."""
        return tuple(symbol for symbol, _ in self.terms)

    @property
    def is_computed(self) -> bool:
        """Whether it depends on loaded numbers, or arithmetic of no known form: on more than numbers of blocks."""
        return any(not isinstance(symbol.type, RangeType) for symbol in self.symbols)

    def __add__(self, other: Linear) -> Linear:
        sums = dict(self.terms)
        for symbol, coefficient in other.terms:
            sums[symbol] = sums.get(symbol, 0) + coefficient
        return Linear(self.const + other.const, tuple((s, c) for s, c in sums.items() if c))

    def __sub__(self, other: Linear) -> Linear:
        return self + other.times(-1)

    def times(self, factor: int) -> Linear:
        """The product with a number."""
        return Linear(self.const * factor, tuple((s, c * factor) for s, c in self.terms) if factor else ())

    def over(self, divisor: int) -> Linear:
        """The exact quotient by a number that divides it."""
        return Linear(self.const // divisor, tuple((s, c // divisor) for s, c in self.terms))


def linear(value: SSAValue | int) -> Linear:
    """The sum that an ``index`` value is; a value of no known form is its own symbol."""
    if isinstance(value, int):
        return Linear(value)
    op = value.owner
    if isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr):
        return Linear(op.value.value.data)
    if isinstance(op, arith.AddiOp):
        return linear(op.lhs) + linear(op.rhs)
    if isinstance(op, arith.SubiOp):
        return linear(op.lhs) - linear(op.rhs)
    if isinstance(op, arith.MuliOp):
        return _product(linear(op.lhs), linear(op.rhs), value)
    if isinstance(op, arith.FloorDivSIOp | arith.DivSIOp):
        return _exact_quotient(linear(op.lhs), linear(op.rhs), value)
    if isinstance(op, BeginOp):
        return begin(op.range)
    if isinstance(op, EndOp) and always_full(op.range):
        return begin(op.range) + Linear(binding(op.range).size)
    if isinstance(op, IdOp):
        return Linear(0, ((binding(op.range).value, 1),))
    if isinstance(op, CountOp) and (trips := binding(op.range).trips) is not None:
        return Linear(trips)
    return Linear(0, ((value, 1),))


def _product(a: Linear, b: Linear, value: SSAValue) -> Linear:
    if not a.terms:
        return b.times(a.const)
    if not b.terms:
        return a.times(b.const)
    return Linear(0, ((value, 1),))


def _exact_quotient(a: Linear, b: Linear, value: SSAValue) -> Linear:
    is_exact = not b.terms and b.const and a.divisor % b.const == 0
    return a.over(b.const) if is_exact else Linear(0, ((value, 1),))


def begin(range: SSAValue) -> Linear:
    """The first element of a range's block."""
    if isinstance(range.owner, ShiftOp):
        return begin(range.owner.range) + linear(range.owner.offset)
    bound = binding(range)
    if isinstance(bound.owner, WholeOp):
        return linear(bound.lower)
    return linear(bound.lower) + Linear(0, ((range, bound.size),))


def first_element(entry: object) -> Linear:
    """The number of the first element of an entry of an index list: of a block, or the one that is named."""
    assert isinstance(entry, int | SSAValue)
    return begin(entry) if isinstance(entry, SSAValue) and isinstance(entry.type, RangeType) else linear(entry)


def at_most(form: Linear) -> int | None:
    """The largest value of a sum, where each symbol is the smaller of something and a number; else None."""
    total = form.const
    for symbol, coefficient in form.terms:
        op = symbol.owner
        limits = [linear(operand) for operand in op.operands] if isinstance(op, arith.MinSIOp) else []
        numbers = [limit.const for limit in limits if not limit.terms]
        if coefficient < 0 or not numbers:
            return None
        total += coefficient * min(numbers)
    return total


def affine(value: SSAValue | int, dims: Sequence[SSAValue]) -> AffineExpr | None:
    """A value as an affine expression of the block numbers of some ranges (``d0`` the first), else None.

    Division and remainder by positive numbers are allowed: ``tile.id %h floordiv 4``.
    """
    form = linear(value)
    total = AffineExpr.constant(form.const)
    for symbol, coefficient in form.terms:
        part = AffineExpr.dimension(dims.index(symbol)) if symbol in dims else _quotient(symbol, dims)
        if part is None:
            return None
        total = total + (part if coefficient == 1 else part * coefficient)
    return total


def _quotient(value: SSAValue, dims: Sequence[SSAValue]) -> AffineExpr | None:
    op = value.owner
    quotients = (arith.DivSIOp, arith.DivUIOp, arith.FloorDivSIOp)
    if not isinstance(op, (*quotients, arith.RemSIOp, arith.RemUIOp)):
        return None
    divisor, form, dividend = linear(op.rhs), linear(op.lhs), affine(op.lhs, dims)
    if divisor.terms or divisor.const < 1 or dividend is None:
        return None
    if form.const < 0 or any(coefficient < 0 for _, coefficient in form.terms):
        return None  # rounding of negative numbers differs between the divisions
    return dividend // divisor.const if isinstance(op, quotients) else dividend % divisor.const
