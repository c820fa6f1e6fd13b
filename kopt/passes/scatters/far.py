"""Blocks that loops of computed bounds update in an array beyond VMEM: each is fetched and sent back by a DMA."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import SSAValue

from kopt.analysis.alignment import copied_multiple
from kopt.analysis.streaming import is_computed, loops_around, walks
from kopt.analysis.windows import unordered_windows
from kopt.diagnostics import remark
from kopt.dialects.atomic import RmwOp
from kopt.dialects.tile import Access, Entry, GridOp, LoadOp, RangeType, StoreOp
from kopt.dialects.tile.index_list import AllAttr
from kopt.ir.from_ssa import IndexAnalysis
from kopt.passes.scatters.access import UpdateOp
from kopt.passes.scatters.blocks import update_block
from kopt.passes.scatters.order import run_in_order
from kopt.passes.scatters.target import Target
from kopt.targets.budget import Budget
from kopt.targets.chips import TpuChip
from kopt.targets.tiling import window_bytes


def update_far_blocks(target: Target, accesses: Sequence[Access], chip: TpuChip) -> None:
    """Turns the updates of an array of which loops visit a part, and which does not fit, into loads and stores in HBM.

    Cells run in order then. Arrays of narrower elements, which are accumulated in 32 bits, are left alone.
    """
    analysis = IndexAnalysis(numbered=True)
    grids = [op for op in target.launch.body.block.ops if isinstance(op, GridOp)]
    far = [op for op in accesses if isinstance(op, RmwOp) and _is_far(op, target, analysis)]
    if len(grids) != 1 or not far or len(far) < len(accesses):
        return
    window = unordered_windows(grids[0], [target.memory], analysis)[target.memory]
    size = window_bytes(window.block, 32)
    if window.bits != 32 or Budget(chip).accumulates(size, size):
        return
    remark(accesses[0], f"'{target.name}' stays in HBM: the blocks that loops update are fetched and sent back by DMAs")
    for op in far:
        update_block(op)
    for use in list(target.memory.uses):
        if isinstance(use.operation, LoadOp | StoreOp):
            use.operation.attributes["space"] = StringAttr("hbm")
    run_in_order(grids[0], target.memory, target.name)


def _is_far(op: UpdateOp, target: Target, analysis: IndexAnalysis) -> bool:
    """Whether an update is of blocks that DMAs move, somewhere that only a loop's computed bounds tell."""
    loops = [loop for loop in loops_around(op) if is_computed(loop)]
    walked = any(walks(entry, loop) for loop in loops for entry in op.entries)
    moved = all(_is_moved(entry, target, dim, analysis) for dim, entry in enumerate(op.entries))
    return walked and op.mask is None and moved


def _is_moved(entry: Entry, target: Target, dim: int, analysis: IndexAnalysis) -> bool:
    if isinstance(entry, AllAttr):
        return True
    if not isinstance(entry, SSAValue) or not isinstance(entry.type, RangeType):
        return False
    size = entry.type.size
    is_tile = size % copied_multiple(target.type, dim) == 0
    return is_tile and analysis.begin(entry).divisor % size == 0 == target.shape[dim] % size
