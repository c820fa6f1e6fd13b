"""Gathers of elements near one another, from a computed one on: ``scales[(row >> 7) * 512 + (row & 31) * 16]``.

The block of memory that holds all of them comes, and they are picked from it on the chip.
"""

from __future__ import annotations

from math import prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from kopt.analysis.lane_spread import KEEPS, factor, is_single, spread
from kopt.analysis.linear import begin
from kopt.dialects.tile import (
    BeginOp,
    ConcatOp,
    DimAttr,
    ElementwiseOp,
    FullOp,
    IndexOp,
    LoadOp,
    ShiftOp,
    SliceOp,
    SplatOp,
    TakeAlongOp,
    is_gather,
)
from kopt.passes.gathers.access import LANES
from kopt.passes.gathers.building import array_type, element_bits, replace_load
from kopt.passes.gathers.indices import as_index
from kopt.passes.mosaic.building import element_of, type_of, wide
from kopt.passes.retyping import all_lanes
from kopt.passes.scatters.building import Builder

#: Elements that are picked at once: a row of lanes stands for each on the way. And in all, in parts.
_PICKED, _IN_PARTS = 4096, 16384
#: Elements of the block that come for one that is picked, at most.
_FETCHED = 64

#: The divisor that the second operand of a division says, and of what gives the rest of one.
_QUOTIENTS = {"shr": lambda bits: 1 << bits, "floordiv": lambda by: by}
_RESTS = {"and": lambda mask: mask + 1, "mod": lambda by: by}


def fetch_near(load: LoadOp) -> bool:
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
    near, count, shape = spread(entry), prod(type_of(entry).shape), type_of(entry).shape
    if near is None or not 0 < count <= _IN_PARTS or prod(shape[1:]) > _PICKED or near.size > count * _FETCHED:
        return False
    rows, build = -(-near.size // LANES), Builder(load)
    if rows * LANES > array_type(load.memory).get_shape()[0]:
        return False
    first = _as_value(_sum(_number(entry, build), near.low, build), build)
    block = build.add(ShiftOp(build.add(all_lanes(rows * LANES, load)), first))
    value = build.named("near", LoadOp(load.memory, [block]))
    value = build.reshape(build.cast(value, wide(element_of(value))), [rows, LANES])
    start = build.add(SplatOp(first, type_of(entry).with_element(i32)))
    places = build.compute("sub", build.cast(entry, i32), start)
    places = build.reshape(places, type_of(places).shape)  # plain dimensions may be cut
    parts = [_picked(value, part, build) for part in _parts(places, build)]
    type = type_of(load.result)
    value = parts[0] if len(parts) == 1 else build.add(ConcatOp(parts, 0))
    replace_load(load, build.cast(build.reshape(value, type.dims.data), type.element_type))
    return True


def _parts(places: SSAValue, build: Builder) -> list[SSAValue]:
    """The rows of a tile, as many together as are picked at once."""
    size, *others = type_of(places).shape
    step = max(1, _PICKED // prod(others))
    if size <= step:
        return [places]
    zeros, ones = [0] * len(others), [1] * (len(others) + 1)
    starts = range(0, size, step)
    return [build.add(SliceOp(places, [n, *zeros], [min(step, size - n), *others], ones)) for n in starts]


def _picked(value: SSAValue, place: SSAValue, build: Builder) -> SSAValue:
    """The elements of rows of lanes by their number: their row first, then of that the lane."""
    dims, count = type_of(place).dims.data, prod(type_of(place).shape)
    place = build.regroup(place, [count])
    row = build.with_number("shr", place, LANES.bit_length() - 1)
    rows = build.add(TakeAlongOp(value, build.spread(row, [count, DimAttr(LANES)], [0]), 0))
    lane = build.spread(build.with_number("and", place, LANES - 1), [count, DimAttr(1)], [0])
    return build.regroup(build.reshape(build.add(TakeAlongOp(rows, lane, 1)), [count]), dims)


def _number(value: SSAValue, build: Builder) -> int | SSAValue:
    """The number that the lanes of a tile of a known spread are near."""
    op, known = value.owner, spread(value)
    if known is not None and known.divisor == 0:
        return 0
    if is_single(value):
        return as_index(value, build)
    if isinstance(op, KEEPS):
        return _number(op.input, build)
    if isinstance(op, FullOp):
        return int(op.number)
    if isinstance(op, SplatOp):
        return as_index(op.scalar, build)
    if isinstance(op, IndexOp):
        first = begin(op.range)
        return build.add(BeginOp(op.range)) if first.terms else first.const
    return _computed(op, build) if isinstance(op, ElementwiseOp) else 0


def _computed(op: ElementwiseOp, build: Builder) -> int | SSAValue:
    first, second = op.inputs
    if op.ROW.name in _QUOTIENTS:
        return _quotient(_number(first, build), _QUOTIENTS[op.ROW.name](factor(second) or 0), build)
    if op.ROW.name in _RESTS:
        return _rest(_number(first, build), _RESTS[op.ROW.name](factor(second) or 0), build)
    a, b = _number(first, build), _number(second, build)
    if op.ROW.name == "add":
        return _sum(a, b, build)
    if isinstance(a, int) and isinstance(b, int):
        return a - b if op.ROW.name == "sub" else a * b
    if op.ROW.name == "sub":
        return build.add(arith.SubiOp(_as_value(a, build), _as_value(b, build)))
    return build.add(arith.MuliOp(_as_value(a, build), _as_value(b, build)))


def _quotient(number: int | SSAValue, by: int, build: Builder) -> int | SSAValue:
    if isinstance(number, int):
        return number // by
    return build.add(arith.FloorDivSIOp(number, build.index(by)))


def _rest(number: int | SSAValue, by: int, build: Builder) -> int | SSAValue:
    """Of a number below 0, too, what it is beyond a multiple, as the tile has it: a remainder would be negative."""
    if isinstance(number, int):
        return number % by
    groups = build.add(arith.FloorDivSIOp(number, build.index(by)))
    return build.add(arith.SubiOp(number, build.add(arith.MuliOp(groups, build.index(by)))))


def _sum(a: int | SSAValue, b: int | SSAValue, build: Builder) -> int | SSAValue:
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    if a == 0 or b == 0:
        return b if a == 0 else a
    return build.add(arith.AddiOp(_as_value(a, build), _as_value(b, build)))


def _as_value(number: int | SSAValue, build: Builder) -> SSAValue:
    return build.index(number) if isinstance(number, int) else number
