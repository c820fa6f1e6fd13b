"""Blocks of large arrays at computed elements that no DMA takes: those that may end beyond the array, or that begin
inside a tile of memory."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, SSAValue
from xdsl.traits import MemoryEffectKind

from kopt.analysis.aliases import accessed
from kopt.analysis.alignment import multiple
from kopt.analysis.streaming import array_bytes, ends_by
from kopt.analysis.windows import Window, unordered_windows
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import GridOp, LoadOp, RangeType
from kopt.dialects.tile.index_list import Entry
from kopt.ir.from_ssa import IndexAnalysis
from kopt.targets.budget import Budget
from kopt.targets.chips import TpuChip


def not_fetched(launch: LaunchOp, chip: TpuChip, analysis: IndexAnalysis) -> Iterator[tuple[LoadOp, Window, list[int]]]:
    """The loads of such blocks from arrays that half of VMEM does not hold, the arrays' windows, and the dimensions."""
    large = [arg for arg in launch.body.block.args if _is_large(arg.type, chip)]
    if not large:
        return
    written = accessed(launch, MemoryEffectKind.WRITE)
    for grid in [op for op in launch.body.block.ops if isinstance(op, GridOp)]:
        found = unordered_windows(grid, [arg for arg in large if arg not in written], analysis)
        for window in found.values():
            for load in window.loads:
                dims = [dim for dim, entry in enumerate(load.entries) if not _is_fetched(entry, window, dim)]
                if dims and load.mask is None and not load.gathers:
                    yield load, window, dims


def _is_large(type: Attribute, chip: TpuChip) -> bool:
    return isinstance(type, MemRefType) and not Budget(chip).holds_array(array_bytes(type))


def _is_fetched(entry: Entry, window: Window, dim: int) -> bool:
    """Whether a block from an element that memory tells on stays in the array and begins where copies may, as far as is
    known; others are fetched, or are windows."""
    if not isinstance(entry, SSAValue) or not isinstance(entry.type, RangeType):
        return True
    first, size = window.analysis.begin(entry), entry.type.size
    inside = ends_by(first, size, window.type.get_shape()[dim]) or first.divisor % size == 0
    return first.is_affine or inside and first.divisor % multiple(window.type, dim) == 0
