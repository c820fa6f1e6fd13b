"""The row numbers of an update as scalars, for loops that take one row after the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import MemRefType, i32
from xdsl.ir import SSAValue

from kopt.analysis.windows import Accesses
from kopt.dialects.tile import BeginOp, EndOp, GetOp, LoadOp, RangeType, TileType
from kopt.ir.ranges import always_full, binding, unshifted
from kopt.passes.mosaic.building import type_of
from kopt.passes.replacing import replacing
from kopt.passes.scatters.access import UpdateOp
from kopt.passes.scatters.building import Builder
from kopt.passes.scatters.staging import Staging
from kopt.targets.budget import Budget

_SCALAR = TileType([], i32)


@dataclass(frozen=True)
class Origin:
    """An array of row numbers below ``extent`` that an update takes as they are, one for each lane of a range.

    Nothing else reads it, so it can live in scalar memory, and no computed numbers need to be moved there.
    """

    load: LoadOp
    extent: int

    @property
    def range(self) -> SSAValue:
        """The range whose lanes have the numbers."""
        (entry,) = self.load.entries
        assert isinstance(entry, SSAValue)
        return entry

    @property
    def most(self) -> int:
        """The largest number of lanes of the range that have numbers."""
        bound = binding(unshifted(self.range))
        if bound.trips == 1 and isinstance(bound.lower, int) and isinstance(bound.upper, int):
            return bound.upper - bound.lower
        return bound.size

    def count(self, build: Builder) -> SSAValue | int:
        """How many lanes of the range have numbers."""
        range = unshifted(self.range)
        if always_full(range) or binding(range).trips == 1:
            return self.most
        return build.add(arith.SubiOp(build.add(EndOp(self.range)), build.add(BeginOp(self.range))))

    def number(self, build: Builder, begin: SSAValue, at: SSAValue) -> tuple[SSAValue, SSAValue]:
        """The number of one lane, and whether the target has such a row."""
        place = build.add(arith.AddiOp(begin, at))
        number = build.add(replacing(self.load, LoadOp(self.load.memory, [place])))
        low, high = build.with_number("ge", number, 0), build.with_number("lt", number, self.extent)
        return number, build.compute("and", low, high)


def origin(op: UpdateOp, index: SSAValue, extent: int) -> Origin | None:
    """Where an update's row numbers come from, if that is an array that nothing else reads."""
    load = index.owner
    if not isinstance(load, LoadOp) or load.mask is not None or load.pad is not None:
        return None
    type = load.memory.type
    assert isinstance(type, MemRefType)
    small = type.element_type == i32 and len(type.get_shape()) == 1 and Budget.is_scalar_memory(type.get_shape()[0])
    if not small or any(use.operation is not op for use in index.uses):
        return None
    (entry,) = load.entries
    by_range = isinstance(entry, SSAValue) and isinstance(entry.type, RangeType)
    others = [use.operation for use in load.memory.uses if use.operation is not load]
    return Origin(load, extent) if by_range and not any(isinstance(user, Accesses) for user in others) else None


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
        return RowNumbers(found.count(build), lambda inner, at: found.number(inner, begin, at))
    numbers = stage.numbers(index, "row_number")

    def read(inner: Builder, at: SSAValue) -> tuple[SSAValue, SSAValue]:
        number = inner.add(GetOp(numbers, [at], _SCALAR))
        return number, inner.with_number("ge", number, 0)

    return RowNumbers(type_of(index).shape[0], read)
