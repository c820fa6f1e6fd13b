"""Revisit order: how cells of a `pallas.call` visit the blocks of its arrays, and on which visits its ops run.

Pure. Cells run in row-major order, the last dimension fastest. Dimensions of one cell count for nothing.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from kopt.cached_property import cached_property
from kopt.diagnostics import location_of
from kopt.dialects.pallas import CallOp, PipelineOp, WindowAttr
from kopt.dialects.tile import ForOp, GridOp, WhenOp
from kopt.dialects.tile.bodies import Carrying
from kopt.errors import LoweringError
from kopt.ir.ranges import binding, unshifted
from kopt.walk import walk

#: How many cells of a grid are looked at; every dimension is cut short where there are more.
_CELLS = 2000

Cell = tuple[int, ...]
#: Loops inside a cell, whose bodies run unconditionally.
LOOPS = (ForOp, PipelineOp)


def grid_of(call: CallOp) -> GridOp:
    """The grid in a call's body. Raises `LoweringError` where there is none: such a kernel does nothing."""
    for op in call.body.block.ops:
        if isinstance(op, GridOp):
            return op
    raise LoweringError("the kernel has no grid, or one that does nothing", location_of(call))


def fastest(grid: GridOp) -> int | None:
    """The last dimension of a grid that has several cells: the one along which cells follow one another."""
    return next((n for n in reversed(range(len(grid.ranges))) if binding(grid.ranges[n]).some_trips > 1), None)


@dataclass(frozen=True)
class CellVisits:
    """The cells of a call in order, at most a few along each dimension."""

    grid: GridOp

    @classmethod
    def of(cls, call: CallOp) -> CellVisits:
        """The visits of a call's grid."""
        return cls(grid_of(call))

    @cached_property
    def trips(self) -> tuple[int, ...]:
        """The number of cells along each dimension."""
        return tuple(binding(range).some_trips for range in self.grid.ranges) or (1,)

    @property
    def moving(self) -> tuple[int, ...]:
        """The dimensions of more than one cell."""
        return tuple(number for number, trips in enumerate(self.trips) if trips > 1)

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """The cells in the order that they run."""
        most = max(self.trips)
        while most > 2 and math.prod(min(trips, most) for trips in self.trips) > _CELLS:
            most //= 2
        return tuple(itertools.product(*(range(min(trips, most)) for trips in self.trips)))

    def blocks(self, window: WindowAttr) -> Iterator[tuple[Cell, Cell]]:
        """Each cell and the number of the block that it sees."""
        yield from self.numbered(window.index.data.results)

    def numbered(self, indices: Sequence[AffineExpr]) -> Iterator[tuple[Cell, Cell]]:
        """Each cell and the numbers that indices have there."""
        dims = list(np.array(self.cells, int).reshape(-1, len(self.trips)).T)
        numbers = [np.broadcast_to(index.eval(dims, []), len(self.cells)).tolist() for index in indices]  # pyright: ignore
        return zip(self.cells, zip(*numbers, strict=True) if numbers else [()] * len(self.cells), strict=True)

    def shared(self, window: WindowAttr) -> frozenset[int]:
        """The dimensions along which cells see one and the same block."""
        return self.sharing(window.index.data.results)

    def sharing(self, indices: Sequence[AffineExpr]) -> frozenset[int]:
        """The dimensions along which cells see one and the same block of those numbers."""
        first: dict[Cell, Cell] = {}
        found: set[int] = set()
        for cell, block in self.numbered(indices):
            before = first.setdefault(block, cell)
            found |= {number for number, (a, b) in enumerate(zip(before, cell, strict=True)) if a != b}
        return frozenset(found)

    def come_back(self, window: WindowAttr) -> Return | None:
        """The first block that is left and come back to."""
        return self.come_back_to(window.index.data.results)

    def come_back_to(self, indices: Sequence[AffineExpr]) -> Return | None:
        """The first block of those numbers that is left and come back to."""
        last: dict[Cell, Cell] = {}
        previous: Cell | None = None
        left: dict[Cell, Cell] = {}
        for cell, block in self.numbered(indices):
            if block in last and block != previous:
                return Return(last[block], left[block], cell)
            if previous is not None and block != previous:
                left[previous] = cell
            last[block], previous = cell, block
        return None

    def dimension(self, range: SSAValue) -> int | None:
        """The dimension of a grid's range, else None."""
        range = unshifted(range)
        return self.grid.ranges.index(range) if range in self.grid.ranges else None

    def guards(self, op: Operation) -> tuple[VisitGuard, ...]:
        """The conditions on grid dimensions that an op runs under, and whether it runs under others."""
        found: list[VisitGuard] = []
        parent = op.parent_op()
        while parent is not None and parent is not self.grid:
            if isinstance(parent, WhenOp):
                numbers = [self.dimension(range) for range in parent.ranges]
                moving = frozenset(self.moving).intersection(numbers)
                found.append(VisitGuard(parent.visit.data, moving, None not in numbers))
            elif not isinstance(parent, LOOPS):
                found.append(VisitGuard("other", frozenset(), False))
            parent = parent.parent_op()
        return tuple(found)


def tells_apart(grid: GridOp, indices: Sequence[AffineExpr]) -> bool:
    """Whether a grid, as it is ordered, is at each block of those numbers once, and with one number of each dimension.

    Those that none of the numbers use do not count.
    """
    visits = CellVisits(grid)
    if visits.come_back_to(indices) is not None:
        return False
    used = sorted(frozenset().union(*(index.used_dims() for index in indices)))
    cells: dict[Cell, Cell] = {}
    return all(
        cells.setdefault(block, at) == at
        for cell, block in visits.numbered(indices)
        for at in [tuple(cell[number] for number in used)]
    )


@dataclass(frozen=True)
class VisitGuard:
    """A condition: the ``first`` or ``last`` visit of some dimensions; ``exact`` where it asks for nothing else."""

    visit: str
    dims: frozenset[int]
    exact: bool


@dataclass(frozen=True)
class Return:
    """A block that is visited at ``before``, left at ``left``, and seen again at ``again``."""

    before: Cell
    left: Cell
    again: Cell

    @property
    def outer(self) -> int:
        """The dimension whose move brings the block back."""
        return next(n for n, (a, b) in enumerate(zip(self.before, self.again, strict=True)) if a != b)


def bindings(values: Iterable[SSAValue]) -> set[SSAValue]:
    """The loop bindings that values depend on, those of the loops whose bounds they depend on too."""
    return _traced(values, through_bounds=True)[1]


def sources(value: SSAValue) -> tuple[set[Operation], set[SSAValue]]:
    """The ops that a value is computed by, through loops and branches, and the loop bindings that it depends on."""
    return _traced([value], through_bounds=False)


def _traced(values: Iterable[SSAValue], through_bounds: bool) -> tuple[set[Operation], set[SSAValue]]:
    """The ops that values are computed by, and the loop bindings that they depend on: each is looked at once.

    ``through_bounds`` says whether what a loop is given counts for its binding.
    """
    ops: set[Operation] = set()
    bound: set[SSAValue] = set()
    work = list(values)
    while work:
        value = work.pop()
        owner = value.owner
        if isinstance(owner, Operation):
            if owner not in ops:
                ops.add(owner)
                work += owner.operands
                for inner in (inner for region in owner.regions for inner in walk(region)):
                    ops.add(inner)
                    work += inner.operands
        elif value not in bound:
            bound.add(value)
            work += _given(value, owner.parent_op(), through_bounds)
    return ops, bound


def _given(value: SSAValue, loop: Operation | None, through_bounds: bool) -> list[SSAValue]:
    """What a block's argument is made of."""
    found: list[SSAValue] = []
    if isinstance(loop, Carrying) and value in loop.carried:
        number = loop.carried.index(value)
        found += [loop.inits[number], loop.yielded[number]]
    if through_bounds and loop is not None and not isinstance(loop, GridOp):
        found += loop.operands
    return found
