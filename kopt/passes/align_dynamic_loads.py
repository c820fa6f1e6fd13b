"""The pass ``align-dynamic-loads``: blocks at computed elements are cut out of aligned, larger ones on the chip."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeGuard

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.traits import MemoryEffectKind

from kopt.analysis.aliases import accessed
from kopt.analysis.layouts import LayoutProblem, fits_scalar_memory, layout, stands_in_scalar_memory
from kopt.analysis.windows import Window, unordered_windows
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import (
    GridOp,
    LoadOp,
    array_type,
    is_gather,
    is_range,
    tile_type,
)
from kopt.dialects.tile.index_list import Entry
from kopt.ir.from_ssa import IndexAnalysis
from kopt.passes.launch_arrays import Arrays
from kopt.passes.realigning.cutting import Cutter
from kopt.passes.realigning.scalars import copy_scalars
from kopt.passes.realigning.unaligned_hbm_blocks import not_fetched
from kopt.targets.chips import TPU_CHIPS
from kopt.walk import walk


@dataclass(frozen=True)
class AlignDynamicLoadsPass(ModulePass):
    """Loads at an unaligned dynamic start become an aligned superset load and a `tile.dynamic_slice`.

    The superset begins at the multiple of 8 rows (16 of 16-bit elements) or 128 lanes before. Arrays that it would
    leave are padded on the host, with a remark.

        %r = tile.shift %k by %n   %v = tile.load %x[%r, %j] : memref<96x256xf32> -> !tile.tile<b1=16 x b2=128 x f32>
    becomes
        %w = tile.shift (tile.whole 24) by min(max(%r.begin, 0) / 8, 9) * 8
        %u = tile.load %x[%w, %j] : memref<96x256xf32> -> !tile.tile<b3=24 x b2=128 x f32>
        %v = tile.dynamic_slice %u from %r.begin - %w.begin dim 0 : … to !tile.tile<b1=16 x b2=128 x f32>

    Single rows or lanes of such an array, whose number is computed, are blocks of one. Where single elements are read
    from a small array of which other loads take blocks, they come from an operand of their own, in scalar memory. So
    do narrow elements whose lane is computed, from a copy that the host makes in 32 bits.

    Of an array that half of VMEM does not hold, blocks at computed elements may end beyond it, or begin inside a tile
    of memory. They are cut out of supersets that do not, which DMAs fetch.

    Loads of arrays that the launch writes, and gathers, stay as they are.
    """

    name = "align-dynamic-loads"

    chip: str = "tpu7x"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        analysis = IndexAnalysis(numbered=True)
        for launch in walk(op, LaunchOp):
            copy_scalars(launch)
            arrays = Arrays(launch)
            unaligned = list(_unaligned_loads(launch, analysis))
            for load, _ in unaligned:
                if _picks_from_blocks(load) and fits_scalar_memory(array_type(load.memory)):
                    load.operands[0] = arrays.again(load.memory)
            if any(load.memory is not window.memory for load, window in unaligned):
                unaligned = list(_unaligned_loads(launch, analysis))
            for load, window in unaligned:
                Cutter(load, window, arrays).run()
            for load, window, dims in list(not_fetched(launch, TPU_CHIPS[self.chip], analysis)):
                Cutter(load, window, arrays).cut(dims)


def _picks_from_blocks(load: LoadOp) -> bool:
    """Whether a load takes one element, by number, of what other loads of the array take a block of."""
    others = [use.operation.entries for use in load.memory.uses if isinstance(use.operation, LoadOp)]
    picked = [number for number, entry in enumerate(load.entries) if _is_computed(entry) and not is_range(entry)]
    blocks = [entries for entries in others for n in picked if _is_computed(entries[n]) and is_range(entries[n])]
    return not tile_type(load.result).rank and bool(blocks)


def _is_computed(entry: Entry) -> TypeGuard[SSAValue]:
    return isinstance(entry, SSAValue)


def _unaligned_loads(launch: LaunchOp, analysis: IndexAnalysis) -> Iterator[tuple[LoadOp, Window]]:
    """The loads of arrays that no layout makes legal, and the arrays' windows."""
    written = accessed(launch, MemoryEffectKind.WRITE)
    for grid in [op for op in launch.body.block.ops if isinstance(op, GridOp)]:
        found = unordered_windows(grid, [arg for arg in launch.body.block.args if arg not in written], analysis)
        for window in found.values():
            gathers = any(is_gather(entry) for load in window.loads for entry in load.entries)
            if gathers or stands_in_scalar_memory(window):
                continue
            try:
                layout(window)
            except LayoutProblem:
                yield from ((load, window) for load in window.loads)
