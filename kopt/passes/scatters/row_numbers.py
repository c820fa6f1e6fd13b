"""The row numbers of an update as scalars, for loops that take one row after the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from kopt.analysis.values.origin import Origin
from kopt.dialects.builder import Builder
from kopt.dialects.tile import BeginOp, EndOp, GetOp, LoadOp, TileType, tile_type
from kopt.ir.ranges import always_full, binding, unshifted
from kopt.passes.replacing import replacing
from kopt.passes.scatters.staging import Staging

_SCALAR = TileType([], i32)


@dataclass(frozen=True)
class RowNumbers:
    """How a loop over ``count`` rows reads their numbers."""

    count: SSAValue | int
    read: Callable[[Builder, SSAValue], tuple[SSAValue, SSAValue]]
    """Of a builder in the loop and the number of the visit: the row's number, and whether to update it."""


def row_numbers(build: Builder, stage: Staging, index: SSAValue, found: Origin | None) -> RowNumbers:
    """Reads numbers from the array that they come from, or has a DMA bring computed ones to scalar memory."""
    if found is not None:
        begin = build.add(BeginOp(found.range))
        return RowNumbers(_count(found, build), lambda inner, at: _number(found, inner, begin, at))
    numbers = stage.scalars(index, "row_number")

    def read(inner: Builder, at: SSAValue) -> tuple[SSAValue, SSAValue]:
        number = inner.add(GetOp(numbers, [at], _SCALAR))
        return number, inner.with_number("ge", number, 0)

    return RowNumbers(tile_type(index).shape[0], read)


def _count(origin: Origin, build: Builder) -> SSAValue | int:
    """How many lanes of the range have numbers."""
    range = unshifted(origin.range)
    if always_full(range) or binding(range).trips == 1:
        return origin.most
    return build.add(arith.SubiOp(build.add(EndOp(origin.range)), build.add(BeginOp(origin.range))))


def _number(origin: Origin, build: Builder, begin: SSAValue, at: SSAValue) -> tuple[SSAValue, SSAValue]:
    """The number of one lane, and whether the target has such a row."""
    place = build.add(arith.AddiOp(begin, at))
    number = build.add(replacing(origin.load, LoadOp(origin.load.memory, [place])))
    low, high = build.with_number("ge", number, 0), build.with_number("lt", number, origin.extent)
    return number, build.compute("and", low, high)
