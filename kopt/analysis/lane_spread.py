"""Index tiles whose lanes all lie near one number: how far from it, at most. Pure.

The number is what the tile holds where every range has its first lane, and every count its 0:
``(row.index >> 7) * 512 + (row.index & 31) * 16`` of blocks of 128 rows is ``(begin >> 7) * 512``, and up to 496 more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from xdsl.dialects.builtin import IndexType, IntegerType
from xdsl.ir import SSAValue

from kopt.analysis.linear import begin, linear
from kopt.dialects.tile import (
    ArangeOp,
    BroadcastOp,
    CastOp,
    ElementwiseOp,
    FullOp,
    IndexOp,
    RangeType,
    ReshapeOp,
    SplatOp,
    TileType,
    TransposeOp,
)

#: Ops that put lanes elsewhere, or hold them in another type.
KEEPS = (BroadcastOp, ReshapeOp, TransposeOp, CastOp)


@dataclass(frozen=True)
class Spread:
    """Lanes are ``low`` to ``high`` from a number that ``divisor`` is known to divide; 0 where that is 0."""

    divisor: int
    low: int
    high: int

    @property
    def size(self) -> int:
        """How many numbers the lanes are among."""
        return self.high - self.low + 1


def spread(value: SSAValue) -> Spread | None:
    """How far the lanes of an integer tile are apart; None where nothing tells."""
    op = value.owner
    assert isinstance(value.type, TileType)
    if not isinstance(element := value.type.element_type, IntegerType) or element.width.data < 32:
        return None
    if is_single(value):
        return Spread(1, 0, 0)
    if isinstance(op, KEEPS):
        return spread(op.input)
    if isinstance(op, FullOp):
        return Spread(int(op.number), 0, 0)
    if isinstance(op, SplatOp):
        return Spread(linear(op.scalar).divisor if op.scalar.type == IndexType() else 1, 0, 0)
    if isinstance(op, IndexOp):
        assert isinstance(op.range.type, RangeType)
        return Spread(begin(op.range).divisor, 0, op.range.type.size - 1)
    if isinstance(op, ArangeOp):
        ends = (op.start.data, op.start.data + (value.type.shape[0] - 1) * op.step.data)
        return Spread(0, min(ends), max(ends))
    return _RULES[op.ROW.name](*op.inputs) if isinstance(op, ElementwiseOp) and op.ROW.name in _RULES else None


def is_single(value: SSAValue) -> bool:
    """Whether a tile is one number, which is not computed from ones that are known better."""
    assert isinstance(value.type, TileType)
    return not value.type.rank and not isinstance(value.owner, (*KEEPS, ElementwiseOp, FullOp, SplatOp))


def factor(value: SSAValue) -> int | None:
    """The number that every lane of a tile is, where that is known now."""
    op = value.owner
    if isinstance(op, KEEPS):
        return factor(op.input)
    return int(op.number) if isinstance(op, FullOp) else None


def _sum(first: SSAValue, second: SSAValue) -> Spread | None:
    a, b = spread(first), spread(second)
    return a and b and Spread(math.gcd(a.divisor, b.divisor), a.low + b.low, a.high + b.high)


def _difference(first: SSAValue, second: SSAValue) -> Spread | None:
    a, b = spread(first), spread(second)
    return a and b and Spread(math.gcd(a.divisor, b.divisor), a.low - b.high, a.high - b.low)


def _product(first: SSAValue, second: SSAValue) -> Spread | None:
    if factor(second) is None:
        first, second = second, first
    a, by = spread(first), factor(second)
    if a is None or by is None:
        return None
    ends = (a.low * by, a.high * by)
    return Spread(abs(a.divisor * by), min(ends), max(ends))


def _in_one_group(a: Spread, by: int) -> bool:
    """Whether groups of ``by`` numbers are such that all lanes are in one of them."""
    return 0 <= a.low and a.high < math.gcd(a.divisor, by)


def _quotient(first: SSAValue, by: int) -> Spread | None:
    """Of lanes in several groups, the quotient of the last is one more than the distance says, at most."""
    a = spread(first)
    if a is None or by < 1:
        return None
    divisor = 1 if a.divisor % by else a.divisor // by
    if _in_one_group(a, by):
        return Spread(divisor, 0, 0)
    return Spread(divisor, a.low // by, (a.high + (by - 1 if a.divisor % by else 0)) // by)


def _rest(first: SSAValue, by: int) -> Spread | None:
    """The number that the lanes of several groups are near is 0."""
    a = spread(first)
    if a is None or by < 1:
        return None
    return Spread(math.gcd(a.divisor, by) % by, a.low, a.high) if _in_one_group(a, by) else Spread(0, 0, by - 1)


def _shifted(first: SSAValue, second: SSAValue) -> Spread | None:
    by = factor(second)
    return None if by is None or not 0 <= by < 31 else _quotient(first, 1 << by)


def _divided(first: SSAValue, second: SSAValue) -> Spread | None:
    return _quotient(first, factor(second) or 0)


def _masked(first: SSAValue, second: SSAValue) -> Spread | None:
    mask = factor(second)
    return None if mask is None or mask & (mask + 1) else _rest(first, mask + 1)


def _modulo(first: SSAValue, second: SSAValue) -> Spread | None:
    return _rest(first, factor(second) or 0)


_RULES = {
    "add": _sum,
    "sub": _difference,
    "mul": _product,
    "shr": _shifted,
    "floordiv": _divided,
    "and": _masked,
    "mod": _modulo,
}
