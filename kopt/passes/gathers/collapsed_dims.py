"""Collapsed dimensions: several of lanes that count one of the array, ``x[g.index[:, None] * 64 + k]``.

Lanes of a run are elements that follow one another, so they are one block, and the tile is a reshape of it.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from kopt.dialects.builder import Builder
from kopt.dialects.tile import Access, DimAttr, RangeType, ShiftOp, is_gather, tile_type
from kopt.ir.atoms import BlockNumber
from kopt.ir.index_expr import ZERO, IndexExpr
from kopt.ir.ranges import ranges_in_scope
from kopt.ir.runs import contiguous
from kopt.ir.sums import SumAnalysis
from kopt.passes.gathers.indices import index_of
from kopt.passes.retyping import all_lanes


@dataclass(frozen=True)
class IndexRun:
    """One index: ``size`` elements from ``first`` on, along ``dims`` of the tile, in order; of one, its ``lanes``."""

    first: IndexExpr
    size: int
    dims: tuple[int, ...] = ()
    lanes: DimAttr | None = None

    def entry(self, access: Operation, build: Builder, sums: SumAnalysis) -> SSAValue:
        """The entry of the block, or of the one element: of a range where its lanes are those, maybe shifted."""
        if self.size == 1:
            return self._of_one(sums) or index_of(self.first, build, sums)
        range = None if self.lanes is None else ranges_in_scope(access).get(self.lanes.tag.data)
        if range is not None and range.type == RangeType(self.lanes.tag.data, self.size):  # pyright: ignore
            begin = sums.begin(range)
            further = self.first - begin
            if begin == ZERO or len(further.terms) < len(self.first.terms):
                return range if further == ZERO else build.add(ShiftOp(range, index_of(further, build, sums)))
        whole = build.add(all_lanes(self.size, access))
        return build.add(ShiftOp(whole, index_of(self.first, build, sums)))

    def _of_one(self, sums: SumAnalysis) -> SSAValue | None:
        """The range whose only lane the element is."""
        names = [atom.name for atom in self.first.terms if isinstance(atom, BlockNumber) and atom.size == 1]
        ranges = [name for name in names if isinstance(name, SSAValue)]
        return next((range for range in ranges if sums.begin(range) == self.first), None)


def blocks(access: Access, sums: SumAnalysis) -> dict[int, IndexRun]:
    """The block of each gathering index, by position; nothing where some are none.

    Together they have the tile's dimensions in order, each those of its own.
    """
    positions = [position for position, entry in enumerate(access.entries) if is_gather(entry)]
    if not positions or positions != list(range(positions[0], positions[-1] + 1)):
        return {}
    found = {position: block_of(access.entries[position], sums) for position in positions}  # pyright: ignore
    known = {position: block for position, block in found.items() if block is not None}
    shape = tile_type(access.entries[positions[0]]).shape  # pyright: ignore[reportArgumentType]
    wide = [n for n, size in enumerate(shape) if size != 1]
    together = [dim for block in known.values() for dim in block.dims]
    return known if len(known) == len(found) and together == wide else {}


def block_of(index: SSAValue, sums: SumAnalysis) -> IndexRun | None:
    """An index whose lanes, all dimensions of them together, count by ones; None where they do not."""
    run = contiguous(sums.expr(index))
    dims = [peeled.dim for peeled in reversed(run.dims)]
    if run.start.along or any(peeled.backward for peeled in run.dims) or dims != sorted(dims):
        return None
    assert isinstance(run.length, int)
    return IndexRun(run.start, run.length, tuple(dims), tile_type(index).dims.data[dims[0]] if len(dims) == 1 else None)
