"""Picks: elements of what is on the chip, of the block of another access or of a small array that comes whole."""

from __future__ import annotations

from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from kopt.analysis.held_blocks import HeldBlock
from kopt.analysis.values.held import start_of
from kopt.dialects.builder import Builder
from kopt.dialects.tile import ALL, BroadcastOp, DimAttr, LoadOp, SplatOp, TakeAlongOp, TileType, tile_type
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.index_expr import ZERO
from kopt.passes.access_building import pick, replace_load
from kopt.passes.gathers.row_form import RowForm
from kopt.passes.launch_arrays import Arrays
from kopt.passes.normalising.indices import index_of
from kopt.passes.replacing import replacing


def pick_from_held(load: LoadOp, held: HeldBlock) -> None:
    """Puts picks from the block of another access in a load's place.

        %r = tile.load %x[%i, :] : memref<300x1000xf32> -> !tile.tile<b0=64 x 1000 x f32>
        %v = tile.load %x[tile.index %i, %n] : memref<300x1000xf32> -> !tile.tile<b0=64 x f32>
    becomes
        %b = tile.load %x[%i, :] …   %w = tile.reshape %n …   %v = tile.take_along %b, %w dim 1 …

    The block is loaded once: the two loads are one to ``cse``, and share a buffer where they are not.
    """
    build = Builder(load)
    index = _place(load, held, build)
    block = build.add(replacing(load, LoadOp(held.holder.memory, held.holder.entries)), "held")
    dims, wanted = [*tile_type(block).dims.data], tile_type(load.result).dims.data
    most = dims[held.dim].size.data - 1
    index = build.with_number("maximum", build.with_number("minimum", index, most), 0)
    dims[held.dim] = wanted[held.dim] if held.spread else DimAttr(1)
    picked = build.add(TakeAlongOp(block, build.reshape(index, dims), held.dim))
    replace_load(load, build.reshape(picked, wanted))


def _place(load: LoadOp, held: HeldBlock, build: Builder) -> SSAValue:
    """Where in the block each lane of a gather lies, as an i32 tile."""
    entry, sums = load.entries[held.position], IndexAnalysis(sums=True)
    assert isinstance(entry, SSAValue)
    if not isinstance(entry.type, TileType):
        entry = build.add(SplatOp(entry, tile_type(load.result).with_element(i32)))
    index, start = build.cast(entry, i32), start_of(held, sums)
    if start == ZERO:
        return index
    first = index_of(start, build, sums)
    return build.compute("sub", index, build.add(SplatOp(first, tile_type(index))))


def pick_from_whole(load: LoadOp, arrays: Arrays) -> None:
    """Puts picks from a small column, or a small array of one dimension, in a load's place."""
    replace_load(load, _taken_elements(RowForm(load, arrays)))


def _taken_elements(form: RowForm) -> SSAValue:
    """The elements of a small column, which is loaded whole."""
    index = next(form.tile(position) for position in range(len(form.shape)) if form.gathers(position))
    whole = form.loaded(form.memory, [ALL if entry is index else entry for entry in form.entries])
    rank, dims = tile_type(index).rank, tile_type(index).dims.data
    block = tile_type(whole).with_dims([*dims, *tile_type(whole).dims.data])
    return pick(form.build, form.build.add(BroadcastOp(whole, [rank], block)), rank, index, 0)
