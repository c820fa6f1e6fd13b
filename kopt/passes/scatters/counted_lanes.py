"""Blocks of some elements of a dimension as blocks of all of them, and which of those are in the first."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import i1, i32
from xdsl.ir import SSAValue

from kopt.dialects.tile import SplatOp, TakeAlongOp, TileType, tile_type
from kopt.dialects.tile.types import DimAttr
from kopt.ir.ranges import always_full, ranges_in_scope
from kopt.passes.access_building import AccessBuilder
from kopt.passes.mosaic.building import element_of


@dataclass
class CountedLanes:
    """Lanes along an axis of a block that count elements of a dimension of ``extent``, from ``first`` on."""

    build: AccessBuilder
    axis: int
    extent: int
    first: SSAValue

    def placed(self, value: SSAValue) -> SSAValue:
        """A block with all of the dimension's elements, each its lane or, where it has none, the nearest."""
        build, last = self.build, tile_type(value).shape[self.axis] - 1
        lane = build.with_number("maximum", build.with_number("minimum", self._lane(tile_type(value)), last), 0)
        if element_of(value) != i1:
            return build.add(TakeAlongOp(value, lane, self.axis))
        return build.with_number("ne", build.add(TakeAlongOp(build.flag(value), lane, self.axis)), 0)

    def kept(self, mask: SSAValue | None, block: TileType) -> SSAValue:
        """Which elements have a lane of a block that is stored: one of its range, where the mask holds."""
        build, lane = self.build, self._lane(block)
        low, high = build.with_number("ge", lane, 0), build.with_number("lt", lane, block.shape[self.axis])
        there = build.compute("and", low, high)
        range = ranges_in_scope(build.op).get(block.dims.data[self.axis].tag.data)
        if range is not None and not always_full(range):
            limits = [None] * self.axis + [range] + [None] * (block.rank - self.axis - 1)
            mask = build.both(mask, build.inside(block.dims.data, limits))
        return there if mask is None else build.compute("and", there, self.placed(mask))

    def _lane(self, block: TileType) -> SSAValue:
        """The number of each element's lane."""
        dims = list(block.dims.data)
        dims[self.axis] = DimAttr(self.extent)
        first = self.build.add(SplatOp(self.first, TileType(dims, i32)))
        return self.build.compute("sub", self.build.numbers(self.extent, dims, self.axis), first)
