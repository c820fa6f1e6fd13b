"""Cuts the block of one load out of the aligned, larger block of memory around it."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from kopt.analysis.alignment import multiple
from kopt.analysis.layouts import lanes_dim
from kopt.analysis.windows import Window
from kopt.diagnostics import remark
from kopt.dialects.builder import Builder
from kopt.dialects.tile import (
    DimAttr,
    DynamicSliceOp,
    LoadOp,
    RangeType,
    ReshapeOp,
    array_type,
    block_axes,
    tile_type,
)
from kopt.passes.access_building import replace_load
from kopt.passes.aligning.superset import aligned_block, aligned_size, start
from kopt.passes.launch_arrays import Arrays
from kopt.passes.replacing import replacing

#: The dimension of a single element's block.
_ONE = DimAttr(1)


class Cutter:
    """Rewrites one load, dimension by dimension."""

    def __init__(self, load: LoadOp, window: Window, arrays: Arrays):
        self.load, self.window, self.arrays = load, window, arrays
        self.memory, self.entries = load.memory, list(load.entries)
        self.build = Builder(load)

    def run(self) -> None:
        """Cuts along all dimensions in which blocks begin at elements that no layout aligns."""
        self.cut([dim for dim, _ in enumerate(self.entries) if self._is_unaligned(dim)])

    def cut(self, dims: Sequence[int]) -> None:
        """Cuts along some dimensions."""
        cuts = [self._widen(dim) for dim in dims]
        if not cuts:
            return
        value = self.build.add(replacing(self.load, LoadOp(self.memory, self.entries)))
        places = {axis.position: number for number, axis in enumerate(block_axes(self.entries, self._shape))}
        for dim, offset, type in cuts:
            value = self._cut(value, places[dim], offset, type)
        if value.type != (type := tile_type(self.load.result)):
            value = self.build.add(ReshapeOp(value, type))
        replace_load(self.load, value)

    @property
    def _shape(self) -> tuple[int, ...]:
        return array_type(self.memory).get_shape()

    def _is_unaligned(self, dim: int) -> bool:
        entry = self.entries[dim]
        if not isinstance(entry, SSAValue) or self.window.dims[dim].kind == "point":
            return False
        return self.window.analysis.first(entry).divisor % self._unit(dim) != 0

    def _unit(self, dim: int) -> int:
        return multiple(array_type(self.memory), dim, lanes_dim(self.window))

    def _widen(self, dim: int) -> tuple[int, SSAValue, DimAttr]:
        """Puts an aligned block in an entry's place; gives the dimension, and where the entry's own block is in it."""
        entry = self.entries[dim]
        assert isinstance(entry, SSAValue)
        begins, own = start(entry, self.build), entry.type.dim if isinstance(entry.type, RangeType) else _ONE
        unit = self._unit(dim)
        size = aligned_size(entry, unit, self.window.analysis)
        extent = self._padded(dim, unit, size)
        self.entries[dim], offset = aligned_block(entry, begins, unit, size, extent, self.build, self.window.analysis)
        return dim, offset, own

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
        type = tile_type(value)
        dims = [own if n == place else dim for n, dim in enumerate(type.dims.data)]
        return self.build.add(DynamicSliceOp(value, offset, place, type.with_dims(dims)))
