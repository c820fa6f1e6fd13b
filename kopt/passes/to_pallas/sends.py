"""Stores of blocks to an array that stays in HBM: a block leaves by DMA while the next one is computed.

Blocks begin where memory allows, so a block may hold rows that are not its own: of the item before, of the one after,
or of no item. Such a block is fetched before it is written, and its other rows are sent back as they were. Nothing of
the array is on its way then: within a loop the block before is waited for, and the last one when the loop ends. Cells
that share blocks run in order.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from xdsl.dialects import arith
from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.lane_limits import LaneLimits, lane_limits
from kopt.analysis.pipelining import is_pipelined
from kopt.analysis.streaming import block_of
from kopt.analysis.windows import Accesses
from kopt.dialects.pallas import CallOp, DmaStartOp, DmaWaitOp
from kopt.dialects.tile import ALL, BeginOp, Entry, ForOp, GetOp, IdOp, PutOp, RefType, SelectOp, StoreOp
from kopt.ir.ranges import binding
from kopt.passes.replacing import replacing
from kopt.passes.to_pallas.accesses import Place, written_lanes
from kopt.passes.to_pallas.building import Building, pair_shape
from kopt.passes.to_pallas.rows import send_row
from kopt.passes.to_pallas.scratch import scratch_ref
from kopt.walk import walk


def send_block(store: StoreOp, place: Place, call: CallOp) -> None:
    """Writes the block of a store by DMA.

        tile.for %k in (0, %n) { tile.store %v, %x[%rows, :] mask %own }
    becomes, where %own is from row %lo to row %hi, with a buffer of two blocks and two semaphores,
        tile.for %k in (0, %n) {
          %slot = %k's number mod 2   %shared = %lo > %rows.begin or %hi < %rows.begin + 64
          scf.if %shared { wait for the block before, if there is one; dma_start %x[%rows, :] to %old[:, :] }
          scf.if %shared { dma_wait %x[%rows, :] to %old[:, :] }
          put (%v where %own, else %old), %buffer[%slot, …]
          wait for the block before, if there is one and not %shared
          dma_start %buffer[%slot, …] to %x[%rows, :] }
        wait for the last block, if there is one

    Where the loop has other accesses of the array, or a condition stands around the store, the block is waited for at
    once.
    """
    own = written_lanes(store, place)
    loop = _own_loop(store)
    if loop is not None:
        _PingPong(store, own, place.ref, call, loop).convert()
        return
    if own is not None:
        _Sending(store, own, place.ref, call).merge(None, None)
    send_row(store, place.ref, call)


def _own_loop(store: StoreOp) -> ForOp | None:
    """The loop that a store is in, where nothing else in it touches the array."""
    loop = store.parent_op()
    if not isinstance(loop, ForOp) or is_pipelined(loop):
        return None
    touching = [op for op in walk(loop) if isinstance(op, Accesses) and op.memory is store.memory]
    return loop if touching == [store] else None


class _Sending(Building):
    """What both ways of sending share: a block that keeps some of its rows."""

    def __init__(self, store: StoreOp, own: SSAValue | None, target: SSAValue, call: CallOp):
        super().__init__(store)
        self.store, self.own, self.target, self.call = store, own, target, call
        self.type = block_of(store)
        self.whole: list[Entry] = [ALL] * self.type.rank
        block = store.parent_block()
        assert block is not None
        self.block = block
        self.known: list[SSAValue] = []  # what may be used early

    def merge(self, shared: SSAValue | None, before: Callable[[], None] | None) -> None:
        """Lets the store write the lanes that it keeps too, as they are in memory.

        They are fetched, after ``before``, as soon as it is known from where, and only if the block is ``shared``.
        """
        assert self.own is not None
        old = scratch_ref(self.call, RefType(self.type.shape, self.type.element_type), self.target, "old")
        fetched = self.semaphores(1, "fetched")
        places = self.target, self.store.entries, old, self.whole, fetched, [0]

        def fetch() -> None:
            if before is not None:
                before()
            self.add(DmaStartOp(*places))

        needed = [*self.known, *self.store.indices, *filter(None, [shared])]
        self.early(self.block, needed, lambda: self.guarded(shared, fetch))
        self.guarded(shared, lambda: self.add(DmaWaitOp(*places)))
        kept = self.value(replacing(self.store, GetOp(old, self.whole, self.type)), "old")
        self.store.operands[0] = self.value(SelectOp(self.own, self.store.value, kept), "new")

    def semaphores(self, count: int, what: str) -> SSAValue:
        type = RefType((count,), self.type.element_type, "semaphore")
        return scratch_ref(self.call, type, self.target, what)


class _PingPong(_Sending):
    """A loop's blocks, in two buffers by turns."""

    def __init__(self, store: StoreOp, own: SSAValue | None, target: SSAValue, call: CallOp, loop: ForOp):
        super().__init__(store, own, target, call)
        self.loop = loop
        self.buffer = scratch_ref(call, RefType(pair_shape(self.type), self.type.element_type), target, "buffer")
        self.sent = self.semaphores(2, "sent")

    def convert(self) -> None:
        self.inside(self.block, self._count_visits)
        shared = None
        if self.own is not None:
            shared = self._shared(self.own)
            self.merge(shared, lambda: self.guarded(self.later, self._wait_before))
        entries = self.pair_entries(self.type, self.slot, self.store.entries)
        self.add(replacing(self.store, PutOp(self.store.value, self.buffer, entries)))
        if self.own is None:
            self.guarded(self.later, self._wait_before)
        elif shared is not None:
            self.guarded(self.later, lambda: self.guarded(shared, self._wait_before, negated=True))
        self.add(DmaStartOp(*self._buffer(self.slot), self.target, self.store.entries, self.sent, [self.slot]))
        self.at = InsertPoint.after(self.loop)
        self._wait_last()
        Rewriter.erase_op(self.store)

    def _count_visits(self) -> None:
        """The buffer that a visit uses, and whether there was a visit before."""
        id = self.value(IdOp(self.loop.range))
        self.slot = self.parity(id, "slot")
        self.later = self.compare(id, "sgt", self.number(0), "later")
        self.known = [self.slot, self.later]

    def _shared(self, own: SSAValue) -> SSAValue | None:
        """Whether a block has rows that the store keeps; None where it cannot be told, and is taken for granted."""
        limits = lane_limits(own)
        if limits is None or limits.range not in self.store.indices:
            return None
        found: list[SSAValue] = []
        needed = [*self.known, *limits.lower, *limits.upper, limits.range]
        self.early(self.block, needed, lambda: found.append(self._outside(limits)))
        return found[0]

    def _outside(self, limits: LaneLimits) -> SSAValue:
        """Whether a block reaches beyond some limits."""
        first = self.value(BeginOp(limits.range))
        end = self.value(arith.AddiOp(first, self.number(binding(limits.range).size)))
        tests = [self.compare(limit, "sgt", first) for limit in limits.lower]
        tests += [self.compare(limit, "slt", end) for limit in limits.upper]
        shared = reduce(lambda a, b: self.value(arith.OrIOp(a, b)), tests)
        shared.name_hint = "shared"
        return shared

    def _wait_before(self) -> None:
        self._wait(self.value(arith.SubiOp(self.number(1), self.slot), "other_slot"))

    def _wait_last(self) -> None:
        """Behind the loop: waits for its last block."""
        self.visited(self.loop, lambda: self._wait(self._last_slot()))

    def _last_slot(self) -> SSAValue:
        last = self.value(arith.SubiOp(self.count(self.loop), self.number(1)), "last")
        return self.parity(last, "last_slot")

    def _wait(self, slot: SSAValue) -> None:
        """Waits for the block of a buffer: for that many bytes, wherever they went."""
        self.add(DmaWaitOp(*self._buffer(slot), *self._buffer(slot), self.sent, [slot]))

    def _buffer(self, slot: SSAValue) -> tuple[SSAValue, list[Entry]]:
        return self.buffer, self.pair_entries(self.type, slot)
