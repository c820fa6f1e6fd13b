"""Blocks that loops of computed bounds update in an array beyond VMEM: DMAs can fetch and send back each. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from kopt.analysis.alignment import copied_multiple
from kopt.analysis.streaming import is_computed, loops_around, walks
from kopt.analysis.values.form import element_bits
from kopt.analysis.windows import unordered_windows
from kopt.dialects.atomic import RmwOp
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import Access, Entry, GridOp, RangeType, array_type
from kopt.dialects.tile.index_list import AllAttr
from kopt.ir.from_ssa import IndexAnalysis
from kopt.open_extents import is_multiple
from kopt.targets.budget import Budget
from kopt.targets.chips import TpuChip
from kopt.targets.tiling import window_bytes


def may_be_far(accesses: Sequence[Access]) -> bool:
    """Whether all accesses of an array are updates of blocks that DMAs move, of 32 bits."""
    if not accesses or element_bits(accesses[0].memory) != 32:
        return False
    analysis = IndexAnalysis(numbered=True)
    return all(isinstance(op, RmwOp) and _is_moved_by_loop(op, analysis) for op in accesses)


def is_far(accesses: Sequence[Access], launch: LaunchOp, chip: TpuChip) -> bool:
    """Whether they are of an array of which loops visit a part, and which does not fit.

    Arrays of narrower elements, which are accumulated in 32 bits, are left alone.
    """
    grids = [op for op in launch.body.block.ops if isinstance(op, GridOp)]
    if len(grids) != 1 or not may_be_far(accesses):
        return False
    memory = accesses[0].memory
    window = unordered_windows(grids[0], [memory], IndexAnalysis(numbered=True))[memory]
    size = window_bytes(window.block, 32)
    return not Budget(chip).accumulates(size, size)


def _is_moved_by_loop(op: RmwOp, analysis: IndexAnalysis) -> bool:
    """Whether an update is of blocks that DMAs move, somewhere that only a loop's computed bounds tell."""
    loops = [loop for loop in loops_around(op) if is_computed(loop)]
    walked = any(walks(entry, loop) for loop in loops for entry in op.entries)
    moved = all(_is_moved(entry, op, dim, analysis) for dim, entry in enumerate(op.entries))
    return walked and op.mask is None and moved


def _is_moved(entry: Entry, op: RmwOp, dim: int, analysis: IndexAnalysis) -> bool:
    if isinstance(entry, AllAttr):
        return True
    if not isinstance(entry, SSAValue) or not isinstance(entry.type, RangeType):
        return False
    type, size = array_type(op.memory), entry.type.size
    is_tile = size % copied_multiple(type, dim) == 0
    return is_tile and analysis.begin(entry).divisor % size == 0 and is_multiple(type.get_shape()[dim], size)
