"""Temporaries of one launch: arrays that only carry values from one part of a cell to a later one.

Pure. Their first elements have no meaning, nobody reads their last ones, and cells that may run at the same time
cannot exchange values, so each visit of the grid finds in its window nothing but what its own cell put there.
"""

from __future__ import annotations

from kopt.analysis.windows import Window
from kopt.dialects.host import AllocOp, LaunchOp, ViewOp
from kopt.dialects.tile import GridOp


def is_temporary(launch: LaunchOp, number: int, window: Window, grid: GridOp) -> bool:
    """Whether an operand of a launch can be memory of the chip, as large as its window.

    Not where the window moves with a dimension whose cells run in order: they may leave a block and come back to it.
    """
    if number not in launch.written:
        return False
    result = launch.version_of(number)
    moves_in_order = window.grid_dims & {*grid.reduction_dims, *grid.ordered_dims}
    return result.first_use is None and not moves_in_order and _is_own(launch, number)


def _is_own(launch: LaunchOp, number: int) -> bool:
    """Whether a launch is the only user of an array without a meaning: one it yields, an allocation, a view of one."""
    if number >= len(launch.inputs):
        return True
    value = launch.inputs[number]
    while value.has_one_use() and isinstance(value.owner, ViewOp):
        value = value.owner.source
    return value.has_one_use() and isinstance(value.owner, AllocOp) and value.owner.fill is None
