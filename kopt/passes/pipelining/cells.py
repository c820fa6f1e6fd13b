"""Fetches outside of loops: the next cell's block arrives while this one's is used."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Block, Operation, Region, SSAValue

from kopt.analysis.copies import Copy
from kopt.analysis.rematerialisation import Rematerialisation
from kopt.analysis.revisit_order import fastest, grid_of
from kopt.dialects.builder import Builder
from kopt.dialects.pallas import CallOp, DmaStartOp, DmaWaitOp
from kopt.dialects.tile import CountOp, Entry, IdOp, ShiftOp, WhenOp
from kopt.ir.ranges import binding
from kopt.passes.pipelining.overlapped import OverlappedCopy
from kopt.passes.pipelining.rematerialising import Other, rematerialise


def prefetch_over_cells(copy: Copy, call: CallOp, cell: SSAValue) -> None:
    """Fetches a block one cell ahead along the range ``cell``, whose cells run in order on one core from then on.

        tile.grid (%i, %k) … {
          pallas.dma_start %x[%at] to %buffer[…] …   pallas.dma_wait …   %v = tile.get %buffer[…] … }
    becomes, with a buffer of two blocks and two semaphores,
        tile.grid (%i, %k) … {
          %slot = %k's number mod 2
          tile.when first(%k) { dma_start %x[%at] to %buffer[%slot, …] }
          scf.if (there is a next cell) { dma_start %x[where %at is there] to %buffer[1 - %slot, …] }
          dma_wait %x[%at] to %buffer[%slot, …]
          %v = tile.get %buffer[%slot, …] … }
    """
    _CellPrefetch(copy).convert(cell)
    run_in_order(call)


def run_in_order(call: CallOp) -> None:
    """Keeps the cells along the dimension that moves fastest on one core."""
    words = [word.data for word in call.semantics.data]
    number = fastest(grid_of(call))
    assert number is not None
    words[number:] = ["arbitrary"] * (len(words) - number)  # those behind it have one cell
    call.semantics = ArrayAttr([StringAttr(word) for word in words])


def number_of_cells(build: Builder, cell: SSAValue, but: int = 0) -> SSAValue:
    """How many cells a grid has along a dimension, ``but`` some."""
    if (trips := binding(cell).trips) is not None:
        return build.index(trips - but)
    count = build.add(CountOp(cell))
    return build.add(arith.SubiOp(count, build.index(but))) if but else count


class _CellPrefetch(OverlappedCopy):
    def convert(self, cell: SSAValue) -> None:
        id = self.build.add(IdOp(cell))
        slot = self.parity(id, "slot")
        # Before the condition, under which nothing is computed.
        places = self._places(self.entries, slot)
        start: Operation = DmaStartOp(*places)
        start.location = self.op.location
        self.build.insert(WhenOp("first", [cell], Region(Block([start]))))
        following = self.build.add(arith.AddiOp(id, self.build.index(1)), "next_cell")
        more = self.compare(following, "slt", number_of_cells(self.build, cell), "more")

        def start_next() -> None:
            other = Other(self.build.add(ShiftOp(cell, self.build.index(binding(cell).size)), "next"), following)
            scope = Rematerialisation(frozenset({cell}))
            there = rematerialise(scope, self.entries, {cell: other}, self.build.add, "next")
            turned = self.build.add(arith.SubiOp(self.build.index(1), slot), "other_slot")
            self.build.insert(DmaStartOp(*self._places(there, turned)))

        self.guarded(more, start_next)
        self.build.insert(DmaWaitOp(*places))
        self.replace_get(self.pair_entries(self.type, slot, self.entries))
        self.erase_copy()

    def _places(self, entries: list[Entry], slot: SSAValue):
        return self.array, entries, self.buffer, self.pair_entries(self.type, slot), self.semaphores, [slot]
