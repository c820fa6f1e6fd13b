"""Bounded-window gathers, of elements near one another: ``scales[(row >> 7) * 512 + (row & 31) * 16]``.

The block of memory that holds all of them comes, and they are picked from it on the chip.
"""

from __future__ import annotations

from math import prod

from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from kopt.analysis.storage import wide
from kopt.analysis.values.bounded import Bounded
from kopt.dialects.builder import Builder
from kopt.dialects.tile import ConcatOp, DimAttr, LoadOp, ShiftOp, SplatOp, TakeAlongOp, element_of, tile_type
from kopt.ir.from_ssa import IndexAnalysis
from kopt.passes.access_building import replace_load
from kopt.passes.normalising.indices import index_of
from kopt.passes.regrouping import in_parts, regroup
from kopt.passes.replacing import replacing
from kopt.passes.retyping import all_lanes
from kopt.targets.budget import Budget
from kopt.targets.tiling import LANES


def fetch_bounded_window(load: LoadOp, analysis: IndexAnalysis, found: Bounded) -> None:
    """Puts elements of a block in the place of a load from an array of one dimension.

        %v = tile.load %x[%at] : memref<36864xui8> -> !tile.tile<b0=128 x b1=16 x ui8>   // 0 to 2047 from %n on
    becomes
        %w = tile.load %x[tile.shift (tile.whole 2048) by %n] …   // as 16 rows of 128
        …   // of %w the rows (%at - %n) / 128, and of those the lanes (%at - %n) % 128
    """
    (entry,), rows, build = load.indices, found.rows, Builder(load)
    first = index_of(found.first, build, analysis)
    block = build.add(ShiftOp(build.add(all_lanes(rows * LANES, load)), first))
    value = build.add(replacing(load, LoadOp(load.memory, [block])), "near")
    value = build.reshape(build.cast(value, wide(element_of(value))), [rows, LANES])
    start = build.add(SplatOp(first, tile_type(entry).with_element(i32)))
    places = build.compute("sub", build.cast(entry, i32), start)
    places = build.reshape(places, tile_type(places).shape)  # plain dimensions may be cut
    parts = [_picked(value, part, build) for part in in_parts(build, places, Budget.PICKED)]
    type = tile_type(load.result)
    value = parts[0] if len(parts) == 1 else build.add(ConcatOp(parts, 0))
    replace_load(load, build.cast(build.reshape(value, type.dims.data), type.element_type))


def _picked(value: SSAValue, place: SSAValue, build: Builder) -> SSAValue:
    """The elements of rows of lanes by their number: their row first, then of that the lane."""
    dims, count = tile_type(place).dims.data, prod(tile_type(place).shape)
    place = regroup(build, place, [count])
    row = build.with_number("shr", place, LANES.bit_length() - 1)
    rows = build.add(TakeAlongOp(value, build.spread(row, [count, DimAttr(LANES)], [0]), 0))
    lane = build.spread(build.with_number("and", place, LANES - 1), [count, DimAttr(1)], [0])
    return regroup(build, build.reshape(build.add(TakeAlongOp(rows, lane, 1)), [count]), dims)
