"""Which numbers are surely not negative: what loops count, and what is made of it without subtraction. Pure."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from kopt.analysis.index_bounds import index_bounds
from kopt.analysis.ranges import binding
from kopt.dialects.tile import BeginOp, CountOp, EndOp, IdOp, ShiftOp
from kopt.dialects.triton import ProgramIdOp

#: Ops that give nothing negative where no operand is; a remainder has its dividend's sign.
_KEEPING = (
    arith.AddiOp,
    arith.MuliOp,
    arith.DivSIOp,
    arith.FloorDivSIOp,
    arith.CeilDivSIOp,
    arith.RemSIOp,
    arith.MinSIOp,
    arith.IndexCastOp,
)


def never_negative(value: SSAValue | int) -> bool:
    """Whether a number is at least 0 by what it is made of; False where nothing tells."""
    if isinstance(value, int):
        return value >= 0
    op = value.owner
    if isinstance(op, ProgramIdOp | IdOp | CountOp):
        return True
    if isinstance(op, BeginOp | EndOp):
        return _of_range(op.range)
    if isinstance(op, arith.MaxSIOp):
        return any(map(never_negative, op.operands))
    if isinstance(op, _KEEPING) and all(map(never_negative, op.operands)):
        return True
    bounds = index_bounds(value)
    return bounds is not None and bounds[0] >= 0


def _of_range(range: SSAValue) -> bool:
    if isinstance(range.owner, ShiftOp):
        return never_negative(range.owner.offset) and _of_range(range.owner.range)
    return never_negative(binding(range).lower)
