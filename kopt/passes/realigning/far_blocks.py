"""Blocks of large arrays at computed elements that no DMA takes: those that may end beyond the array, or that begin
inside a tile of memory."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import SSAValue
from xdsl.traits import MemoryEffectKind

from kopt.analysis.aliases import accessed
from kopt.analysis.alignment import multiple
from kopt.analysis.linear import at_most, begin
from kopt.analysis.streaming import array_bytes
from kopt.analysis.windows import Window, unordered_windows
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import GridOp, LoadOp, RangeType, is_gather
from kopt.dialects.tile.index_list import Entry
from kopt.runtime.targets import TpuChip


def not_fetched(launch: LaunchOp, chip: TpuChip) -> Iterator[tuple[LoadOp, Window, list[int]]]:
    """The loads of such blocks from arrays that half of VMEM does not hold, the arrays' windows, and the dimensions."""
    written = accessed(launch, MemoryEffectKind.WRITE)
    for grid in [op for op in launch.body.block.ops if isinstance(op, GridOp)]:
        found = unordered_windows(grid, [arg for arg in launch.body.block.args if arg not in written])
        for window in found.values():
            for load in window.loads if array_bytes(window.type) > chip.vmem_bytes // 2 else ():
                units = [multiple(window.type, dim) for dim in range(len(load.entries))]
                dims = [dim for dim, entry in enumerate(load.entries) if not _is_fetched(entry, units[dim])]
                if dims and load.mask is None and not any(map(is_gather, load.entries)):
                    yield load, window, dims


def _is_fetched(entry: Entry, unit: int) -> bool:
    """Whether a block from an element that memory tells on begins at a multiple of its size and of ``unit``, as far as
    is known; others are fetched, or are windows."""
    if not isinstance(entry, SSAValue) or not isinstance(entry.type, RangeType):
        return True
    first = begin(entry)
    inside = at_most(first) is not None or first.divisor % entry.type.size == 0
    return not first.is_computed or inside and first.divisor % unit == 0
