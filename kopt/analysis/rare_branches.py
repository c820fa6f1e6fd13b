"""Branches on what is loaded. Figures take them for branches that are not taken (`kopt.analysis.executions`)."""

from __future__ import annotations

from xdsl.dialects import scf
from xdsl.ir import Operation, SSAValue

from kopt.analysis.bottom_up import bottom_up, operands_of
from kopt.analysis.scope import ancestors
from kopt.dialects.tile import GridOp, TileType


def is_rare(op: Operation, grid: GridOp) -> bool:
    """Whether an operation of a launch stands in a branch whose condition is about elements."""
    for around in ancestors(op.parent_op()):
        if around is grid:
            return False
        if isinstance(around, scf.IfOp) and _is_of_elements(around.cond):
            return True
    return False


@bottom_up()
def _is_of_elements(value: SSAValue) -> bool:
    """Whether a value is computed from the elements of a block; loops are not looked into."""
    return isinstance(value.type, TileType) or any(map(_is_of_elements, operands_of(value)))
