"""Which cells of a call may run in any order."""

from __future__ import annotations

from collections.abc import Sequence

from kopt.dialects.tile import GridOp
from kopt.passes.binding.operands import BoundOperand


def semantics(grid: GridOp, outputs: Sequence[BoundOperand]) -> list[str]:
    """Which grid dimensions may run in any order: those that every output's block moves with, one to one.

    Cores share the outermost ones, so what is inside of a dimension that runs in order does too. A plan may keep
    others in order.
    """
    ordered = {*grid.reduction_dims, *grid.ordered_dims}
    if grid.plan is not None:
        ordered |= {number for number, tag in enumerate(grid.tags) if tag not in grid.plan.data.parallel}
    words = []
    for number in range(max(1, len(grid.ranges))):
        free = number not in ordered and all(o.window.moves_with(number) for o in outputs)
        words.append("parallel" if free and "arbitrary" not in words else "arbitrary")
    return words
