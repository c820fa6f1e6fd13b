"""Sends in a loop: a block leaves while the next one is computed.

Blocks begin where memory allows, so a block may hold rows that are not its own: of the item before, of the one after,
or of no item. Such a block is fetched before it is written, and its other rows are sent back as they were. Nothing of
the array is on its way then: within a loop the block before is waited for, and the last one when the loop ends. Cells
that share blocks run in order.
"""

from __future__ import annotations

from functools import reduce

from xdsl.dialects import arith
from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint

from kopt.analysis.copies import Copy, Kept, kept_lanes
from kopt.analysis.lane_limits import LaneLimits, lane_limits
from kopt.dialects.pallas import DmaStartOp, DmaWaitOp
from kopt.dialects.tile import BeginOp, Entry, ForOp, IdOp, PutOp
from kopt.ir.ranges import binding
from kopt.passes.pipelining.overlapped import OverlappedCopy
from kopt.passes.replacing import replacing


def write_back_behind_loop(copy: Copy) -> None:
    """Sends a block while the next visit of its loop computes.

        tile.for %k in (0, %n) {
          dma_start %x[%rows, :] to %old[:, :]   dma_wait …   %o = tile.get %old[:, :]
          %new = tile.select %own, %v, %o
          tile.put %new, %buffer[:, :]   dma_start %buffer[:, :] to %x[%rows, :]   dma_wait … }
    becomes, where %own is from row %lo to row %hi, with a buffer of two blocks and two semaphores,
        tile.for %k in (0, %n) {
          %slot = %k's number mod 2   %shared = %lo > %rows.begin or %hi < %rows.begin + 64
          scf.if %shared { wait for the block before, if there is one; dma_start %x[%rows, :] to %old[:, :] }
          scf.if %shared { dma_wait %x[%rows, :] to %old[:, :] }
          put (%v where %own, else %old), %buffer[%slot, …]
          wait for the block before, if there is one and not %shared
          dma_start %buffer[%slot, …] to %x[%rows, :] }
        wait for the last block, if there is one
    """
    _WriteBack(copy).convert()


class _WriteBack(OverlappedCopy):
    def __init__(self, copy: Copy):
        self.kept = kept_lanes(copy)
        super().__init__(copy)
        loop = copy.start.parent_op()
        assert isinstance(loop, ForOp)
        self.loop, self.block = loop, loop.body.block

    def convert(self) -> None:
        self.inside(self.block, self._count_visits)
        shared = None
        if self.kept is not None:
            shared = self._shared(self.kept.select.condition)
            self._fetch_early(self.kept, shared)
        self._put()
        if self.kept is None:
            self.guarded(self.later, self._wait_before)
        elif shared is not None:
            self.guarded(self.later, lambda: self.guarded(shared, self._wait_before, negated=True))
        self.build.insert(DmaStartOp(*self._half(self.slot), self.array, self.entries, self.semaphores, [self.slot]))
        self.build.at = InsertPoint.after(self.loop)
        self._wait_last()
        self.erase_copy()

    def _put(self) -> None:
        put = self.copy.access
        assert isinstance(put, PutOp)
        self.build.at = InsertPoint.before(put)
        entries = self.pair_entries(self.type, self.slot, self.entries)
        self.build.insert(replacing(put, PutOp(put.value, self.buffer, entries)))

    def _fetch_early(self, kept: Kept, shared: SSAValue | None) -> None:
        """Brings the lanes that the block leaves alone as soon as it is known from where, if the block is ``shared``.

        The block before is in memory by then.
        """
        start, wait = kept.fetch.start, kept.fetch.wait

        def fetch() -> None:
            self.guarded(self.later, self._wait_before)
            start.detach()
            self.build.insert(start)

        needed = [*self.known, *self.copy.start.target_indices, *filter(None, [shared])]
        self.early(self.block, needed, lambda: self.guarded(shared, fetch))
        if shared is not None:
            self.build.at = InsertPoint.before(kept.fetch.access)
            wait.detach()
            self.guarded(shared, lambda: self.build.insert(wait))

    def _count_visits(self) -> None:
        """The buffer that a visit uses, and whether there was a visit before."""
        id = self.build.add(IdOp(self.loop.range))
        self.slot = self.parity(id, "slot")
        self.later = self.compare(id, "sgt", self.build.index(0), "later")
        self.known = [self.slot, self.later]

    def _shared(self, own: SSAValue) -> SSAValue | None:
        """Whether a block has rows that the store keeps; None where it cannot be told, and is taken for granted."""
        limits = lane_limits(own)
        if limits is None or limits.range not in self.copy.start.target_indices:
            return None
        found: list[SSAValue] = []
        needed = [*self.known, *limits.lower, *limits.upper, limits.range]
        self.early(self.block, needed, lambda: found.append(self._outside(limits)))
        return found[0]

    def _outside(self, limits: LaneLimits) -> SSAValue:
        """Whether a block reaches beyond some limits."""
        first = self.build.add(BeginOp(limits.range))
        end = self.build.add(arith.AddiOp(first, self.build.index(binding(limits.range).size)))
        tests = [self.compare(limit, "sgt", first) for limit in limits.lower]
        tests += [self.compare(limit, "slt", end) for limit in limits.upper]
        shared = reduce(lambda a, b: self.build.add(arith.OrIOp(a, b)), tests)
        shared.name_hint = "shared"
        return shared

    def _wait_before(self) -> None:
        self._wait(self.build.add(arith.SubiOp(self.build.index(1), self.slot), "other_slot"))

    def _wait_last(self) -> None:
        """Behind the loop: waits for its last block."""
        self.visited(self.loop, lambda: self._wait(self._last_slot()))

    def _last_slot(self) -> SSAValue:
        last = self.build.add(arith.SubiOp(self.count(self.loop), self.build.index(1)), "last")
        return self.parity(last, "last_slot")

    def _wait(self, slot: SSAValue) -> None:
        """Waits for the block of a buffer: for that many bytes, wherever they went."""
        self.build.insert(DmaWaitOp(*self._half(slot), *self._half(slot), self.semaphores, [slot]))

    def _half(self, slot: SSAValue) -> tuple[SSAValue, list[Entry]]:
        return self.buffer, self.pair_entries(self.type, slot)
