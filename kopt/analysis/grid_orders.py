"""The order of a grid's dimensions in which written blocks are finished before they are left, if there is one.

Pure. The more outputs move with a dimension the further out it goes: where the outputs' dimensions are nested, each
output's stand before the others. Cells have no order, so any permutation computes the same; dimensions that run in
order stay the innermost.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import accumulate, permutations
from math import prod
from operator import mul

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
    if not read or not 1 < len(free) <= _FREE:
        return order
    trips = [binding(range).trips for range in grid.ranges]
    if None in trips:
        return order
    moved = _Moved([found or 1 for found in trips], read)
    best = min(([*outer, *order[len(free) :]] for outer in permutations(free)), key=moved)
    return best if moved(best) < CLEARLY * moved(order) else order


class _Moved:
    """The bytes that windows bring, each block as often as another one comes next, for dimensions in some order.

    ``trips`` are those of the grid's dimensions.
    """

    def __init__(self, trips: Sequence[int], read: Collection[Window]):
        self._trips = trips
        several = {number for number, count in enumerate(trips) if count > 1}
        self._blocks = [(window.grid_dims & several, prod(window.block) * window.bits // 8) for window in read]

    def __call__(self, order: Sequence[int]) -> int:
        visits = [1, *accumulate((self._trips[number] for number in order), mul)]
        last = {number: place for place, number in enumerate(order, 1)}
        return sum(size * visits[max(map(last.__getitem__, dims), default=0)] for dims, size in self._blocks)


def planned_order(grid: GridOp) -> list[int] | None:
    """The order that a grid's plan says, where it has one."""
    if grid.plan is None:
        return None
    return [grid.tags.index(tag) for tag in grid.plan.data.order if tag in grid.tags]
