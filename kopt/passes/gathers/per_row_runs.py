"""Per-row runs: gathers of lanes that follow a computed element of each place, ``x[starts[:, None] + k]``.

The aligned rows of memory around the lanes of each place come, and are shifted on the chip, by powers of two.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from kopt.analysis.storage import wide
from kopt.analysis.values.form import GROUP, element_bits
from kopt.analysis.values.runs import Runs, unit_of
from kopt.dialects.builder import Builder, named
from kopt.dialects.tile import (
    ALL,
    ConcatOp,
    DimAttr,
    FullOp,
    LoadOp,
    TileType,
    array_type,
    element_of,
    is_gather,
    tile_type,
)
from kopt.ir.sums import SumAnalysis
from kopt.passes.access_building import replace_load
from kopt.passes.launch_arrays import Arrays
from kopt.passes.normalising.indices import tile_of
from kopt.passes.regrouping import every
from kopt.passes.replacing import replacing
from kopt.targets.tiling import LANES


def fetch_runs(load: LoadOp, found: Runs, arrays: Arrays, sums: SumAnalysis) -> LoadOp:
    """Puts lanes of rows in a load's place; gives the load of the rows.

        %v = tile.load %x[%at] : memref<6000xf32> -> !tile.tile<b0=16 x 64 x f32>   // %s[:, None] + 0 … 63
    becomes
        %r = tile.load %rows[%n, :] : memref<47x128xf32> -> !tile.tile<b0=16 x 2 x 128 x f32>   // %s / 128 + 0, 1
        …   // %r as 256 lanes, from lane 64 on where %s has that bit, then from lane 32 on, …

    Of an array of several dimensions whole rows come, and go round.
    """
    fetching = _Runs(load, found, sums)
    return fetching.of_rows() if found.units is None else fetching.of_flat(found.units, arrays)


class _Runs:
    """The state of rewriting one load."""

    def __init__(self, load: LoadOp, found: Runs, sums: SumAnalysis):
        self.load, self.build, self.sums, self.found = load, Builder(load), sums, found
        self.run = found.run
        index = load.entries[-1]
        assert isinstance(index, SSAValue)
        self.dims = list(tile_type(index).dims.data)[: None if self.run.size == 1 else -1]

    def of_flat(self, count: int, arrays: Arrays) -> LoadOp:
        """Of an array of one dimension: the rows that DMAs move one by one."""
        group, unit = GROUP.get(element_bits(self.load.memory), 1), unit_of(self.load)
        first, build = self._first(), self.build
        dims = [*self.dims, DimAttr(count)]
        row = build.spread(build.with_number("shr", first, unit.bit_length() - 1), dims, range(len(self.dims)))
        row = build.compute("add", row, build.numbers(count, dims, len(self.dims)))
        extent = -(-array_type(self.load.memory).get_shape()[0] // unit)
        shape = [extent, LANES] if group == 1 else [extent, group, LANES]
        memory = arrays.view(self.load.memory, [extent * unit], shape)
        rows = replacing(self.load, LoadOp(memory, [row, *[ALL] * (len(shape) - 1)]))
        value = self._as_lanes(build.add(rows, "rows"), count * unit, len(shape))
        for bit in _bits(self.found.fine, unit):
            lanes = tile_type(value).shape[-1]
            value = self._where_bit(first, bit, build.cut(value, bit, lanes), build.cut(value, 0, lanes - bit))
        self._finish(value)
        return rows

    def of_rows(self) -> LoadOp:
        """Of an array of several dimensions: whole rows, which go round until the first element is the first lane."""
        build, extent = self.build, array_type(self.load.memory).get_shape()[-1]
        entries = [
            entry if form is None else tile_of(form, self.dims, build, self.sums)
            for entry, form in zip(self.load.entries[:-1], self.found.forms, strict=True)
        ]
        found = replacing(self.load, LoadOp(self.load.memory, [*entries, ALL]))
        value = build.add(found, "rows")
        if not any(is_gather(entry) for entry in entries):
            *outer, row = tile_type(value).dims.data
            value = build.spread(value, [*outer, *self.dims, row], [*range(len(outer)), len(outer) + len(self.dims)])
        value, lanes = self._as_lanes(value, extent, 1), max(extent, self.found.span)
        if lanes > extent:
            *outer, _ = tile_type(value).dims.data
            rest = build.add(FullOp(0, TileType([*outer, lanes - extent], tile_type(value).element_type)))
            value = build.add(ConcatOp([value, rest], len(outer)))
        first = self._first()
        around = build.with_number("add", first, lanes)
        first = build.select(build.with_number("lt", first, 0), around, first)
        for bit in _bits(1, 1 << (lanes - 1).bit_length()):
            parts = [build.cut(value, bit, lanes), build.cut(value, 0, bit)]
            value = self._where_bit(first, bit, build.add(ConcatOp(parts, tile_type(value).rank - 1)), value)
        self._finish(value)
        return found

    def _first(self) -> SSAValue:
        """The first element of each place."""
        return named(tile_of(self.run.first, self.dims, self.build, self.sums), "first")

    def _as_lanes(self, value: SSAValue, lanes: int, count: int) -> SSAValue:
        """The last dimensions, ``count`` of them, as the lanes of one, in a type of 32 bits."""
        element, outer = element_of(value), tile_type(value).dims.data[:-count]
        return self.build.reshape(self.build.cast(value, wide(element)), [*outer, DimAttr(lanes)])

    def _where_bit(self, first: SSAValue, bit: int, value: SSAValue, other: SSAValue) -> SSAValue:
        """One of two values, for each place by a bit of its first element."""
        build, dims = self.build, tile_type(other).dims.data
        outer = len(dims) - 1 - len(self.dims)
        has = build.spread(build.with_number("and", first, bit), dims, range(outer, len(dims) - 1))
        return build.select(build.with_number("ne", has, 0), value, other)

    def _finish(self, value: SSAValue) -> None:
        """Puts every ``step``-th lane in the load's place."""
        build, run, type = self.build, self.run, tile_type(self.load.result)
        offset = self.found.offset % run.step
        value = every(build, build.cut(value, self.found.offset - offset, self.found.span), run.step, offset)
        replace_load(self.load, build.cast(build.reshape(value, type.dims.data), type.element_type))


def _bits(fine: int, unit: int) -> list[int]:
    """The powers of two below ``unit`` from ``fine`` on, the largest first."""
    return [1 << n for n in reversed(range(fine.bit_length() - 1, unit.bit_length() - 1))]
