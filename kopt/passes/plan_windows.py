"""The pass ``plan-windows``: how the blocks that loops walk arrive in the chip's memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.passes import ModulePass

from kopt.analysis.footprint import grid_bytes, scheduled_bytes
from kopt.analysis.hoisting import NotHoistable, plan_hoist
from kopt.analysis.pipelining import is_pipelined
from kopt.analysis.streaming import fetches, is_at_computed, is_computed, is_large, walks
from kopt.analysis.windows import windows
from kopt.diagnostics import remark
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import ForOp, GridOp, LoadOp, StoreOp
from kopt.passes.to_pallas.empty_carries import drop_empty_carries
from kopt.passes.to_pallas.hoist import hoist
from kopt.passes.to_pallas.operands import grid_of
from kopt.passes.to_pallas.pipelined_loops import pipeline_loops
from kopt.passes.to_pallas.rows import hbm
from kopt.runtime.targets import TPU_CHIPS, TpuChip


@dataclass(frozen=True)
class PlanWindowsPass(ModulePass):
    """Gives every loop of a launch a schedule.

    | schedule | the blocks that the loop reads | when |
    |---|---|---|
    | ``grid`` | are windows of one more grid dimension | one reduction loop over numbers, cheap ops around it |
    | ``resident`` | are parts of windows that hold whole dimensions | they fit half of the chip's VMEM |
    | ``pipeline`` | and writes move by a pipeline in the kernel | asked for, or loops write too; blocks are whole |
    | ``fori`` | are copied by double-buffered DMAs, one visit ahead | large arrays and computed bounds, or otherwise |

    Where a loop of schedule ``fori`` has computed bounds, so are the blocks that it writes, one visit behind; rows of
    them that are not the loop's are kept. Large arrays that cells read blocks of at computed places, outside of loops,
    stay in HBM too, and cells fetch those blocks.

    ``auto`` takes the first that applies. A loop over one block of the grid may be a dimension too, if all its blocks
    are whole. A loop that cannot be a grid dimension or a pipeline though it was asked for says why in a remark, and
    gets one of the others. What other loops write must fit the chip's memory, the whole dimension that they walk.
    Values without lanes are no longer carried.

        tile.grid (%i) in (1000) { … tile.for %k … in (0, 600) … }
    becomes
        tile.grid (%i, %k) in (1000, 600) reduce [1] { tile.when first(%k) … tile.when last(%k) … }
    and, with ``loop-type=pipeline``,
        %s = pallas.scratch
        tile.grid (%i) in (1000) { put %z, %s; tile.for %k … in (0, 600) schedule pipeline { … } … get %s }
    """

    name = "plan-windows"

    loop_type: Literal["auto", "resident", "grid", "fori", "pipeline"] = "auto"
    chip: str = "tpu7x"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for launch in [inner for inner in op.walk() if isinstance(inner, LaunchOp)]:
            drop_empty_carries(launch)  # scratch memory of no elements cannot be
            self._schedule(launch, grid_of(launch))
            self._leave_in_hbm(grid_of(launch))

    def _leave_in_hbm(self, grid: GridOp) -> None:
        """Has cells fetch their blocks of large arrays themselves, where the grid does not tell which those are."""
        if self.loop_type not in ("auto", "fori"):
            return
        memories = {op.memory for op in grid.walk() if isinstance(op, LoadOp)}
        for window in windows(grid, memories).values():
            if fetches(window) and (self.loop_type == "fori" or is_large(window.type)):
                for load in window.loads:
                    load.attributes |= hbm()

    def _schedule(self, launch: LaunchOp, grid: GridOp) -> None:
        if not any(isinstance(op, ForOp) for op in grid.walk()):
            return
        if self.loop_type in ("auto", "grid"):
            grid = self._hoisted(launch, grid)
        chip = TPU_CHIPS[self.chip]
        schedule = self._in_kernel(grid, chip)
        too_large = self.loop_type == "auto" and schedule == "fori"
        if self.loop_type == "pipeline" or too_large and writes_inside(grid) and not fits_by_blocks(grid, chip):
            pipeline_loops(launch, grid)
        for loop in [op for op in grid.walk() if isinstance(op, ForOp) and not is_pipelined(op)]:
            streamed = self.loop_type == "auto" and streams_part(loop)
            loop.schedule = StringAttr("resident" if not walks_memory(loop) else "fori" if streamed else schedule)

    def _hoisted(self, launch: LaunchOp, grid: GridOp) -> GridOp:
        """The grid with its reduction loop as a dimension, where that can be and pays."""
        try:
            plan = plan_hoist(grid)
        except NotHoistable as reason:
            if self.loop_type == "grid":
                remark(grid, f"the loop stays inside the kernel: {reason}")
            return grid
        if self.loop_type == "auto" and (not walks_memory(plan.loop) or _walks_from_computed(grid, plan.loop)):
            return grid
        return hoist(launch, grid, plan)

    def _in_kernel(self, grid: GridOp, chip: TpuChip) -> str:
        if self.loop_type in ("resident", "fori"):
            return self.loop_type
        return "resident" if grid_bytes(grid, {}) <= chip.vmem_bytes // 2 else "fori"


def fits_by_blocks(grid: GridOp, chip: TpuChip) -> bool:
    """Whether a grid fits the chip's memory where all of its loops copy their blocks by DMAs."""
    for loop in [op for op in grid.walk() if isinstance(op, ForOp)]:
        loop.schedule = StringAttr("fori" if walks_memory(loop) else "resident")
    return scheduled_bytes(grid) <= chip.vmem_bytes // 2


def streams_part(loop: ForOp) -> bool:
    """Whether a loop that visits some part of its arrays, known when it runs, reads or writes large ones."""
    accesses = [op for op in loop.walk() if isinstance(op, LoadOp | StoreOp)]
    walking = [op for op in accesses if any(walks(entry, loop) for entry in op.entries)]
    return is_computed(loop) and any(is_large(op.memory.type) for op in walking)


def _walks_from_computed(grid: GridOp, loop: ForOp) -> bool:
    """Whether a loop walks blocks of a large array that begin at numbers which memory tells: no window moves so."""
    found = windows(grid, {op.memory for op in loop.walk() if isinstance(op, LoadOp)})
    loads = [(load, window) for window in found.values() if is_large(window.type) for load in window.loads]
    walking = [pair for pair in loads if any(walks(entry, loop) for entry in pair[0].entries)]
    return any(is_at_computed(load, window) for load, window in walking)


def writes_inside(grid: GridOp) -> bool:
    """Whether a loop of the grid's cells writes an array."""
    loops = [op for op in grid.walk() if isinstance(op, ForOp)]
    return any(isinstance(op, StoreOp) for loop in loops for op in loop.walk())


def walks_memory(loop: ForOp) -> bool:
    """Whether the loop loads blocks that move with it, or sends such where its bounds are computed."""
    kinds = LoadOp | StoreOp if is_computed(loop) else LoadOp
    accesses = [op for op in loop.walk() if isinstance(op, kinds)]
    return any(walks(entry, loop) for access in accesses for entry in access.entries)
