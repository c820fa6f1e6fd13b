"""Loads of blocks at computed elements are cut out of aligned, larger ones on the chip."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeGuard

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.traits import MemoryEffectKind

from kopt.analysis.aliases import accessed
from kopt.analysis.layouts import fits_scalar_memory, has_layout, stands_in_scalar_memory
from kopt.analysis.shared_rows import shares_rows
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
from kopt.passes.aligning.scalars import copy_scalars
from kopt.passes.aligning.superset_load import Cutter
from kopt.passes.aligning.unaligned_hbm_blocks import not_fetched
from kopt.passes.launch_arrays import Arrays
from kopt.targets.chips import TpuChip
from kopt.walk import walk


def align_loads(op: ModuleOp, chip: TpuChip, analysis: IndexAnalysis) -> None:
    """Makes loads at an unaligned dynamic start aligned superset loads, in all launches of a module."""
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
        for load, window, dims in list(not_fetched(launch, chip, analysis)):
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
    """The loads of arrays that no layout makes legal, or whose rows cells share, and the arrays' windows."""
    written = accessed(launch, MemoryEffectKind.WRITE)
    for grid in [op for op in launch.body.block.ops if isinstance(op, GridOp)]:
        found = unordered_windows(grid, [arg for arg in launch.body.block.args if arg not in written], analysis)
        for window in found.values():
            gathers = any(is_gather(entry) for load in window.loads for entry in load.entries)
            if gathers or stands_in_scalar_memory(window):
                continue
            if shares_rows(window, grid) or not has_layout(window):
                yield from ((load, window) for load in window.loads)
