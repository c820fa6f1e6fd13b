"""Blocks of large arrays that begin at aligned, computed elements, and may end beyond the array: no DMA takes those."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from xdsl.dialects.builtin import FixedBitwidthType
from xdsl.ir import SSAValue
from xdsl.traits import MemoryEffectKind

from kopt.analysis.aliases import accessed
from kopt.analysis.linear import at_most, begin
from kopt.analysis.windows import Window, unordered_windows
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import GridOp, LoadOp, RangeType, is_gather
from kopt.dialects.tile.index_list import Entry
from kopt.runtime.targets import TpuChip


def ending_beyond(launch: LaunchOp, chip: TpuChip) -> Iterator[tuple[LoadOp, Window, list[int]]]:
    """The loads of such blocks from arrays that half of VMEM does not hold, the arrays' windows, and the dimensions."""
    written = accessed(launch, MemoryEffectKind.WRITE)
    for grid in [op for op in launch.body.block.ops if isinstance(op, GridOp)]:
        found = unordered_windows(grid, [arg for arg in launch.body.block.args if arg not in written])
        for window in found.values():
            for load in window.loads if _bytes(window) > chip.vmem_bytes // 2 else ():
                dims = [dim for dim, entry in enumerate(load.entries) if _ends_beyond(entry)]
                if dims and load.mask is None and not any(map(is_gather, load.entries)):
                    yield load, window, dims


def _bytes(window: Window) -> int:
    element = window.type.element_type
    assert isinstance(element, FixedBitwidthType)
    return prod(window.type.get_shape()) * element.bitwidth // 8


def _ends_beyond(entry: Entry) -> bool:
    """Whether a block begins at no multiple of its size, as far as is known, from an element that memory tells on."""
    if not isinstance(entry, SSAValue) or not isinstance(entry.type, RangeType):
        return False
    first = begin(entry)
    computed = any(not isinstance(symbol.type, RangeType) for symbol in first.symbols)
    return computed and at_most(first) is None and first.divisor % entry.type.size != 0
