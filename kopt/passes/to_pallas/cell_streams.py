"""Loads outside of loops, from an array that stays in HBM: the next cell's block arrives while this one's is used."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import Rewriter

from kopt.analysis.streaming import block_of
from kopt.dialects.pallas import CallOp, DmaStartOp, DmaWaitOp
from kopt.dialects.tile import Entry, GetOp, GridOp, IdOp, LoadOp, RefType, ShiftOp, WhenOp
from kopt.ir.ranges import binding
from kopt.passes.replacing import replacing
from kopt.passes.to_pallas.building import Building, pair_shape
from kopt.passes.to_pallas.elsewhere import Elsewhere, Other
from kopt.passes.to_pallas.scratch import scratch_ref


def fetch_ahead(load: LoadOp, source: SSAValue, call: CallOp, cell: SSAValue) -> bool:
    """Copies the block of a load by DMA, one cell ahead along the range ``cell``, whose cells run in order on one core.

        tile.grid (%i, %k) … { %v = tile.load %x[%at] … }
    becomes, with a buffer of two blocks and two semaphores,
        tile.grid (%i, %k) … {
          %slot = %k's number mod 2
          tile.when first(%k) { dma_start %x[%at] to %buffer[%slot, …] }
          scf.if (there is a next cell) { dma_start %x[where %at is there] to %buffer[1 - %slot, …] }
          dma_wait %x[%at] to %buffer[%slot, …]
          %v = tile.get %buffer[%slot, …] … }

    Gives whether it did: not where the next place cannot be told in this cell, nor for a load under a condition.
    """
    ahead = Elsewhere({cell})
    if not isinstance(load.parent_op(), GridOp) or not all(map(ahead.can, load.entries)):
        return False
    _CellStream(load, source, call).convert(cell, ahead)
    return True


class _CellStream(Building):
    def __init__(self, load: LoadOp, source: SSAValue, call: CallOp):
        super().__init__(load)
        self.load, self.source, self.type = load, source, block_of(load)
        self.buffer = scratch_ref(call, RefType(pair_shape(self.type), self.type.element_type), source, "buffer")
        self.semaphores = scratch_ref(call, RefType((2,), self.type.element_type, "semaphore"), source, "arrived")

    def convert(self, cell: SSAValue, ahead: Elsewhere) -> None:
        entries, id = list(self.load.entries), self.value(IdOp(cell))
        slot = self.parity(id, "slot")
        # Before the condition, under which nothing is computed.
        places = self._places(entries, slot)
        start: Operation = DmaStartOp(*places)
        start.location = self.load.location
        self.add(WhenOp("first", [cell], Region(Block([start]))))
        following = self.value(arith.AddiOp(id, self.number(1)), "next_cell")
        more = self.compare(following, "slt", self.number(binding(cell).trips or 1), "more")

        def start_next() -> None:
            other = Other(self.value(ShiftOp(cell, self.number(binding(cell).size)), "next"), following)
            there = ahead.compute(entries, {cell: other}, self.value, "next")
            turned = self.value(arith.SubiOp(self.number(1), slot), "other_slot")
            self.add(DmaStartOp(*self._places(there, turned)))

        self.guarded(more, start_next)
        self.add(DmaWaitOp(*places))
        block = self.pair_entries(self.type, slot, entries)
        value = self.value(replacing(self.load, GetOp(self.buffer, block, self.type)), self.load.result.name_hint)
        self.load.result.replace_all_uses_with(value)
        Rewriter.erase_op(self.load)

    def _places(self, entries: list[Entry], slot: SSAValue):
        return self.source, entries, self.buffer, self.pair_entries(self.type, slot), self.semaphores, [slot]
