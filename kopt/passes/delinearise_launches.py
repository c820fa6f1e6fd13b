"""The pass ``delinearise-launches``: blocks of flattened arrays become rows of what was flattened."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import BlockArgument, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from kopt.analysis.flattened import flattened_rows
from kopt.diagnostics import remark
from kopt.dialects.builder import Builder
from kopt.dialects.formats.integers import int_array, ints_of
from kopt.dialects.host import LaunchOp, ReshapeOp
from kopt.dialects.tile import DimAttr, GridOp, LoadOp, RangeType, StoreOp, TileType, array_type, tag_of
from kopt.dialects.tile.index_list import AllAttr
from kopt.ir.ranges import binding
from kopt.passes.launches import erase_unused
from kopt.passes.retyping import defined_values
from kopt.walk import walk


@dataclass(frozen=True)
class DelineariseLaunchesPass(ModulePass):
    """Gives launches over flattened arrays their rows back, where a block is of whole rows.

    XLA lays out a vector in another way than a matrix: ``x.view(-1)`` copies it, before the kernel and behind it. What
    goes lane by lane gives the same row by row.

        %f = host.reshape %x : memref<4096x11008xf32> to memref<45088768xf32>
        … tile.grid (%i: b0=352256) in (45088768) {
            %v = tile.load %f[%i] : memref<45088768xf32> -> !tile.tile<b0=352256 x f32>
    becomes
        … tile.grid (%i: b0=32) in (4096) {
            %v = tile.load %x[%i, :] : memref<4096x11008xf32> -> !tile.tile<b0=32 x 11008 x f32>

    A launch stays as it is where a block is no whole tiles of rows, where the range walks anything but flattened arrays
    with rows of one length, and where ops depend on where lanes stand. It never refuses.
    """

    name = "delinearise-launches"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for launch in walk(op, LaunchOp):
            for grid in walk(launch, GridOp):
                for range in grid.ranges:
                    rows = flattened_rows(range)
                    if rows is not None and binding(range).size % rows.least == 0:
                        _Delinearised(launch, grid, range, rows.length).run()


class _Delinearised:
    """One range of a launch, whose blocks become rows of some length."""

    def __init__(self, launch: LaunchOp, grid: GridOp, range: SSAValue, length: int):
        self._launch, self._grid, self._range, self._length = launch, grid, range, length
        self._rows = binding(range).size // length

    def run(self) -> None:
        remark(self._grid, f"blocks of flattened arrays are {self._rows} rows of {self._length} elements")
        accesses = [*dict.fromkeys(use.operation for use in self._range.uses)]
        self._retype()
        for memory in dict.fromkeys(op.memory for op in accesses if isinstance(op, LoadOp | StoreOp)):
            self._make_matrix(memory)
        for op in accesses:
            assert isinstance(op, LoadOp | StoreOp)
            access = Builder(op).insert(op.with_access([self._range, AllAttr()], op.mask))
            Rewriter.replace_op(op, [], access.results)

    def _retype(self) -> None:
        tag = tag_of(self._range)
        dims = (DimAttr(self._rows, tag), DimAttr(self._length, ""))
        for op in walk(self._grid):
            for value in defined_values(op):
                if isinstance(type := value.type, TileType) and tag in type.tags:
                    Rewriter.replace_value_with_new_type(value, type.with_dims(dims))
        number = self._grid.ranges.index(self._range)
        upper = [*ints_of(self._grid.upper)]
        upper[number] //= self._length
        self._grid.properties["upper"] = int_array(upper)
        self._range = Rewriter.replace_value_with_new_type(self._range, RangeType(tag, self._rows))

    def _make_matrix(self, memory: SSAValue) -> None:
        """Makes a matrix of an argument of the launch, and of what it is given for it and gives."""
        assert isinstance(memory, BlockArgument)
        type, launch, number = self._matrix(memory), self._launch, memory.index
        if number < len(launch.inputs):
            flat = launch.inputs[number]
            launch.operands[number] = _viewed(Builder(launch), flat, type)
            erase_unused([flat])
        if number in launch.written:
            result = launch.version_of(number)
            views = [use.operation for use in result.uses]
            result = Rewriter.replace_value_with_new_type(result, type)
            for view in views:
                assert isinstance(view, ReshapeOp)
                Rewriter.replace_op(view, [], [_viewed(Builder(view), result, view.result_type)])
        Rewriter.replace_value_with_new_type(memory, type)

    def _matrix(self, memory: SSAValue) -> MemRefType:
        flat = array_type(memory)
        return MemRefType(flat.element_type, [prod(flat.get_shape()) // self._length, self._length])


def _viewed(build: Builder, value: SSAValue, type: MemRefType) -> SSAValue:
    """A value under another shape: what it is itself a view of, where that has this one."""
    source = value.owner.source if isinstance(value.owner, ReshapeOp) else value
    return source if source.type == type else build.add(ReshapeOp(source, type), value.name_hint)
