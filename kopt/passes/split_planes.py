"""The pass ``split-planes``: a program of its own for each plane of cells too large for one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from kopt.analysis.batch_dims import Planes, find_planes
from kopt.diagnostics import remark
from kopt.dialects.formats.integers import int_array
from kopt.dialects.tile import Entry, GridOp, LoadOp, RangeType, StoreOp, TileType, tile_type
from kopt.passes.retyping import defined_values, new_tags
from kopt.targets.budget import Budget
from kopt.walk import walk


@dataclass(frozen=True)
class SplitPlanesPass(ModulePass):
    """Makes a dimension that cells take whole one of the grid, where tiles are too large for a GPU's program.

    All elements along such a dimension are computed alike, as in batched products. A remark says how many such
    planes there are.

        tile.grid (%i: b0=1) in (64) {
          %v = tile.load %x[%n, :, :, :] : memref<64x128x8x256xf32> -> !tile.tile<128 x 8 x 256 x f32>
    becomes
        tile.grid (%i: b0=1, %plane: b1=1) in (64, 8) {
          %v = tile.load %x[%n, :, %plane, :] : memref<64x128x8x256xf32> -> !tile.tile<128 x b1=1 x 256 x f32>

    Cells whose largest tile has 65536 lanes or fewer stay as they are, and so do those without planes: what combines
    lanes of a dimension, or writes without it, needs all of it. Cells with a plan stay too: its order is of the cells
    as they are. It never refuses.
    """

    name = "split-planes"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for grid in [grid for grid in walk(op, GridOp) if grid.plan is None]:
            while _largest(grid) > Budget.PLANE_LANES and (planes := find_planes(grid)):
                _split(grid, planes[0])
                remark(grid, f"a program for each of {planes[0].count} planes, which are too large together")


def holds_large(module: ModuleOp) -> bool:
    """Whether a module has cells whose tiles are too large for one program."""
    return any(_largest(op) > Budget.PLANE_LANES for op in walk(module, GridOp))


def _largest(grid: GridOp) -> int:
    """Lanes of a grid's largest tile."""
    types = {id(value.type): value.type for op in walk(grid) for value in defined_values(op)}  # few, of many values
    return max((prod(type.shape) for type in types.values() if isinstance(type, TileType)), default=0)


def _split(grid: GridOp, planes: Planes) -> None:
    range_type = RangeType(next(new_tags(grid)), 1)
    plane = grid.body.block.insert_arg(range_type, len(grid.ranges))
    plane.name_hint = "plane"
    bounds = [*grid.bounds, (0, planes.count)]
    grid.lower, grid.upper = int_array([lower for lower, _ in bounds]), int_array([upper for _, upper in bounds])
    for value, dim in planes.dims.items():
        dims = [range_type.dim if number == dim else old for number, old in enumerate(tile_type(value).dims.data)]
        Rewriter.replace_value_with_new_type(value, tile_type(value).with_dims(dims))
    for access, position in planes.entries.items():
        _index(access, [plane if number == position else entry for number, entry in enumerate(access.entries)])


def _index(access: LoadOp | StoreOp, entries: Sequence[Entry]) -> None:
    """Gives an access another index list."""
    if isinstance(access, LoadOp):
        new = LoadOp(access.memory, entries, access.mask, access.other, access.pad, access.attributes)
        new.result.name_hint = access.result.name_hint
    else:
        new = StoreOp(access.value, access.memory, entries, access.mask, access.attributes)
    new.location = access.location
    Rewriter.replace_op(access, new)
