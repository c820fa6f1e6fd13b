"""The pass ``fold-slices``: slices of the host are folded into the launches that load blocks of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import MemRefType, ModuleOp, NoneAttr
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from kopt.analysis.aliases import users
from kopt.diagnostics import remark
from kopt.dialects.host import LaunchOp, SliceOp
from kopt.dialects.tile import LoadOp, array_type, is_range
from kopt.open_extents import open_extents
from kopt.walk import walk


@dataclass(frozen=True)
class FoldSlicesPass(ModulePass):
    """Folds `host.slice` into launches that load blocks of it: they load from its source, and XLA copies no slice.

    Blocks are counted from where the source begins, so slices that begin elsewhere, or take steps, stay. Loops end
    where the slice did: lanes of a block beyond it are masked like those beyond an array.

        %s = host.slice %x [0, 0] [512, 4096] [1, 1] : memref<513x4096xf32> to memref<512x4096xf32, …>
        %n = host.launch @f (%a = %s) … { … %v = tile.load %a[%i, %j] : memref<512x4096xf32> -> … }
    becomes
        %n = host.launch @f (%a = %x) … { … %v = tile.load %a[%i, %j] : memref<513x4096xf32> -> … }

    It never refuses. What a launch writes, or gathers from, stays a slice.
    """

    name = "fold-slices"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for launch in walk(op, LaunchOp):
            for number, value in enumerate(launch.inputs):
                slice = value.owner
                if isinstance(slice, SliceOp) and _may_fold(launch, number, slice):
                    _fold(launch, number, slice)


def _may_fold(launch: LaunchOp, number: int, slice: SliceOp) -> bool:
    """Whether all that a launch does to a slice are loads of blocks, which are the same in the array."""
    source = array_type(slice.source)
    if open_extents(source.get_shape()) or not isinstance(source.layout, NoneAttr):
        return False
    if any(offset or step != 1 for offset, _, step in slice.bounds):
        return False
    pairs = zip(source.get_shape(), slice.bounds, strict=True)
    sliced = [dim for dim, (extent, (_, size, _)) in enumerate(pairs) if size != extent]
    return all(_is_block_along(op, sliced) for op in users(launch.body.block.args[number]))


def _is_block_along(op: Operation, dims: Sequence[int]) -> bool:
    """Whether an op is a load that takes blocks of ranges, or known elements, along some dimensions."""
    return isinstance(op, LoadOp) and all(isinstance(op.entries[dim], int) or is_range(op.entries[dim]) for dim in dims)


def _fold(launch: LaunchOp, number: int, slice: SliceOp) -> None:
    memory = launch.body.block.args[number]
    source = array_type(slice.source)
    launch.operands[number] = slice.source
    Rewriter.replace_value_with_new_type(memory, MemRefType(source.element_type, source.get_shape()))
    remark(launch, f"'{memory.name_hint}' is read where it stands: its slice is not copied")
    if not slice.result.uses:
        Rewriter.erase_op(slice)
