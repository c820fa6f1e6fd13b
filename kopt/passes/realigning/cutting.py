"""Cuts the block of one load out of the aligned, larger block of memory around it."""

from __future__ import annotations

import math

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.alignment import multiple
from kopt.analysis.layouts import lanes_dim
from kopt.analysis.linear import begin, linear
from kopt.analysis.windows import Window
from kopt.diagnostics import remark
from kopt.dialects.tile import (
    BeginOp,
    DimAttr,
    DynamicSliceOp,
    FullOp,
    LoadOp,
    RangeType,
    ReshapeOp,
    SelectOp,
    ShiftOp,
    WholeOp,
    block_axes,
    literal,
)
from kopt.passes.gathers.building import Arrays, array_type
from kopt.passes.mosaic.building import type_of
from kopt.passes.retyping import new_tags

#: The dimension of a single element's block.
_ONE = DimAttr(1)


class Cutter:
    """Rewrites one load, dimension by dimension."""

    def __init__(self, load: LoadOp, window: Window, arrays: Arrays):
        self.load, self.window, self.arrays = load, window, arrays
        self.memory, self.entries = load.memory, list(load.entries)
        self.at = InsertPoint.before(load)

    def run(self) -> None:
        cuts = [self._widen(dim) for dim, _ in enumerate(self.entries) if self._is_unaligned(dim)]
        if not cuts:
            return
        value = self._add(LoadOp(self.memory, self.entries))
        places = {axis.position: number for number, axis in enumerate(block_axes(self.entries, self._shape))}
        for dim, offset, type in cuts:
            value = self._cut(value, places[dim], offset, type)
        if value.type != (type := type_of(self.load.result)):
            value = self._add(ReshapeOp(value, type))
        if self.load.mask is not None:
            other = self.load.other or literal(0, type_of(value).element_type)
            value = self._add(SelectOp(self.load.mask, value, self._add(FullOp(other, type_of(value)))))
        value.name_hint = self.load.result.name_hint
        Rewriter.replace_op(self.load, [], [value])

    @property
    def _shape(self) -> tuple[int, ...]:
        return array_type(self.memory).get_shape()

    def _is_unaligned(self, dim: int) -> bool:
        entry = self.entries[dim]
        if not isinstance(entry, SSAValue) or self.window.dims[dim].kind == "point":
            return False
        return _divisor(entry) % self._unit(dim) != 0

    def _unit(self, dim: int) -> int:
        return multiple(array_type(self.memory), dim, lanes_dim(self.window))

    def _widen(self, dim: int) -> tuple[int, SSAValue, DimAttr]:
        """Puts an aligned block in an entry's place; gives the dimension, and where the entry's own block is in it."""
        entry = self.entries[dim]
        assert isinstance(entry, SSAValue)
        start, own = (self._add(BeginOp(entry)), entry.type.dim) if isinstance(entry.type, RangeType) else (entry, _ONE)
        unit = self._unit(dim)
        reach = unit - math.gcd(_divisor(entry), unit) + own.size.data
        size = -(-reach // unit) * unit
        extent = self._padded(dim, unit, size)
        unsigned = self._add(arith.MaxSIOp(start, self._number(0)))
        number = self._add(arith.ShRSIOp(unsigned, self._number(unit.bit_length() - 1)))
        number = self._add(arith.MinSIOp(number, self._number((extent - size) // unit)))
        first = self._add(arith.MuliOp(number, self._number(unit)))
        first.name_hint = f"{entry.name_hint or 'block'}_aligned"
        whole = self._add(WholeOp(size, RangeType(next(new_tags(self.load)), size)))
        self.entries[dim] = self._add(ShiftOp(whole, first))
        return dim, self._add(arith.SubiOp(start, first)), own

    def _padded(self, dim: int, unit: int, size: int) -> int:
        """Lets the load read an array that ends at a multiple and holds a block; gives its extent."""
        shape = list(self._shape)
        extent = max(-(-shape[dim] // unit) * unit, size)
        if extent != shape[dim]:
            shape[dim] = extent
            name = self.memory.name_hint
            remark(self.load, f"'{name}' is padded to {extent} in dimension {dim}: blocks must end inside it")
            self.memory = self.arrays.view(self.memory, shape, shape)
        return extent

    def _cut(self, value: SSAValue, place: int, offset: SSAValue, own: DimAttr) -> SSAValue:
        type = type_of(value)
        dims = [own if n == place else dim for n, dim in enumerate(type.dims.data)]
        return self._add(DynamicSliceOp(value, offset, place, type.with_dims(dims)))

    def _number(self, value: int) -> SSAValue:
        return self._add(arith.ConstantOp(IntegerAttr(value, IndexType())))

    def _add(self, op: Operation) -> SSAValue:
        op.location = self.load.location
        Rewriter.insert_op(op, self.at)
        return op.results[0]


def _divisor(entry: SSAValue) -> int:
    """What divides the first element of an entry's block."""
    return (begin(entry) if isinstance(entry.type, RangeType) else linear(entry)).divisor
