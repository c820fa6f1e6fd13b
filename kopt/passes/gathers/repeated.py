"""Index lists that are the same along a dimension of lanes: ``x[(i // 16)[:, None], j[None, :]]`` of blocks of 16 rows.

What is there comes once, and is repeated on the chip.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from kopt.analysis.values.form import array_type
from kopt.dialects.tile import Axis, Entry, LoadOp, block_axes, is_gather
from kopt.ir.index_expr import IndexExpr
from kopt.ir.rewriting import moved
from kopt.ir.sums import SumAnalysis
from kopt.passes.gathers.building import replace_load
from kopt.passes.gathers.indices import index_of, tile_of
from kopt.passes.mosaic.building import type_of
from kopt.passes.scatters.building import Builder


def once(load: LoadOp, sums: SumAnalysis) -> LoadOp:
    """The load without the dimensions that none of its indices differs along, of which a broadcast is used then.

    Else the load; so where it is masked, for a mask may differ along them.

        %v = tile.load %x[%n, %k] : memref<20x96xf32> -> !tile.tile<b0=16 x b1=96 x f32>   // %n is one number
    becomes
        %w = tile.load %x[%one, %k1] : memref<20x96xf32> -> !tile.tile<b1=96 x f32>
        %v = tile.broadcast %w dims [1] : !tile.tile<b1=96 x f32> to !tile.tile<b0=16 x b1=96 x f32>
    """
    if load.mask is not None or not is_repeated(load, sums):
        return load
    build, entries, shape = Builder(load), list(load.entries), array_type(load.memory).get_shape()
    kept = narrow(entries, shape, build, sums)
    found = LoadOp(load.memory, entries, attributes=load.attributes)
    value = build.named(load.result.name_hint or "once", found)
    replace_load(load, as_block_of(load, value, block_axes(entries, shape), kept, build))
    return found


def is_repeated(load: LoadOp, sums: SumAnalysis) -> bool:
    """Whether no index of a load differs along some dimension of lanes, but one does along another."""
    tiles = [entry for entry in load.entries if isinstance(entry, SSAValue) and is_gather(entry)]
    wide = {dim for tile in tiles for dim, size in enumerate(type_of(tile).shape) if size > 1}
    along = frozenset[int]().union(*(sums.expr(tile).along for tile in tiles))
    return bool(along & wide) and not wide <= along


def narrow(entries: list[Entry], shape: Sequence[int], build: Builder, sums: SumAnalysis) -> list[int]:
    """Leaves indices without the dimensions that none of them differs along, and says which ones they have."""
    tiles = {n: entry for n, entry in enumerate(entries) if isinstance(entry, SSAValue) and is_gather(entry)}
    forms = {n: sums.expr(tile) for n, tile in tiles.items()}
    kept = sorted(frozenset[int]().union(*(form.along for form in forms.values())))
    wide = [dim for tile in tiles.values() for dim, size in enumerate(type_of(tile).shape) if size > 1]
    if set(wide) <= set(kept):
        return list(range(max((type_of(tile).rank for tile in tiles.values()), default=0)))
    for n, form in forms.items():
        dims = [type_of(tiles[n]).dims.data[dim] for dim in kept]
        shorter = moved({dim: place for place, dim in enumerate(kept)}).expr(form)
        entries[n] = tile_of(shorter, dims, build, sums) if dims else element(shorter, shape[n], build, sums)
    return kept


def as_block_of(load: LoadOp, value: SSAValue, axes: Sequence[Axis], kept: Sequence[int], build: Builder) -> SSAValue:
    """A block that lacks some dimensions of the gathered places, all but those ``kept``, as one with a load's."""
    before = block_axes(load.entries, array_type(load.memory).get_shape())
    every = range(len(before))
    places = [[_origin(old, every) for old in before].index(_origin(axis, kept)) for axis in axes]
    value = build.transpose(value, sorted(range(len(places)), key=places.__getitem__))
    return build.spread(value, type_of(load.result).dims.data, sorted(places))


def element(form: IndexExpr, extent: int, build: Builder, sums: SumAnalysis) -> int | SSAValue:
    """One element's number, inside the array."""
    if (known := form.number) is not None:
        return min(max(known, 0), extent - 1)
    below = build.add(arith.MinSIOp(index_of(form, build, sums), build.index(extent - 1)))
    return build.add(arith.MaxSIOp(below, build.index(0)))


def _origin(axis: Axis, kept: Sequence[int]) -> tuple[str, int]:
    """What a block's dimension comes from: one of the gathered places', or a position in the index list."""
    return ("position", axis.position) if axis.gather_dim is None else ("place", kept[axis.gather_dim])
