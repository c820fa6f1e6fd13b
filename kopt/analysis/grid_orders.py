"""The order of a grid's dimensions in which written blocks are finished before they are left, if there is one.

Pure. The more outputs move with a dimension the further out it goes: where the outputs' dimensions are nested, each
output's stand before the others. Cells have no order, so any permutation computes the same; dimensions that run in
order stay the innermost.
"""

from __future__ import annotations

from collections.abc import Collection

from kopt.analysis.windows import Window
from kopt.dialects.tile import GridOp


def grid_order(grid: GridOp, written: Collection[Window]) -> list[int]:
    """The numbers of a grid's dimensions, outermost first, for the windows of its outputs."""
    fixed = {*grid.reduction_dims, *grid.ordered_dims}

    def rank(number: int) -> tuple[bool, int]:
        return number in fixed, -sum(number in window.grid_dims for window in written)

    return sorted(range(len(grid.ranges)), key=rank)


def planned_order(grid: GridOp) -> list[int] | None:
    """The order that a grid's plan says, where it has one."""
    if grid.plan is None:
        return None
    return [grid.tags.index(tag) for tag in grid.plan.data.order if tag in grid.tags]
