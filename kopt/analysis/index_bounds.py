"""Between which numbers an index lies: begins, ends, numbers and counts of blocks, and arithmetic of them. Pure."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from kopt.analysis.linear import linear
from kopt.analysis.ranges import binding
from kopt.dialects.tile import BeginOp, CountOp, EndOp, IdOp, ShiftOp

Bounds = tuple[int, int]


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
    if isinstance(op, arith.SubiOp) and (size := _length(op)) is not None:
        return 0, size
    if not isinstance(op, arith.AddiOp | arith.SubiOp | arith.MuliOp | arith.MinSIOp | arith.MaxSIOp):
        return None
    first, second = (index_bounds(operand) for operand in op.operands)
    return None if first is None or second is None else _combined(op, first, second)


def _length(op: arith.SubiOp) -> int | None:
    """The size of the block that an end is subtracted from a begin of, if that is what is done."""
    end, begin = op.lhs.owner, op.rhs.owner
    if isinstance(end, EndOp) and isinstance(begin, BeginOp) and end.range is begin.range:
        return binding(end.range).size
    return None


def _of_range(op: BeginOp | EndOp | IdOp | CountOp) -> Bounds | None:
    if isinstance(op.range.owner, ShiftOp):
        return None
    bound = binding(op.range)
    if isinstance(op, IdOp | CountOp):
        trips = bound.trips
        return None if trips is None else (0, max(trips, 0))
    if not isinstance(bound.lower, int) or not isinstance(bound.upper, int):
        return None
    return bound.lower, max(bound.lower, bound.upper)


def _combined(op: object, first: Bounds, second: Bounds) -> Bounds:
    (a, b), (c, d) = first, second
    if isinstance(op, arith.AddiOp):
        return a + c, b + d
    if isinstance(op, arith.SubiOp):
        return a - d, b - c
    if isinstance(op, arith.MuliOp):
        corners = [x * y for x in first for y in second]
        return min(corners), max(corners)
    pick = min if isinstance(op, arith.MinSIOp) else max
    return pick(a, c), pick(b, d)
