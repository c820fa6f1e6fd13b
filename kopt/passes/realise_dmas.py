"""The pass ``realise-dmas``: blocks and rows of arrays in HBM are copied to scratch memory, and from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from kopt.analysis.overlapping import is_of_cells
from kopt.dialects.builder import Builder
from kopt.dialects.pallas import CallOp, DmaStartOp, DmaWaitOp, FetchOp, Overlap, SendOp
from kopt.dialects.tile import ALL, Entry, GetOp, PutOp, RefType, SelectOp, tile_type
from kopt.passes.dmas.rows import realise_rows
from kopt.passes.replacing import replacing
from kopt.passes.scratch import scratch_ref
from kopt.walk import walk


@dataclass(frozen=True)
class RealiseDmasPass(ModulePass):
    """Expands fetches and sends into DMAs: a buffer, a semaphore, a start, and a wait where the value is needed.

        %v = pallas.fetch %x[%i, %k] ahead %k depth 2 : !tile.ref<…, hbm> -> !tile.tile<b0=8 x b1=128 x f32>
    becomes
        pallas.dma_start %x[%i, %k] to %buffer[:, :] signal %fetched[0] along %k depth 2 : …
        pallas.dma_wait %x[%i, %k] to %buffer[:, :] signal %fetched[0] along %k depth 2 : …
        %v = tile.get %buffer[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<b0=8 x b1=128 x f32>

    A DMA writes whole blocks, so what a send leaves alone is brought first, and sent back as it was:

        pallas.send %v, %x[%rows, :] mask %own : …
    becomes
        pallas.dma_start %x[%rows, :] to %old[:, :] …   pallas.dma_wait …   %o = tile.get %old[:, :] …
        %new = tile.select %own, %v, %o
        tile.put %new, %buffer[:, :] …   pallas.dma_start %buffer[:, :] to %x[%rows, :] …   pallas.dma_wait …

    Rows that are accessed by numbers each get a copy of their own, and all copies are in flight together. The
    numbers are brought to scalar memory, where loops read them, unless they are computed from scalars there. A part
    of memory that a DMA cannot move alone comes as a whole tile, and is cut on the chip.

        %v = tile.get %x[%n, :] : !tile.ref<500 x 256 x f32, hbm> -> !tile.tile<b0=8 x 256 x f32>
    becomes
        tile.put %n, %block[:] …   pallas.dma_start %block[:] to %numbers[:] …   pallas.dma_wait …
        tile.for %r in (0, 8) { %row = …   pallas.dma_start %x[%row, :] to %rows[%r, :, :] signal %moved[0] … }
        pallas.dma_wait %rows[:, :, :] to %rows[:, :, :] signal %moved[0] …      // for the bytes of all rows
        %v = tile.get %rows[:, 0, :] …

    A `tile.put` by numbers sends rows in the same way. A negative number sends nothing.

    The result is correct by itself: every copy is waited for where it is started. The axis that a copy may overlap
    is kept, for ``software-pipeline``. Refuses, at the access, writes of rows that are no whole tiles of memory.
    """

    name = "realise-dmas"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for call in walk(op, CallOp):
            for access in _in_order(call):
                _Copies(access, call).realise()
            for access in walk(call, GetOp, PutOp):
                if access.gathers:
                    realise_rows(access, call)


def _in_order(call: CallOp) -> list[FetchOp | SendOp]:
    """The copies in the order in which their buffers stand: arrays that are written, then those that are read by loops,
    then by cells; of one array what is fetched, then what is sent."""

    def key(op: FetchOp | SendOp) -> tuple[bool, bool, int, bool]:
        by_cells = op.axis is not None and is_of_cells(op.axis)
        assert isinstance(op.memory, BlockArgument)
        return op.memory in call.input_refs, by_cells, op.memory.index, isinstance(op, SendOp)

    return sorted(walk(call, FetchOp, SendOp), key=key)


class _Copies:
    """The copies of one access."""

    def __init__(self, access: FetchOp | SendOp, call: CallOp):
        self.access, self.call, self.build = access, call, Builder(access)
        self.array = access.memory
        self.type = tile_type(access.result if isinstance(access, FetchOp) else access.value)
        self.whole: list[Entry] = [ALL] * self.type.rank

    def realise(self) -> None:
        if isinstance(self.access, FetchOp):
            value = self._fetch("row_fetched", self.access.overlap)
            value.name_hint = self.access.result.name_hint
            self.access.result.replace_all_uses_with(value)
        else:
            self._send(self.access)
        Rewriter.erase_op(self.access)

    def _fetch(self, what: str, overlap: Overlap | None) -> SSAValue:
        buffer, semaphore = self._buffer(what), self._semaphore("fetched")
        self._copy((self.array, self.access.entries), (buffer, self.whole), semaphore, overlap)
        return self.build.add(replacing(self.access, GetOp(buffer, self.whole, self.type)))

    def _send(self, send: SendOp) -> None:
        buffer, semaphore = self._buffer("row_sent"), self._semaphore("sent")
        value = send.value if send.mask is None else self._merged(send.value, send.mask)
        self.build.insert(replacing(send, PutOp(value, buffer, self.whole)))
        self._copy((buffer, self.whole), (self.array, send.entries), semaphore, send.overlap)

    def _merged(self, value: SSAValue, own: SSAValue) -> SSAValue:
        """The block with the lanes that are not its own as they are in memory."""
        old = self._fetch("old", None)
        old.name_hint = "old"
        return self.build.add(SelectOp(own, value, old), "new")

    def _buffer(self, what: str) -> SSAValue:
        return scratch_ref(self.call, RefType(self.type.shape, self.type.element_type), self.array, what)

    def _semaphore(self, what: str) -> SSAValue:
        return scratch_ref(self.call, RefType((1,), self.type.element_type, "semaphore"), self.array, what)

    def _copy(
        self,
        source: tuple[SSAValue, Sequence[Entry]],
        target: tuple[SSAValue, Sequence[Entry]],
        semaphore: SSAValue,
        overlap: Overlap | None,
    ) -> None:
        for end in (DmaStartOp, DmaWaitOp):
            self.build.insert(end(*source, *target, semaphore, [0], overlap))
