"""Gathers of lanes that follow one another, from a computed element on for each place: ``x[starts[:, None] + k]``.

The aligned rows of memory around the lanes of each place come, and are shifted on the chip, by powers of two.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.ir import SSAValue

from kopt.dialects.tile import ALL, ConcatOp, DimAttr, FullOp, LoadOp, TileType, is_gather
from kopt.dialects.tile.index_list import Entry
from kopt.ir.index_expr import IndexExpr
from kopt.ir.sums import SumAnalysis
from kopt.passes.gathers.access import GROUP
from kopt.passes.gathers.building import Arrays, array_type, element_bits, replace_load
from kopt.passes.gathers.indices import tile_of
from kopt.passes.gathers.lane_runs import LaneRun, along_last, lane_run, single
from kopt.passes.mosaic.building import element_of, type_of, wide
from kopt.passes.replacing import replacing
from kopt.passes.scatters.building import Builder
from kopt.targets.tiling import LANES


def fetch_runs(load: LoadOp, arrays: Arrays, sums: SumAnalysis) -> LoadOp | None:
    """Puts lanes of rows in a load's place; gives the load of the rows. None where no lanes follow one another.

        %v = tile.load %x[%at] : memref<6000xf32> -> !tile.tile<b0=16 x 64 x f32>   // %s[:, None] + 0 … 63
    becomes
        %r = tile.load %rows[%n, :] : memref<47x128xf32> -> !tile.tile<b0=16 x 2 x 128 x f32>   // %s / 128 + 0, 1
        …   // %r as 256 lanes, from lane 64 on where %s has that bit, then from lane 32 on, …

    Of an array of several dimensions whole rows come, and go round.
    """
    *others, last = load.entries
    if not isinstance(last, SSAValue) or not is_gather(last) or element_bits(load.memory) > 32:
        return None
    run = lane_run(last, sums)
    if not others:
        return _Runs(load, run or single(last, sums), sums).of_flat(arrays)
    if run is None or run.size == 1:
        return None
    gathers = [entry if isinstance(entry, SSAValue) and is_gather(entry) else None for entry in others]
    counted = [None if entry is None else along_last(entry, sums) for entry in gathers]
    if any(gathers) and None in _from_first(gathers):
        return None
    forms = [None if found is None or found.step != 0 else found.start for found in counted]
    if not run.first.along and not any(form.along for form in forms if form is not None):
        return None
    known = all(form is not None or entry is None for form, entry in zip(forms, gathers, strict=True))
    return _Runs(load, run, sums).of_rows(others, forms) if known else None


class _Runs:
    """The state of rewriting one load. All lanes of a place are among the ``span`` from its ``first`` element on.

    That is at a multiple of what first elements are known to be apart, so that the ``offset`` lanes further that other
    loads take come with the same rows.
    """

    def __init__(self, load: LoadOp, run: LaneRun, sums: SumAnalysis):
        self.load, self.build, self.sums = load, Builder(load), sums
        self.fine = math.gcd(run.pitch, GROUP.get(element_bits(load.memory), 1) * LANES)
        self.offset = run.const % (run.step if self.fine % run.step else self.fine)
        self.run = LaneRun(run.first - self.offset, run.step, run.size)
        self.span = run.step * (run.size + self.offset // run.step)
        index = load.entries[-1]
        assert isinstance(index, SSAValue)
        self.dims = list(type_of(index).dims.data)[: None if run.size == 1 else -1]

    def of_flat(self, arrays: Arrays) -> LoadOp | None:
        """Of an array of one dimension: the rows that DMAs move one by one, if they are fewer than the lanes, or serve
        several loads."""
        if not self.run.first.along:
            return None
        group = GROUP.get(element_bits(self.load.memory), 1)
        unit = group * LANES
        fine = math.gcd(self.run.first.divisor, unit)
        count = -(-(unit - fine + self.span) // unit)
        if count >= self.run.size and not (count == 1 < fine):
            return None
        first, build = self._first(), self.build
        dims = [*self.dims, DimAttr(count)]
        row = build.spread(build.with_number("shr", first, unit.bit_length() - 1), dims, range(len(self.dims)))
        row = build.compute("add", row, build.numbers(count, dims, len(self.dims)))
        extent = -(-array_type(self.load.memory).get_shape()[0] // unit)
        shape = [extent, LANES] if group == 1 else [extent, group, LANES]
        memory = arrays.view(self.load.memory, [extent * unit], shape)
        found = replacing(self.load, LoadOp(memory, [row, *[ALL] * (len(shape) - 1)]))
        value = self._as_lanes(build.named("rows", found), count * unit, len(shape))
        for bit in _bits(fine, unit):
            lanes = type_of(value).shape[-1]
            value = self._where_bit(first, bit, build.cut(value, bit, lanes), build.cut(value, 0, lanes - bit))
        self._finish(value)
        return found

    def of_rows(self, others: Sequence[Entry], forms: Sequence[IndexExpr | None]) -> LoadOp:
        """Of an array of several dimensions: whole rows, which go round until the first element is the first lane."""
        build, extent = self.build, array_type(self.load.memory).get_shape()[-1]
        entries = [
            entry if form is None else tile_of(form, self.dims, build, self.sums)
            for entry, form in zip(others, forms, strict=True)
        ]
        found = replacing(self.load, LoadOp(self.load.memory, [*entries, ALL]))
        value = build.named("rows", found)
        if not any(is_gather(entry) for entry in entries):
            *outer, row = type_of(value).dims.data
            value = build.spread(value, [*outer, *self.dims, row], [*range(len(outer)), len(outer) + len(self.dims)])
        value, lanes = self._as_lanes(value, extent, 1), max(extent, self.span)
        if lanes > extent:
            *outer, _ = type_of(value).dims.data
            rest = build.add(FullOp(0, TileType([*outer, lanes - extent], type_of(value).element_type)))
            value = build.add(ConcatOp([value, rest], len(outer)))
        first = self._first()
        around = build.with_number("add", first, lanes)
        first = build.select(build.with_number("lt", first, 0), around, first)
        for bit in _bits(1, 1 << (lanes - 1).bit_length()):
            parts = [build.cut(value, bit, lanes), build.cut(value, 0, bit)]
            value = self._where_bit(first, bit, build.add(ConcatOp(parts, type_of(value).rank - 1)), value)
        self._finish(value)
        return found

    def _first(self) -> SSAValue:
        """The first element of each place."""
        return self.build.named("first", tile_of(self.run.first, self.dims, self.build, self.sums))

    def _as_lanes(self, value: SSAValue, lanes: int, count: int) -> SSAValue:
        """The last dimensions, ``count`` of them, as the lanes of one, in a type of 32 bits."""
        element, outer = element_of(value), type_of(value).dims.data[:-count]
        return self.build.reshape(self.build.cast(value, wide(element)), [*outer, DimAttr(lanes)])

    def _where_bit(self, first: SSAValue, bit: int, value: SSAValue, other: SSAValue) -> SSAValue:
        """One of two values, for each place by a bit of its first element."""
        build, dims = self.build, type_of(other).dims.data
        outer = len(dims) - 1 - len(self.dims)
        has = build.spread(build.with_number("and", first, bit), dims, range(outer, len(dims) - 1))
        return build.select(build.with_number("ne", has, 0), value, other)

    def _finish(self, value: SSAValue) -> None:
        """Puts every ``step``-th lane in the load's place."""
        build, run, type = self.build, self.run, type_of(self.load.result)
        offset = self.offset % run.step
        value = build.every(build.cut(value, self.offset - offset, self.span), run.step, offset)
        replace_load(self.load, build.cast(build.reshape(value, type.dims.data), type.element_type))


def _from_first(gathers: Sequence[SSAValue | None]) -> Sequence[SSAValue | None]:
    """The entries behind which the gathered places' dimensions stand."""
    return gathers[next(n for n, entry in enumerate(gathers) if entry is not None) :]


def _bits(fine: int, unit: int) -> list[int]:
    """The powers of two below ``unit`` from ``fine`` on, the largest first."""
    return [1 << n for n in reversed(range(fine.bit_length() - 1, unit.bit_length() - 1))]
