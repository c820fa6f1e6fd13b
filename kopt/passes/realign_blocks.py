"""The pass ``realign-blocks``: blocks at computed elements are cut out of aligned, larger ones on the chip."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeGuard

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import MemoryEffectKind

from kopt.analysis.aliases import accessed
from kopt.analysis.alignment import multiple
from kopt.analysis.layouts import LayoutProblem, fits_scalar_memory, lanes_dim, layout
from kopt.analysis.linear import begin, linear
from kopt.analysis.windows import Window, unordered_windows
from kopt.diagnostics import remark
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import (
    BeginOp,
    DimAttr,
    DynamicSliceOp,
    FullOp,
    GridOp,
    LoadOp,
    RangeType,
    ReshapeOp,
    SelectOp,
    ShiftOp,
    TileType,
    WholeOp,
    block_axes,
    is_gather,
    is_range,
    literal,
)
from kopt.dialects.tile.index_list import Entry
from kopt.passes.gathers.building import Arrays, array_type
from kopt.passes.retyping import new_tags

#: The dimension of a single element's block.
_ONE = DimAttr(1)


@dataclass(frozen=True)
class RealignBlocksPass(ModulePass):
    """Rewrites loads of blocks that begin at rows or lanes that no layout aligns: a larger block is loaded from the
    multiple of 8 rows (16 of 16-bit elements) or 128 lanes before, and rotated.

    Arrays that such a block would leave are padded on the host, with a remark.

        %r = tile.shift %k by %n   %v = tile.load %x[%r, %j] : memref<96x256xf32> -> !tile.tile<b1=16 x b2=128 x f32>
    becomes
        %w = tile.shift (tile.whole 24) by min(max(%r.begin, 0) / 8, 9) * 8
        %u = tile.load %x[%w, %j] : memref<96x256xf32> -> !tile.tile<b3=24 x b2=128 x f32>
        %v = tile.dynamic_slice %u from %r.begin - %w.begin dim 0 : … to !tile.tile<b1=16 x b2=128 x f32>

    Single rows or lanes of such an array, whose number is computed, are blocks of one. Where single elements are read
    from a small array, of which other loads take blocks, they come from an operand of their own, in scalar memory.

    It leaves alone loads of arrays that the launch writes, and gathers.
    """

    name = "realign-blocks"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for launch in [inner for inner in op.walk() if isinstance(inner, LaunchOp)]:
            arrays = Arrays(launch)
            for load, _ in list(_unaligned_loads(launch)):
                if _picks_from_blocks(load) and fits_scalar_memory(array_type(load.memory)):
                    load.operands[0] = arrays.again(load.memory)
            for load, window in list(_unaligned_loads(launch)):
                _Realigner(load, window, arrays).run()


def _picks_from_blocks(load: LoadOp) -> bool:
    """Whether a load takes one element, by number, of what other loads of the array take a block of."""
    others = [use.operation.entries for use in load.memory.uses if isinstance(use.operation, LoadOp)]
    picked = [number for number, entry in enumerate(load.entries) if _is_computed(entry) and not is_range(entry)]
    blocks = [entries for entries in others for n in picked if _is_computed(entries[n]) and is_range(entries[n])]
    return not _tile(load.result).rank and bool(blocks)


def _is_computed(entry: Entry) -> TypeGuard[SSAValue]:
    return isinstance(entry, SSAValue)


def _unaligned_loads(launch: LaunchOp) -> Iterator[tuple[LoadOp, Window]]:
    """The loads of arrays that no layout makes legal, and the arrays' windows."""
    written = accessed(launch, MemoryEffectKind.WRITE)
    for grid in [op for op in launch.body.block.ops if isinstance(op, GridOp)]:
        found = unordered_windows(grid, [arg for arg in launch.body.block.args if arg not in written])
        for window in found.values():
            if any(is_gather(entry) for load in window.loads for entry in load.entries):
                continue
            try:
                layout(window)
            except LayoutProblem:
                yield from ((load, window) for load in window.loads)


class _Realigner:
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
        if value.type != (type := _tile(self.load.result)):
            value = self._add(ReshapeOp(value, type))
        if self.load.mask is not None:
            other = self.load.other or literal(0, _tile(value).element_type)
            value = self._add(SelectOp(self.load.mask, value, self._add(FullOp(other, _tile(value)))))
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
        type = _tile(value)
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


def _tile(value: SSAValue) -> TileType:
    assert isinstance(value.type, TileType)
    return value.type
