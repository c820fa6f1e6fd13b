"""Between which numbers an index lies: begins, ends, numbers and counts of blocks, and arithmetic of them. Pure."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from kopt.analysis.linear import linear
from kopt.analysis.ranges import binding
from kopt.dialects.tile import BeginOp, CountOp, EndOp, IdOp, ShiftOp

Bounds = tuple[int, int]

_ARITHMETIC = (
    arith.AddiOp,
    arith.SubiOp,
    arith.MuliOp,
    arith.FloorDivSIOp,
    arith.RemSIOp,
    arith.MinSIOp,
    arith.MaxSIOp,
)


def index_bounds(value: SSAValue) -> Bounds | None:
    """The smallest and the largest number that an index may be; None where nothing tells.

    What an end and a begin of one block are apart is at most the block's size.
    """
    form = linear(value)
    if not form.terms:
        return form.const, form.const
    op = value.owner
    if isinstance(op, BeginOp | EndOp | IdOp | CountOp):
        return _of_range(op)
    known = _length(op) or _remainder(op) or _clamped(op)
    if known is not None or not isinstance(op, _ARITHMETIC):
        return known
    first, second = (index_bounds(operand) for operand in op.operands)
    return None if first is None or second is None else _combined(op, first, second)


def _length(op: object) -> Bounds | None:
    """What an end and the begin of one block are apart, if that is what is computed."""
    if not isinstance(op, arith.SubiOp):
        return None
    end, begin = op.lhs.owner, op.rhs.owner
    if isinstance(end, EndOp) and isinstance(begin, BeginOp) and end.range is begin.range:
        return 0, binding(end.range).size
    return None


def _remainder(op: object) -> Bounds | None:
    """What a number is beyond a multiple of another, ``n - n // m * m``, if that is what is computed."""
    if not isinstance(op, arith.SubiOp) or not isinstance(op.rhs.owner, arith.MuliOp):
        return None
    quotient, divisor = op.rhs.owner.operands
    if not isinstance(quotient.owner, arith.FloorDivSIOp):
        quotient, divisor = divisor, quotient
    if not isinstance(quotient.owner, arith.FloorDivSIOp) or tuple(quotient.owner.operands) != (op.lhs, divisor):
        return None
    bounds = index_bounds(divisor)
    return (0, bounds[1] - 1) if bounds is not None and bounds[0] > 0 else None


def _clamped(op: object) -> Bounds | None:
    """The bounds of what is no less than one number and no more than another, ``min(max(n, 0), 7)``."""
    if not isinstance(op, arith.MinSIOp) or not isinstance(op.lhs.owner, arith.MaxSIOp):
        return None
    least, most = linear(op.lhs.owner.rhs), linear(op.rhs)
    return None if least.terms or most.terms else (min(least.const, most.const), most.const)


def _of_range(op: BeginOp | EndOp | IdOp | CountOp) -> Bounds | None:
    if isinstance(op.range.owner, ShiftOp):
        return None
    bound = binding(op.range)
    trips = bound.trips
    if isinstance(op, IdOp):
        return None if trips is None else (0, max(trips - 1, 0))
    if isinstance(op, CountOp):
        return None if trips is None else (0, max(trips, 0))
    lower, upper = _ends(bound.lower), _ends(bound.upper)
    if lower is None or upper is None:
        return None
    first, last = lower[0], upper[1]
    if isinstance(op, BeginOp):
        last = last - 1 if trips is None else first + (trips - 1) * bound.size
    return first, max(first, last)


def _ends(value: SSAValue | int) -> Bounds | None:
    return (value, value) if isinstance(value, int) else index_bounds(value)


def _combined(op: object, first: Bounds, second: Bounds) -> Bounds | None:
    (a, b), (c, d) = first, second
    if isinstance(op, arith.AddiOp):
        return a + c, b + d
    if isinstance(op, arith.SubiOp):
        return a - d, b - c
    if isinstance(op, arith.MuliOp):
        corners = [x * y for x in first for y in second]
        return min(corners), max(corners)
    if isinstance(op, arith.RemSIOp):
        return (0, min(b, d - 1)) if a >= 0 and c > 0 else None
    if isinstance(op, arith.FloorDivSIOp):
        return (a // d, b // c) if a >= 0 and c > 0 else None
    pick = min if isinstance(op, arith.MinSIOp) else max
    return pick(a, c), pick(b, d)
