"""Dimensions of scratch memory that stand whole for an index that Mosaic does not take, and their lane numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import UnitAttr, i32
from xdsl.ir import SSAValue

from kopt.dialects.builder import Builder
from kopt.dialects.tile import (
    ELEMENTWISE,
    SPARE,
    ArangeOp,
    BeginOp,
    BroadcastOp,
    EndOp,
    IndexOp,
    RangeType,
    SliceAttr,
    SplatOp,
    TakeAlongOp,
    TileType,
    TransposeOp,
    tile_type,
)
from kopt.ir.from_ssa import IndexAnalysis
from kopt.targets.tiling import LANES, sublanes


@dataclass(frozen=True)
class Spread:
    """A dimension of ``extent`` lanes that stands whole for an index: dimension ``axis`` of the value, among them."""

    entry: SSAValue | SliceAttr
    axis: int
    extent: int

    @property
    def is_block(self) -> bool:
        """Whether it stands for a block of lanes, else for one."""
        return isinstance(self.entry, SliceAttr) or isinstance(self.entry.type, RangeType)

    @property
    def is_spare(self) -> bool:
        """Whether some lanes of the dimension are none of the block's."""
        if not isinstance(entry := self.entry, SliceAttr):
            return True
        step = entry.step.data
        return entry.start.data >= step or (self.extent - 1) // step >= entry.length

    def gathered(self, build: Builder, value: SSAValue) -> SSAValue:
        """A value whose lanes stand in the dimension; undefined where it has none of them."""
        return picked(build, value, self.sources(build), self.axis, self.is_spare)

    def sources(self, build: Builder) -> SSAValue:
        """For each lane of the dimension the number of the block's lane that stands there; another where none does."""
        numbers = _numbers(build, self.extent)
        if isinstance(entry := self.entry, SliceAttr):
            first = entry.start.data // entry.step.data
            numbers = build.with_number("floordiv", numbers, entry.step.data)
            return build.with_number("sub", numbers, first) if first else numbers
        return build.add(ELEMENTWISE["sub"](numbers, _splat(build, BeginOp(entry), tile_type(numbers))))

    def places(self, build: Builder) -> SSAValue:
        """For each lane of the block its number in the dimension."""
        if isinstance(entry := self.entry, SliceAttr):
            return build.add(ArangeOp(entry.start.data, entry.step.data, TileType([entry.length], i32)))
        return build.add(IndexOp(entry))

    def holds(self, build: Builder, type: TileType) -> SSAValue:
        """Which lanes of a spread block of a type are those that the index names."""
        wide = type.with_element(i32)
        numbers = _numbers(build, self.extent)
        if tile_type(numbers) != wide:
            numbers = build.add(BroadcastOp(numbers, [self.axis], wide))
        if isinstance(entry := self.entry, SliceAttr):
            return _in_slice(build, numbers, entry, self.extent)
        if not self.is_block:
            return build.add(ELEMENTWISE["eq"](numbers, build.add(SplatOp(entry, wide))))
        after = build.add(ELEMENTWISE["ge"](numbers, _splat(build, BeginOp(entry), wide)))
        before = build.add(ELEMENTWISE["lt"](numbers, _splat(build, EndOp(entry), wide)))
        return build.add(ELEMENTWISE["and"](after, before))


def indexes(entry: SSAValue | SliceAttr, position: int, analysis: IndexAnalysis) -> bool:
    """Whether Mosaic takes an index in a dimension of 32-bit memory; ``position`` counts from the end."""
    if isinstance(entry, SliceAttr):
        return position < -1 or entry.step.data == 1
    if not isinstance(entry.type, RangeType):
        return position < -1 or analysis.range(entry).number is not None
    start, size = analysis.begin(entry), entry.type.size
    if start.range.number is not None or position < -2:
        return True
    return math.gcd(start.divisor, size) % (LANES if position == -1 else sublanes(32)) == 0


def picked(build: Builder, value: SSAValue, lanes: SSAValue, axis: int, spare: bool = False) -> SSAValue:
    """The lanes of a dimension by number: as rows of a matrix, which are picked by one product.

    Where numbers are ``spare`` some are those of no lane: what they pick is left out.
    """
    dims = list(tile_type(value).dims.data)
    others = [n for n in range(len(dims)) if n != axis]
    order = [axis, *others]
    rest = math.prod(dims[n].size.data for n in others)
    (lane,) = tile_type(lanes).dims.data
    if order != sorted(order):
        value = build.add(TransposeOp(value, order))
    value = build.reshape(value, [dims[axis], rest])
    wide = build.add(BroadcastOp(lanes, [0], TileType([lane, rest], i32)))
    taken = TakeAlongOp(value, wide, 0)
    if spare:
        taken.attributes[SPARE] = UnitAttr()
    value = build.reshape(build.add(taken), [lane, *(dims[n] for n in others)])
    return build.add(TransposeOp(value, _inverse(order))) if order != sorted(order) else value


def _inverse(order: Sequence[int]) -> list[int]:
    return sorted(range(len(order)), key=order.__getitem__)


def _in_slice(build: Builder, numbers: SSAValue, entry: SliceAttr, extent: int) -> SSAValue:
    """Which of all numbers below ``extent`` a slice with a step has."""
    start, stop, step = entry.start.data, entry.stop.data, entry.step.data
    found = build.with_number("eq", build.with_number("mod", numbers, step), start % step)
    if start >= step:
        found = build.add(ELEMENTWISE["and"](found, build.with_number("ge", numbers, start)))
    if start + entry.length * step < extent:
        found = build.add(ELEMENTWISE["and"](found, build.with_number("lt", numbers, stop)))
    return found


def _splat(build: Builder, number: BeginOp | EndOp, type: TileType) -> SSAValue:
    return build.add(SplatOp(build.add(number), type))


def _numbers(build: Builder, extent: int) -> SSAValue:
    return build.add(ArangeOp(0, 1, TileType([extent], i32)))
