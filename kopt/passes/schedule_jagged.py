"""The pass ``schedule-jagged``: on a TPU, each item of a jagged loop by itself."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from kopt.analysis.item_blocks import item_tags, why_blocks_stay
from kopt.diagnostics import remark
from kopt.dialects.jagged import ForOp
from kopt.dialects.tile import GridOp
from kopt.errors import LoweringError
from kopt.passes.drop_unit_dims import drop_dims
from kopt.passes.jagged.single_items import row_sizes, unblock_items
from kopt.passes.set_blocks import substitute_sizes
from kopt.walk import walk


@dataclass(frozen=True)
class ScheduleJaggedPass(ModulePass):
    """Tiles items by one: an item's begin and length are numbers then, and its rows are a slice of memory.

    A TPU computes with many rows of one item at once, and one copy fetches them. Rows of several items at a time would
    be gathered one by one. Blocks of rows become whole tiles of memory.

        tile.grid (%i: b0=8) in (100) {
          %n = tile.load %lengths[%i] …   %s = tile.load %starts[%i] …
          %r = jagged.for %k: b1=16 in %n … {
            %rows = jagged.rows %k from %s …
            %v = tile.load %x[%rows, :] : memref<999x64xf32> -> !tile.tile<b0=8 x b1=16 x 64 x f32>
    becomes
        tile.grid (%i: b0=1) in (100) {
          %item = tile.begin %i   %n = tile.load %lengths[%item] …   %s = tile.load %starts[%item] …
          %r = tile.for %k: b1=16 in (0, %n) … {
            %rows = tile.shift %k by %s
            %v = tile.load %x[%rows, :] : memref<999x64xf32> -> !tile.tile<b1=16 x 64 x f32>

    Items stay in blocks, with a remark, where something combines or rearranges them or asks for a block's number. With
    ``resize=false``, for other targets, blocks stay as they are, and only items in blocks of one are taken so.
    """

    name = "schedule-jagged"

    resize: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for grid in walk(op, GridOp):
            tags = item_tags(grid)
            if not tags or not self.resize and not _single(grid, tags):
                continue
            reason = why_blocks_stay(grid, tags)
            if reason is not None:
                remark(grid, f"items stay in blocks: {reason}")
            else:
                _schedule(op, grid, tags, self.resize)


def _single(grid: GridOp, tags: set[str]) -> bool:
    loops = walk(grid, ForOp)
    return all(dim.size.data == 1 for loop in loops for dim in loop.lengths_type.dims.data if dim.tag.data in tags)


def _schedule(module: ModuleOp, grid: GridOp, tags: set[str], resize: bool) -> None:
    if resize:
        try:
            substitute_sizes(module, {**row_sizes(grid), **dict.fromkeys(tags, 1)})
        except LoweringError as why:
            remark(grid, f"items stay in blocks: {why.message}")
            return
    unblock_items(grid)
    drop_dims(grid, tags)
