"""Broadcast indices, the same along lanes or in groups of them: ``x[numbers[i // 4][:, None] + j]``.

What is there comes once, and is repeated on the chip.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from kopt.analysis.values.repeats import Groups, few, first_of, index_tiles, repeats
from kopt.dialects.builder import Builder
from kopt.dialects.tile import DimAttr, Entry, IndexedDim, LoadOp, array_type, block_axes, tile_type
from kopt.ir.index_expr import IndexExpr
from kopt.ir.rewriting import moved
from kopt.ir.sums import SumAnalysis, is_sum
from kopt.ir.to_ssa import IndexWriter
from kopt.ir.to_tiles import TileWriter
from kopt.passes.access_building import replace_load
from kopt.passes.normalising.indices import index_of, tile_of
from kopt.passes.regrouping import regroup


def without_repeats(load: LoadOp, sums: SumAnalysis) -> LoadOp:
    """The load without the dimensions that none of its indices differs along, of which a broadcast is used then; where
    they are the same in groups of lanes, with one lane for each group. Else the load; so where it is masked.

        %v = tile.load %x[%n, %k] : memref<20x96xf32> -> !tile.tile<b0=16 x b1=96 x f32>   // %n is one number
    becomes
        %w = tile.load %x[%one, %k1] : memref<20x96xf32> -> !tile.tile<b1=96 x f32>
        %v = tile.broadcast %w dims [1] : !tile.tile<b1=96 x f32> to !tile.tile<b0=16 x b1=96 x f32>

    Where ``%n`` is the same in groups of 4 rows, ``%w`` has 4 rows, each of which is broadcast to 4.
    """
    groups = repeats(load, sums)
    if groups is None:
        return load
    build, entries, shape = Builder(load), list(load.entries), array_type(load.memory).get_shape()
    kept = narrow(entries, shape, groups, build, sums)
    found = LoadOp(load.memory, entries, attributes=load.attributes)
    value, axes = build.add(found, load.result.name_hint or "once"), block_axes(entries, shape)
    value = _spread_groups(value, axes, [groups[dim] for dim in kept] or [1], build)
    replace_load(load, as_block_of(load, value, axes, kept, build))
    return found


def narrow(entries: list[Entry], shape: Sequence[int], groups: Groups, build: Builder, sums: SumAnalysis) -> list[int]:
    """Leaves index tiles with one lane for each of some groups, and says which dimensions these have. Of one group in
    all they are numbers; or tiles of one lane, where such a number is a lane of a tile."""
    if all(group == 1 for group in groups):
        return list(range(len(groups)))
    tiles = index_tiles(entries)
    types = {n: tile_type(tile) for n, tile in tiles.items()}
    sizes = next(few(type.shape, groups) for type in types.values())
    kept = [dim for dim, size in enumerate(sizes) if size > 1]
    places = moved({dim: place for place, dim in enumerate(kept)})
    forms = {n: places.expr(_sum(tile, types[n].shape, groups, sums)) for n, tile in tiles.items()}
    are_numbers = all(map(IndexWriter.can_write, forms.values()))
    for n, form in forms.items():
        dims = [types[n].dims.data[dim] if groups[dim] == 1 else DimAttr(sizes[dim]) for dim in kept]
        if kept or not are_numbers:
            entries[n] = tile_of(form, dims or [DimAttr(1)], build, sums)
        else:
            entries[n] = element(form, shape[n], build, sums)
    return kept


def _sum(tile: SSAValue, shape: Sequence[int], groups: Groups, sums: SumAnalysis) -> IndexExpr:
    """An index tile at the first lane of each group: quotients of lanes may be a sum there."""
    exact, form = (first_of(analysis.expr(tile), shape, groups) for analysis in (sums.exact, sums))
    return exact if is_sum(exact) and TileWriter.can_write(exact) else form


def _spread_groups(value: SSAValue, axes: Sequence[IndexedDim], groups: Sequence[int], build: Builder) -> SSAValue:
    """A block of one lane for each group, as one of all of their lanes."""
    for n, axis in enumerate(axes):
        group = 1 if axis.gather_dim is None else groups[axis.gather_dim]
        if group > 1:
            dims = [*tile_type(value).dims.data]
            wide = [*dims[: n + 1], DimAttr(group), *dims[n + 1 :]]
            value = build.spread(value, wide, [place for place in range(len(wide)) if place != n + 1])
            dims[n] = DimAttr(dims[n].size.data * group)
            value = regroup(build, value, dims)
    return value


def as_block_of(
    load: LoadOp, value: SSAValue, axes: Sequence[IndexedDim], kept: Sequence[int], build: Builder
) -> SSAValue:
    """A block that lacks some dimensions of the gathered places, all but those ``kept``, as one with a load's."""
    before = block_axes(load.entries, array_type(load.memory).get_shape())
    if not kept:  # a place of one lane is no dimension of the block
        dims = tile_type(value).dims.data
        value = build.reshape(value, [dims[n] for n, axis in enumerate(axes) if axis.gather_dim is None])
        axes = [axis for axis in axes if axis.gather_dim is None]
    every = range(len(before))
    places = [[_origin(old, every) for old in before].index(_origin(axis, kept)) for axis in axes]
    value = build.transpose(value, sorted(range(len(places)), key=places.__getitem__))
    return build.spread(value, tile_type(load.result).dims.data, sorted(places))


def element(form: IndexExpr, extent: int, build: Builder, sums: SumAnalysis) -> int | SSAValue:
    """One element's number, inside the array."""
    if (known := form.number) is not None:
        return min(max(known, 0), extent - 1)
    below = build.add(arith.MinSIOp(index_of(form, build, sums), build.index(extent - 1)))
    return build.add(arith.MaxSIOp(below, build.index(0)))


def _origin(axis: IndexedDim, kept: Sequence[int]) -> tuple[str, int]:
    """What a block's dimension comes from: one of the gathered places', or a position in the index list."""
    return ("position", axis.position) if axis.gather_dim is None else ("place", kept[axis.gather_dim])
