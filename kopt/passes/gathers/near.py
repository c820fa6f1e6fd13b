"""Gathers of elements near one another, from a computed one on: ``scales[(row >> 7) * 512 + (row & 31) * 16]``.

The block of memory that holds all of them comes, and they are picked from it on the chip.
"""

from __future__ import annotations

from math import prod

from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from kopt.dialects.tile import (
    ConcatOp,
    DimAttr,
    LoadOp,
    ShiftOp,
    SplatOp,
    TakeAlongOp,
    is_gather,
)
from kopt.ir.access_relation import settled
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.nearness import near
from kopt.ir.to_ssa import IndexWriter
from kopt.passes.gathers.building import array_type, element_bits, replace_load
from kopt.passes.gathers.indices import as_index
from kopt.passes.mosaic.building import element_of, type_of, wide
from kopt.passes.replacing import replacing
from kopt.passes.retyping import all_lanes
from kopt.passes.scatters.building import Builder
from kopt.targets.budget import Budget
from kopt.targets.tiling import LANES

#: Elements of the block that come for one that is picked, at most.
_FETCHED = 64


def fetch_near(load: LoadOp, analysis: IndexAnalysis) -> bool:
    """Puts elements of a block in the place of a load from an array of one dimension; whether it has.

    So where all elements are known to be among some that follow one another, few of them.

        %v = tile.load %x[%at] : memref<36864xui8> -> !tile.tile<b0=128 x b1=16 x ui8>   // 0 to 2047 from %n on
    becomes
        %w = tile.load %x[tile.shift (tile.whole 2048) by %n] …   // as 16 rows of 128
        …   // of %w the rows (%at - %n) / 128, and of those the lanes (%at - %n) % 128
    """
    (entry,) = load.entries if len(load.entries) == 1 else (None,)
    if not isinstance(entry, SSAValue) or not is_gather(entry) or element_bits(load.memory) > 32:
        return False
    extent, shape = array_type(load.memory).get_shape()[0], type_of(entry).shape
    found, count = near(settled(analysis.expr(entry), extent)), prod(shape)
    if found is None or not IndexWriter.can_write(found.base) or (size := found.distance.size) is None:
        return False
    if not Budget.picks(count, prod(shape[1:])) or size > count * _FETCHED:
        return False
    rows, build = -(-size // LANES), Builder(load)
    if rows * LANES > extent:
        return False
    write = IndexWriter(build.add, lambda value: as_index(value, build), analysis.begin)
    first = write.value(found.base + (found.distance.low or 0))
    block = build.add(ShiftOp(build.add(all_lanes(rows * LANES, load)), first))
    value = build.named("near", replacing(load, LoadOp(load.memory, [block])))
    value = build.reshape(build.cast(value, wide(element_of(value))), [rows, LANES])
    start = build.add(SplatOp(first, type_of(entry).with_element(i32)))
    places = build.compute("sub", build.cast(entry, i32), start)
    places = build.reshape(places, type_of(places).shape)  # plain dimensions may be cut
    parts = [_picked(value, part, build) for part in build.parts(places, Budget.PICKED)]
    type = type_of(load.result)
    value = parts[0] if len(parts) == 1 else build.add(ConcatOp(parts, 0))
    replace_load(load, build.cast(build.reshape(value, type.dims.data), type.element_type))
    return True


def _picked(value: SSAValue, place: SSAValue, build: Builder) -> SSAValue:
    """The elements of rows of lanes by their number: their row first, then of that the lane."""
    dims, count = type_of(place).dims.data, prod(type_of(place).shape)
    place = build.regroup(place, [count])
    row = build.with_number("shr", place, LANES.bit_length() - 1)
    rows = build.add(TakeAlongOp(value, build.spread(row, [count, DimAttr(LANES)], [0]), 0))
    lane = build.spread(build.with_number("and", place, LANES - 1), [count, DimAttr(1)], [0])
    return build.regroup(build.reshape(build.add(TakeAlongOp(rows, lane, 1)), [count]), dims)
