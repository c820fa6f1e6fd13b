"""The pass ``software-pipeline``: copies of one step of an axis run while other steps compute."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from kopt.analysis.copies import array_of, is_fetch, synchronous_copy
from kopt.analysis.overlapping import following_cells, is_of_cells, why_not_overlapped
from kopt.analysis.row_prefetch import RowFetch, row_fetch, why_not_ahead
from kopt.diagnostics import remark
from kopt.dialects.pallas import CallOp, DmaOp, DmaStartOp
from kopt.passes.pipelining.cells import prefetch_over_cells
from kopt.passes.pipelining.loops import prefetch_over_loop
from kopt.passes.pipelining.rows import prefetch_rows_over_cells
from kopt.passes.pipelining.writebacks import write_back_behind_loop
from kopt.targets.chips import TPU_CHIPS, TpuChip, chip_option
from kopt.walk import walk


@dataclass(frozen=True)
class SoftwarePipelinePass(ModulePass):
    """Software-pipelines copies that name an axis: each runs in the steps before, or behind, the one that needs it.

    The fetch of a visit starts in the visit before. The fetch of the first visit starts in front of the loop, or in
    the last visit of the cell before. A fetch outside of loops, of a block or of rows by their numbers, starts in
    the cell before. A send is waited for in the next visit. Where copies cross cells, these run in order:
    ``semantics (arbitrary)``.

        tile.for %k in (0, %n) {
          pallas.dma_start %x[%i, %k] to %buffer[:, :] signal %fetched[0] along %k depth 2
          pallas.dma_wait %x[%i, %k] to %buffer[:, :] signal %fetched[0] along %k depth 2
          %v = tile.get %buffer[:, :] … }
    becomes
        scf.if %n > 0 { pallas.dma_start %x[%i, %first] to %buffer[0, :, :] signal %arrived[0] }
        tile.for %k in (0, %n) {
          scf.if (there is a next block) { pallas.dma_start %x[%i, %next] to %buffer[1 - %slot, :, :] … }
          pallas.dma_wait %x[%i, %k] to %buffer[%slot, :, :] signal %arrived[%slot]
          %v = tile.get %buffer[%slot, :, :] … }

    It changes how fast a kernel is, never what it computes. A copy stays as it is, and a remark says why, where

    * the kernel writes what would be fetched ahead;
    * a step cannot tell where the next one's block is;
    * the loop has other accesses of what it sends;
    * the chip's cores share the cells, or the next cell is along another axis.

    No copy names an axis after it. It refuses nothing.
    """

    name = "software-pipeline"

    chip: str = chip_option(TPU_CHIPS, "tpu7x")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for call in walk(op, CallOp):
            for start in _in_order(call):
                _overlap(start, call, TPU_CHIPS[self.chip])
            for end in walk(call, DmaOp):
                _forget_axis(end)


def _in_order(call: CallOp) -> list[DmaStartOp]:
    """The copies that name an axis: sends, then fetches of loops, then of cells; each by the number of their array.

    Where the next cell's blocks are is read off numbers that are loaded in the kernel's own way by then.
    """
    found = [(start, start.axis) for start in walk(call, DmaStartOp) if start.axis is not None]
    found.sort(key=lambda pair: (is_fetch(pair[0]), is_of_cells(pair[1]), array_of(pair[0]).index))
    return [start for start, _ in found]


def _overlap(start: DmaStartOp, call: CallOp, chip: TpuChip) -> None:
    if (rows := row_fetch(start, call)) is not None:
        _overlap_rows(rows, call, chip)
        return
    copy = synchronous_copy(start)
    why = "others use its buffer" if copy is None else why_not_overlapped(copy, call, chip)
    if copy is None or why is not None:
        remark(start, f"a copy of '{array_of(start).name_hint or 'an array'}' overlaps nothing: {why}")
        return
    assert start.axis is not None
    if not copy.is_fetch:
        write_back_behind_loop(copy)
    elif is_of_cells(start.axis):
        prefetch_over_cells(copy, call, start.axis)
    else:
        prefetch_over_loop(copy, call, following_cells(call, chip))


def _overlap_rows(rows: RowFetch, call: CallOp, chip: TpuChip) -> None:
    if (why := why_not_ahead(rows, call, chip)) is not None:
        remark(rows.start, f"copies of rows of '{array_of(rows.start).name_hint or 'an array'}' overlap nothing: {why}")
        return
    assert rows.start.axis is not None
    prefetch_rows_over_cells(rows, call, rows.start.axis)


def _forget_axis(end: DmaOp) -> None:
    if end.axis is not None:
        places = (end.source, end.source_entries, end.target, end.target_entries)
        plain = type(end)(*places, end.semaphore, end.semaphore_entries)
        plain.location = end.location
        Rewriter.replace_op(end, plain)
