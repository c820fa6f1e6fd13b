"""The pass ``take-from-memory``: a few lanes of what is loaded are loaded by their numbers."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, i32
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from kopt.analysis.aliases import root
from kopt.dialects import tile
from kopt.dialects.builder import Builder
from kopt.dialects.tile import array_type
from kopt.dialects.tile.index_list import AllAttr, Entry, SliceAttr, block_axes, is_range
from kopt.dialects.tile.memory import WritesMemory, memory_shape
from kopt.passes.access_building import clamped
from kopt.passes.replacing import replace, replacing
from kopt.targets.budget import Budget
from kopt.walk import walk

#: Ops that compute lane by lane.
_LANEWISE = (tile.CastOp, tile.BitcastOp, tile.ElementwiseOp)


@dataclass(frozen=True)
class TakeFromMemoryPass(ModulePass):
    """Loads picked lanes by their numbers, where they are at most one in 128 of a block that was loaded.

    Picking lanes from a block puts the whole block into shared memory. Loading the same lanes again finds them in a
    cache. Lane-by-lane operations between the load and the pick are repeated on the picked lanes. Numbers outside take
    the first or the last.

        %v = tile.load %x[%i, :] : memref<64x4096xf32> -> !tile.tile<b0=8 x 4096 x f32>
        %t = tile.take_along %v, %n dim 1 : !tile.tile<b0=8 x 4096 x f32>, !tile.tile<b0=8 x 1 x i32>
    becomes
        %row = tile.index %i, spread over b0=8 x 1
        %t = tile.load %x[%row, %n, clamped to 0 … 4095] : memref<64x4096xf32> -> !tile.tile<b0=8 x 1 x f32>

    It never refuses. Picks from arrays that the launch writes, and from masked loads, stay.
    """

    name = "take-from-memory"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for grid in walk(op, tile.GridOp):
            written = {root(access.memory) for access in walk(grid, tile.Access) if access.has_trait(WritesMemory)}
            for take in walk(grid, tile.TakeAlongOp):
                if _is_few(take) and _is_loaded(take.input, take.dim.data, written):
                    replace(take, _taken(take, take.input))


def _is_few(take: tile.TakeAlongOp) -> bool:
    lanes = (prod(tile.tile_type(value).shape) for value in (take.input, take.result))
    return next(lanes) >= Budget.LEAST_WALKED * next(lanes)


def _is_loaded(value: SSAValue, dim: int, written: set[SSAValue]) -> bool:
    """Whether all that a value is computed of, lane by lane, is loaded, along whole dimensions or slices."""
    op = value.owner
    if isinstance(op, tile.LoadOp):
        axes = block_axes(op.entries, memory_shape(array_type(op.memory)))
        entries = [op.entries[axis.position] for axis in axes]
        placed = all(isinstance(entry, AllAttr | SliceAttr) or is_range(entry) for entry in entries)
        return op.mask is None and root(op.memory) not in written and placed and not is_range(entries[dim])
    if isinstance(op, tile.FullOp):
        return True
    return isinstance(op, _LANEWISE) and all(_is_loaded(part, dim, written) for part in op.operands)


def _taken(take: tile.TakeAlongOp, value: SSAValue) -> SSAValue:
    """The lanes of a value that are picked."""
    build, op = Builder(take), value.owner
    assert isinstance(op, Operation)
    type = tile.tile_type(value).with_dims(tile.tile_type(take.result).dims.data)
    match op:
        case tile.LoadOp():
            numbers = [_numbers(build, take, op, axis) for axis in range(type.rank)]
            axes = block_axes(op.entries, memory_shape(array_type(op.memory)))
            entries: list[Entry] = list(op.entries)
            for axis, lanes in zip(axes, numbers, strict=True):
                entries[axis.position] = lanes
            return build.add(replacing(op, tile.LoadOp(op.memory, entries, None, None, None, op.attributes)))
        case tile.FullOp():
            return build.add(tile.FullOp(op.number, type))
        case tile.CastOp():
            return build.add(tile.CastOp(_taken(take, op.input), type.element_type))
        case tile.BitcastOp():
            return build.add(tile.BitcastOp(_taken(take, op.input), type.element_type))
        case _:
            assert isinstance(op, tile.ElementwiseOp)
            return build.add(op.__class__(*(_taken(take, part) for part in op.operands), attributes=op.attributes))


def _numbers(build: Builder, take: tile.TakeAlongOp, load: tile.LoadOp, dim: int) -> SSAValue:
    """The places in an array, along one dimension of a block, of the lanes that are picked of it."""
    shape = memory_shape(array_type(load.memory))
    position = block_axes(load.entries, shape)[dim].position
    entry, dims = load.entries[position], tile.tile_type(take.result).dims.data
    taken = entry if isinstance(entry, SliceAttr) else SliceAttr(0, shape[position])
    if dim == take.dim.data:
        lanes = clamped(build, take.indices, taken.length)
        lanes = lanes if taken.step.data == 1 else build.with_number("mul", lanes, taken.step.data)
        return lanes if taken.start.data == 0 else build.with_number("add", lanes, taken.start.data)
    if is_range(entry):
        return build.spread(build.add(tile.IndexOp(entry)), dims, [dim])
    lanes = build.add(tile.ArangeOp(taken.start.data, taken.step.data, tile.TileType([dims[dim]], i32)))
    return build.spread(lanes, dims, [dim])
