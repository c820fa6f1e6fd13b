"""The executions of one block, and the visits of ranges in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cache
from math import prod

import numpy as np
from xdsl.ir import Block, SSAValue

from kopt.analysis.executions.memory import LoadSource
from kopt.analysis.executions.numbers import Numbers, UnknownNumber, computed, constant
from kopt.analysis.scope import defining_block
from kopt.cached_property import cached_property
from kopt.dialects.tile import (
    BeginOp,
    BlockSizeOp,
    CountOp,
    EndOp,
    ForOp,
    GetOp,
    GridOp,
    IdOp,
    IndexOp,
    LoadOp,
    ShiftOp,
    TileType,
    ValidCountOp,
    WholeOp,
    range_type,
)

#: Blocks of more executions are not looked into, only counted.
_LOOKED_INTO = 1 << 24


@dataclass(frozen=True)
class VisitedBlock:
    """Which block of a range is visited in each execution, or in all, and where the range ends."""

    id: Numbers
    count: Numbers
    begin: Numbers
    limit: Numbers
    size: Numbers

    @classmethod
    def of(cls, id: Numbers, count: Numbers, lower: Numbers, upper: Numbers, size: int) -> VisitedBlock:
        """The visit of a number, of a range with such bounds."""
        return cls(id, count, lower + id * size, upper, np.array([size]))

    @property
    def end(self) -> Numbers:
        """One past the last valid element of the block."""
        return np.minimum(self.begin + self.size, self.limit)

    @property
    def lanes(self) -> Numbers:
        """How many lanes of the block are valid."""
        return np.maximum(0, self.end - self.begin)


_OF_VISIT: dict[type, Callable[[VisitedBlock], Numbers]] = {
    BeginOp: lambda visit: visit.begin,
    EndOp: lambda visit: visit.end,
    IdOp: lambda visit: visit.id,
    CountOp: lambda visit: visit.count,
    BlockSizeOp: lambda visit: visit.size,
    ValidCountOp: lambda visit: visit.lanes,
}


class Executions:
    """All executions of a block, in order: how many there are, and what numbers are in each.

    Args: ``counted`` gives how many there are, or raises `UnknownNumber`; ``within`` are those of the block around it,
    and ``rows`` gives for each execution the number of the one that it is a part of.
    """

    def __init__(
        self,
        block: Block,
        memory: LoadSource,
        counted: Callable[[], int],
        within: Executions | None = None,
        rows: Callable[[], np.ndarray] | None = None,
    ):
        self.block, self.memory, self.within = block, memory, within
        self._counted, self._rows = counted, rows
        self._bound: dict[SSAValue, Callable[[], VisitedBlock]] = {}
        self._numbers: dict[SSAValue, Numbers] = {}
        self._visits: dict[SSAValue, VisitedBlock] = {}

    @cached_property
    def count(self) -> int:
        """How many there are. Raises `UnknownNumber` where that is not known."""
        return self._counted()

    @cached_property
    def rows(self) -> np.ndarray:
        """The execution of the block around it that each is a part of; of cells, their numbers."""
        if self.count > _LOOKED_INTO:
            raise UnknownNumber(f"what differs between {self.count} visits")
        return np.arange(self.count) if self._rows is None else self._rows()

    @property
    def cells(self) -> Executions:
        """Those of the grid's body."""
        return self if self.within is None else self.within.cells

    # Blocks inside.

    @classmethod
    def of_grid(cls, grid: GridOp, memory: LoadSource) -> Executions:
        """Those of a grid's body: its cells, the last dimension moving fastest."""
        sizes = [range_type(range).size for range in grid.ranges]
        trips = [max(0, -(-(upper - lower) // size)) for size, (lower, upper) in zip(sizes, grid.bounds, strict=True)]
        cells = cls(grid.body.block, memory, lambda: prod(trips))
        for number, (range, bounds) in enumerate(zip(grid.ranges, grid.bounds, strict=True)):
            cells._bound[range] = _place(cells, prod(trips[number + 1 :]), trips[number], bounds, sizes[number])
        return cells

    def loop(self, op: ForOp) -> Executions:
        """Those of a loop's body: all of its visits."""
        size = range_type(op.range).size

        @cache
        def trips() -> Numbers:
            lower, upper = map(self._limit, op.bounds)
            return np.maximum(0, -(-(upper - lower) // size))

        def each() -> Numbers:
            return np.broadcast_to(trips(), self.count)

        def counted() -> int:
            return self.count * trips().item() if len(trips()) == 1 else int(trips().sum())

        def visit() -> VisitedBlock:
            before = np.cumsum(each()) - each()
            lower, upper, count = map(inner.of_outer, (*map(self._limit, op.bounds), trips()))
            return VisitedBlock.of(np.arange(inner.count) - before[inner.rows], count, lower, upper, size)

        inner = Executions(op.body.block, self.memory, counted, self, lambda: np.repeat(np.arange(self.count), each()))
        inner._bound[op.range] = visit
        return inner

    def where(self, block: Block, holds: Callable[[], Numbers]) -> Executions:
        """Those of a branch."""
        which = cache(holds)

        def counted() -> int:
            return self.count * bool(which().item()) if len(which()) == 1 else int(np.count_nonzero(which()))

        return Executions(
            block, self.memory, counted, self, lambda: np.flatnonzero(np.broadcast_to(which(), self.count))
        )

    def unknown(self, block: Block, why: str) -> Executions:
        """Those of a block of which nobody knows how often it runs."""

        def counted() -> int:
            raise UnknownNumber(why)

        return Executions(block, self.memory, counted, self)

    # Numbers.

    def number(self, value: SSAValue) -> Numbers:
        """What a number, or a tile of numbers, is in each execution, or in all. Raises `UnknownNumber`."""
        if value not in self._numbers:
            self._numbers[value] = self._number(value)
        return self._numbers[value]

    def visit(self, range: SSAValue) -> VisitedBlock:
        """Which block of a range each execution visits. Raises `UnknownNumber`."""
        if range not in self._visits:
            self._visits[range] = self._visit(range)
        return self._visits[range]

    def elements(self, range: SSAValue) -> Numbers:
        """The elements of the block of a range that each execution visits, valid or not."""
        return self.visit(range).begin[:, None] + np.arange(range_type(range).size)

    def of_outer(self, numbers: Numbers) -> Numbers:
        """Numbers of the executions around these, for each of these."""
        return numbers if len(numbers) == 1 else numbers[self.rows]

    def of_cells(self, numbers: Numbers) -> Numbers:
        """Numbers of the grid's cells, for each of these."""
        return numbers if self.within is None else self.of_outer(self.within.of_cells(numbers))

    def extents(self, op: ForOp) -> Numbers:
        """How many elements a loop walks in each execution."""
        lower, upper = map(self._limit, op.bounds)
        return np.broadcast_to(np.maximum(0, upper - lower), self.count)

    def _limit(self, bound: SSAValue | int) -> Numbers:
        return np.array([bound]) if isinstance(bound, int) else self.number(bound)

    def _number(self, value: SSAValue) -> Numbers:
        op = value.owner
        if isinstance(op, Block):
            raise UnknownNumber("what a loop carries")
        if isinstance(value.type, TileType) and self.count * prod(value.type.shape) > _LOOKED_INTO:
            raise UnknownNumber(f"what {value.type} is in {self.count} visits")
        if (known := constant(op)) is not None:
            return known
        if self.within is not None and defining_block(value) is not self.block:
            return self.of_outer(self.within.number(value))
        if (of_visit := _OF_VISIT.get(type(op))) is not None:
            return of_visit(self.visit(op.operands[0]))
        if isinstance(op, IndexOp):
            return self.elements(op.range)
        if isinstance(op, GetOp | LoadOp):
            return self.memory.read(op, self)
        return computed(op, self.number)

    def _visit(self, range: SSAValue) -> VisitedBlock:
        if range in self._bound:
            return self._bound[range]()
        op = range.owner
        if isinstance(op, ShiftOp):
            visit, offset = self.visit(op.range), self.number(op.offset)
            return replace(visit, begin=visit.begin + offset, limit=visit.limit + offset)
        if isinstance(op, WholeOp):
            return VisitedBlock.of(
                np.array([0]), np.array([1]), np.array([0]), np.array([op.extent.data]), range_type(range).size
            )
        if self.within is None:
            raise UnknownNumber(f"where '{range.name_hint}' is")
        outer = self.within.visit(range)
        return VisitedBlock(*(self.of_outer(getattr(outer, field.name)) for field in fields(outer)))


def _place(cells: Executions, inner: int, trips: int, bounds: tuple[int, int], size: int) -> Callable[[], VisitedBlock]:
    """The visits of a dimension of the grid, inside of whose visits there are ``inner`` cells."""

    def visit() -> VisitedBlock:
        id = cells.rows // inner % trips if trips > 1 else np.array([0])
        return VisitedBlock.of(id, np.array([trips]), np.array([bounds[0]]), np.array([bounds[1]]), size)

    return visit
