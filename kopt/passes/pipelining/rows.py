"""Fetches of rows, a copy each, outside of loops: the next cell's rows arrive while this one's are used."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects import arith, scf
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import Rewriter

from kopt.analysis.rematerialisation import Rematerialisation
from kopt.analysis.row_prefetch import RowFetch, outer_values
from kopt.dialects.builder import Builder
from kopt.dialects.pallas import CallOp, DmaOp, DmaStartOp
from kopt.dialects.tile import Entry, GetOp, IdOp, RefType, ShiftOp, WhenOp
from kopt.ir.ranges import binding
from kopt.passes.cloning import clone_with_new_tags
from kopt.passes.pipelining.cells import number_of_cells, run_in_order
from kopt.passes.pipelining.rematerialising import Other, rematerialise
from kopt.passes.replacing import replacing
from kopt.passes.scratch import scratch_name
from kopt.walk import walk


def prefetch_rows_over_cells(rows: RowFetch, call: CallOp, cell: SSAValue) -> None:
    """Fetches rows one cell ahead along the range ``cell``, whose cells run in order on one core from then on.

        tile.grid (%i) … {
          tile.for %r … { pallas.dma_start %x[%number, :] to %rows[%r, :, :] signal %moved[0] along %i depth 2 }
          pallas.dma_wait %rows[:, :, :] to %rows[:, :, :] signal %moved[0]   %v = tile.get %rows[:, 0, :] … }
    becomes, with a buffer of two blocks of rows and two semaphores,
        tile.grid (%i) … {
          %slot = %i's number mod 2
          tile.when first(%i) { tile.for %r … { dma_start %x[%number, :] to %rows[%slot, %r, :, :] … } }
          scf.if (there is a next cell) {
            tile.for %r … { dma_start %x[the next cell's number, :] to %rows[1 - %slot, %r, :, :] … } }
          dma_wait %rows[%slot, :, :, :] to %rows[%slot, :, :, :] …   %v = tile.get %rows[%slot, :, 0, :] … }
    """
    _RowPrefetch(rows).convert(cell)
    run_in_order(call)


class _RowPrefetch:
    """The state of one conversion."""

    def __init__(self, rows: RowFetch):
        self.rows, self.build = rows, Builder(rows.starts)
        array = rows.start.source
        self.semaphores = _pair(rows.start.semaphore, (2,), scratch_name(array, "arrived"))
        assert isinstance(rows.start.target.type, RefType)
        self.buffer = _pair(rows.start.target, (2, *rows.start.target.type.shape), scratch_name(array, "rows"))

    def convert(self, cell: SSAValue) -> None:
        build = self.build
        id = build.add(IdOp(cell))
        slot = build.add(arith.AndIOp(id, build.index(1)), "slot")
        following = build.add(arith.AddiOp(id, build.index(1)), "next_cell")
        more = build.add(arith.CmpiOp(following, number_of_cells(build, cell), "slt"), "more")
        other = Other(build.add(ShiftOp(cell, build.index(binding(cell).size)), "next"), following)
        scope, outer = Rematerialisation(frozenset({cell})), outer_values(self.rows.starts)
        there = rematerialise(scope, outer, {cell: other}, build.add, "next")
        turned = build.add(arith.SubiOp(build.index(1), slot), "other_slot")
        build.insert(WhenOp("first", [cell], Region(Block([self._starts({}, slot)]))))
        ahead = self._starts(dict(zip(outer, there, strict=True)), turned)
        build.insert(scf.IfOp(more, [], Region(Block([ahead, scf.YieldOp()]))))
        self._await(slot)
        Rewriter.erase_op(self.rows.starts)

    def _starts(self, values: Mapping[SSAValue, SSAValue], slot: SSAValue) -> Operation:
        """The loop that starts the copies of a cell's rows, into one of the two blocks."""
        copy = clone_with_new_tags(self.rows.starts, {**values})
        (start,) = walk(copy, DmaStartOp)
        _turn(start, (start.source, start.source_entries), (self.buffer, (slot, *start.target_entries)), slot)
        return copy

    def _await(self, slot: SSAValue) -> None:
        """Waits for this cell's rows, and reads them."""
        (wait,) = self.rows.waits
        block = self.buffer, (slot, *wait.target_entries)
        _turn(wait, block, block, slot)
        get = self.rows.access
        Rewriter.replace_op(get, replacing(get, GetOp(self.buffer, [slot, *get.entries], get.result.type)))


def _pair(ref: SSAValue, shape: tuple[int, ...], name: str) -> SSAValue:
    """Scratch memory as two of what it was."""
    assert isinstance(ref.type, RefType)
    pair = Rewriter.replace_value_with_new_type(ref, RefType(shape, ref.type.element_type, ref.type.space.data))
    pair.name_hint = name
    return pair


_Place = tuple[SSAValue, tuple[Entry, ...]]


def _turn(end: DmaOp, source: _Place, target: _Place, slot: SSAValue) -> None:
    """Puts an end of a copy between other places, with the semaphore of a block, in the place of another."""
    plain = type(end)(*source, *target, end.semaphore, [slot])
    plain.location = end.location
    Rewriter.replace_op(end, plain)
