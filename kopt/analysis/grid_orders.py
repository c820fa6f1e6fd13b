"""The order of a grid's dimensions in which written blocks are finished before they are left, if there is one.

Pure. The more outputs move with a dimension the further out it goes: where the outputs' dimensions are nested, each
output's stand before the others. Cells have no order, so any permutation computes the same; dimensions that run in
order stay the innermost.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import permutations
from math import prod

from kopt.analysis.windows import Window
from kopt.dialects.tile import GridOp
from kopt.ir.ranges import binding

#: Another order moves clearly less than the usual one where it moves less than this share.
CLEARLY = 0.9
#: Dimensions of which all orders are tried.
_FREE = 4


def grid_order(grid: GridOp, written: Collection[Window], read: Collection[Window] = ()) -> list[int]:
    """The numbers of a grid's dimensions, outermost first, for the windows of its outputs.

    Of dimensions that all outputs move with, those go outside that let the windows of what is ``read`` come clearly
    less often.
    """
    fixed = {*grid.reduction_dims, *grid.ordered_dims}

    def rank(number: int) -> tuple[bool, int]:
        return number in fixed, -sum(number in window.grid_dims for window in written)

    order = sorted(range(len(grid.ranges)), key=rank)
    free = [number for number in order if rank(number) == (False, -len(written))]
    if not read or not 1 < len(free) <= _FREE or any(binding(range).trips is None for range in grid.ranges):
        return order
    best = min(([*outer, *order[len(free) :]] for outer in permutations(free)), key=lambda one: _moved(grid, one, read))
    return best if _moved(grid, best, read) < CLEARLY * _moved(grid, order, read) else order


def _moved(grid: GridOp, order: Sequence[int], read: Collection[Window]) -> int:
    """The bytes that windows bring, each block as often as another one comes next."""
    trips = [binding(grid.ranges[number]).trips or 1 for number in order]
    total = 0
    for window in read:
        moving = [place for place, number in enumerate(order) if number in window.grid_dims and trips[place] > 1]
        total += prod(window.block) * window.bits // 8 * prod(trips[: moving[-1] + 1 if moving else 0])
    return total


def planned_order(grid: GridOp) -> list[int] | None:
    """The order that a grid's plan says, where it has one."""
    if grid.plan is None:
        return None
    return [grid.tags.index(tag) for tag in grid.plan.data.order if tag in grid.tags]
