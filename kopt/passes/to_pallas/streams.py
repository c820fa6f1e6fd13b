"""Loads of a loop by double-buffered DMAs: the next block arrives while this one is computed with."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.streaming import moving_ops
from kopt.dialects.pallas import CallOp, DmaStartOp, DmaWaitOp
from kopt.dialects.tile import (
    ALL,
    CountOp,
    Entry,
    ForOp,
    GetOp,
    IdOp,
    LoadOp,
    RangeType,
    RefType,
    ShiftOp,
    TileType,
    WhenOp,
)
from kopt.passes.to_pallas.scratch import scratch_ref


def stream_load(load: LoadOp, source: SSAValue, call: CallOp) -> None:
    """Copies the block of a load by DMA, one visit of its loop ahead.

    %v = tile.load %x[%i, %k]
    becomes, with a buffer of two blocks and two semaphores,
    %slot = %k's number mod 2
    tile.when first(%k) { dma_start %x[%i, %k] to %buffer[%slot, …] }
    scf.if (there is a next block) { dma_start %x[%i, %k + 1] to %buffer[1 - %slot, …] }
    dma_wait %x[%i, %k] to %buffer[%slot, …]
    %v = tile.get %buffer[%slot, …]
    """
    _Stream(load, source, call).convert()


class _Stream:
    def __init__(self, load: LoadOp, source: SSAValue, call: CallOp):
        loop = load.parent_op()
        assert isinstance(loop, ForOp) and isinstance(load.result.type, TileType)
        self.load, self.loop, self.source, self.type = load, loop, source, load.result.type
        self.at = InsertPoint.before(load)
        self.buffer = scratch_ref(call, RefType((2, *self.type.shape), self.type.element_type), source, "buffer")
        self.semaphores = scratch_ref(call, RefType((2,), self.type.element_type, "semaphore"), source, "arrived")

    def convert(self) -> None:
        id = self._add(IdOp(self.loop.range))
        two = self._number(2)
        slot = self._add(arith.RemUIOp(id, two))
        slot.name_hint = "slot"
        start = DmaStartOp(*self._places(self.load.entries, slot))
        start.location = self.load.location
        self._add_op(WhenOp("first", [self.loop.range], Region(Block([start]))))
        self._start_next(id, slot)
        self._add_op(DmaWaitOp(*self._places(self.load.entries, slot)))
        value = self._add(GetOp(self.buffer, self._slot_entries(slot), self.type))
        value.name_hint = self.load.result.name_hint
        self.load.result.replace_all_uses_with(value)
        Rewriter.erase_op(self.load)

    def _start_next(self, id: SSAValue, slot: SSAValue) -> None:
        """Where there is a next visit, computes there what it will read, and starts the copy."""
        one = self._number(1)
        following = self._add(arith.AddiOp(id, one))
        following.name_hint = f"next_{self.loop.range.name_hint or 'block'}_number"
        count = self._add(CountOp(self.loop.range))
        more = self._add(arith.CmpiOp(following, count, "slt"))
        more.name_hint = "more"
        other = self._add(arith.SubiOp(one, slot))
        other.name_hint = "other_slot"
        branch = scf.IfOp(more, [], Region(Block([scf.YieldOp()])))
        self._add_op(branch)
        outside, self.at = self.at, InsertPoint.at_start(branch.true_region.block)
        ahead = _Ahead(self.loop, following, self._add)
        entries = [ahead.of(entry) if isinstance(entry, SSAValue) else entry for entry in self.load.entries]
        self._add_op(DmaStartOp(*self._places(entries, other)))
        self.at = outside

    def _places(self, entries: tuple[Entry, ...] | list[Entry], slot: SSAValue):
        return self.source, entries, self.buffer, self._slot_entries(slot), self.semaphores, [slot]

    def _slot_entries(self, slot: SSAValue) -> list[Entry]:
        return [slot, *[ALL] * self.type.rank]

    def _number(self, value: int) -> SSAValue:
        return self._add(arith.ConstantOp(IntegerAttr(value, IndexType())))

    def _add(self, op: Operation) -> SSAValue:
        self._add_op(op)
        return op.results[0]

    def _add_op(self, op: Operation) -> None:
        op.location = self.load.location
        Rewriter.insert_op(op, self.at)


class _Ahead:
    """Computes index values as they will be at a loop's next visit; what does not move with the loop is shared."""

    def __init__(self, loop: ForOp, following: SSAValue, add: Callable[[Operation], SSAValue]):
        self.loop, self.following, self.add = loop, following, add
        self._known: dict[SSAValue, SSAValue] = {}

    def of(self, value: SSAValue) -> SSAValue:
        """The value at the next visit."""
        if value not in self._known:
            self._known[value] = self._compute(value)
        return self._known[value]

    def _compute(self, value: SSAValue) -> SSAValue:
        op = value.owner
        if value is self.loop.range:
            assert isinstance(value.type, RangeType)
            size = self.add(arith.ConstantOp(IntegerAttr(value.type.size, IndexType())))
            return self._named(self.add(ShiftOp(value, size)), value)
        if isinstance(op, IdOp) and op.range is self.loop.range:
            return self.following
        if not isinstance(op, Operation) or op not in moving_ops(value, self.loop):
            return value
        copy = op.clone({operand: self.of(operand) for operand in op.operands})
        return self._named(self.add(copy), value)

    def _named(self, copy: SSAValue, value: SSAValue) -> SSAValue:
        copy.name_hint = f"next_{value.name_hint or 'block'}"
        return copy
