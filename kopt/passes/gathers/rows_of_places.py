"""Gathers near one number of each place: ``x[400000 - (rows[:, None] * 64 + j[None, :] % 32)]``.

The rows of memory around the number of each place come once for all of its lanes, which are picked from them on the
chip.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

from xdsl.ir import SSAValue

from kopt.analysis.storage import wide
from kopt.analysis.values.places import GatherPlaces, other_dim, unit_of
from kopt.dialects.builder import Builder
from kopt.dialects.tile import ALL, DimAttr, LoadOp, TakeAlongOp, array_type, element_of, is_gather, tile_type
from kopt.dialects.tile.index_list import Entry
from kopt.ir.index_expr import IndexExpr
from kopt.ir.rewriting import moved
from kopt.ir.sums import SumAnalysis
from kopt.passes.access_building import replace_load
from kopt.passes.launch_arrays import Arrays
from kopt.passes.normalising.indices import tile_of
from kopt.passes.replacing import replacing
from kopt.targets.tiling import LANES


def fetch_rows_of_flat(load: LoadOp, places: GatherPlaces, arrays: Arrays, sums: SumAnalysis) -> LoadOp:
    """Puts picks from the rows of each place in a load's place; gives the load of the rows.

        %v = tile.load %x[%at] : memref<6000xf32> -> !tile.tile<b0=16 x b1=64 x f32>   // %s[:, None] * 64 + %j % 16
    becomes
        %r = tile.load %rows[%n, :] : memref<47x128xf32> -> !tile.tile<16 x 1 x 128 x f32>   // %s * 64 / 128
        …   // of %r lanes %at - %n * 128
    """
    (entry,) = load.entries
    assert isinstance(entry, SSAValue)
    picking, unit, dims = _Picking(load, places.dims, sums), unit_of(load), list(_plain(entry, places.dims))
    build = picking.build
    first = tile_of(_along(places.first, places.dims), dims, build, sums)
    number = build.with_number("shr", first, unit.bit_length() - 1)
    several = [*dims, DimAttr(places.count)]
    rows = build.spread(number, several, range(len(dims)))
    rows = build.compute("add", rows, build.numbers(places.count, several, len(dims)))
    count = -(-array_type(load.memory).get_shape()[0] // unit)
    shape = [count, LANES] if unit == LANES else [count, unit // LANES, LANES]
    memory = arrays.view(load.memory, [count * unit], shape)
    found = replacing(load, LoadOp(memory, [rows, *[ALL] * (len(shape) - 1)]))
    value = build.add(found, "rows")
    value = build.reshape(build.cast(value, wide(element_of(value))), [*dims, DimAttr(places.count * unit)])
    begins = build.with_number("mul", number, unit)
    if (other := other_dim(places.dims, tile_type(entry).shape, places.distance)) is not None:
        known = places.first.const
        assert isinstance(known, int)
        pitch = gcd((places.first - known).divisor, unit)
        offset = build.with_number("sub", build.compute("sub", first, begins), known % pitch)
        picking.pick_alike(picking.moved_by(value, offset, pitch, unit), places.distance + known % pitch, other)
        return found
    every = _plain(entry, range(tile_type(entry).rank))
    within = build.reshape(build.cast(entry, element_of(begins)), every)
    picking.pick(value, build.compute("sub", within, build.spread(begins, every, places.dims)))
    return found


def fetch_rows_of_matrix(load: LoadOp, dims: tuple[int, ...], sums: SumAnalysis) -> LoadOp:
    """Puts picks from the rows of a matrix in a load's place, whose numbers differ along some dimensions of the block.

        %v = tile.load %x[%n, %m] : memref<40x300xf32> -> !tile.tile<b0=16 x b1=64 x f32>   // %s[:, None], 299 - %j
    becomes
        %r = tile.load %x[%s, :] : memref<40x300xf32> -> !tile.tile<16 x 300 x f32>
        …   // of %r lanes 299 - %j
    """
    last = load.entries[-1]
    assert isinstance(last, SSAValue)
    picking, own = _Picking(load, dims, sums), _plain(last, dims)
    build = picking.build

    def of_places(entry: Entry) -> Entry:
        if not is_gather(entry):
            return entry
        return tile_of(_along(sums.expr(entry), dims), own, build, sums)

    found = replacing(load, LoadOp(load.memory, [*map(of_places, load.entries[:-1]), ALL]))
    value = build.add(found, "rows")
    value = build.cast(value, wide(element_of(value)))
    if (other := other_dim(dims, tile_type(last).shape, sums.expr(last))) is not None:
        picking.pick_alike(value, sums.expr(last), other)
    else:
        picking.pick(value, build.reshape(last, _plain(last, range(tile_type(last).rank))))
    return found


def _plain(index: SSAValue, dims: Sequence[int]) -> list[DimAttr]:
    """Some dimensions of an index tile, without tags."""
    return [DimAttr(tile_type(index).shape[dim]) for dim in dims]


def _along(expr: IndexExpr, dims: Sequence[int]) -> IndexExpr:
    """An expression over some dimensions of a block, as one over those alone."""
    return moved({dim: place for place, dim in enumerate(dims)}).expr(expr)


class _Picking:
    """Puts lanes of rows, one row for each lane of a load's block along ``dims``, in the load's place."""

    def __init__(self, load: LoadOp, dims: tuple[int, ...], sums: SumAnalysis):
        self.load, self.dims, self.sums, self.build = load, dims, sums, Builder(load)

    def moved_by(self, value: SSAValue, offset: SSAValue, pitch: int, unit: int) -> SSAValue:
        """Rows from the lane on that each one's ``offset`` tells, a multiple of ``pitch`` below ``unit``."""
        for bit in (1 << n for n in reversed(range(pitch.bit_length() - 1, unit.bit_length() - 1))):
            lanes = tile_type(value).shape[-1]
            further, stays = self.build.cut(value, bit, lanes), self.build.cut(value, 0, lanes - bit)
            has = self.build.spread(self.build.with_number("and", offset, bit), tile_type(stays).dims.data, [0])
            value = self.build.select(self.build.with_number("ne", has, 0), further, stays)
        return value

    def pick_alike(self, value: SSAValue, lanes: IndexExpr, other: int) -> None:
        """Of each row the same lanes, along another dimension: a product, with rows that stand as columns."""
        count = DimAttr(tile_type(self.load.entries[-1]).shape[other])  # pyright: ignore[reportArgumentType]
        number = tile_of(_along(lanes, [other]), [count], self.build, self.sums)
        columns, places = self.build.transpose(value, [1, 0]), tile_type(value).dims.data[0]
        picked = self.build.add(TakeAlongOp(columns, self.build.spread(number, [count, places], [0]), 0))
        self._finish(self.build.transpose(picked, [1, 0]) if self.dims[0] < other else picked)

    def pick(self, value: SSAValue, within: SSAValue) -> None:
        """Of each row lanes by their numbers."""
        *_, row = tile_type(value).dims.data
        lanes = tile_type(within).dims.data
        rows = self.build.spread(value, [*lanes, row], [*self.dims, len(lanes)])
        number = self.build.spread(within, [*lanes, DimAttr(1)], range(len(lanes)))
        self._finish(self.build.reshape(self.build.add(TakeAlongOp(rows, number, len(lanes))), lanes))

    def _finish(self, value: SSAValue) -> None:
        type = tile_type(self.load.result)
        replace_load(self.load, self.build.cast(self.build.reshape(value, type.dims.data), type.element_type))
