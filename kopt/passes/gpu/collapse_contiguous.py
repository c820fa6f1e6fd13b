"""The pass ``collapse-contiguous``: arrays that are walked whole and lane by lane have one dimension."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import MemRefType, ModuleOp, NoneAttr
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.dialects import tile
from kopt.dialects.host import ReshapeOp
from kopt.dialects.tile import array_type
from kopt.dialects.tile.shape import int_array
from kopt.passes.replacing import replace, replacing
from kopt.passes.retyping import new_tags
from kopt.targets.budget import Budget
from kopt.walk import walk

#: Ops that compute lane by lane, or have the same in all lanes.
_LANEWISE = (*tile.LANEWISE, tile.FullOp, arith.ConstantOp, tile.YieldOp)
#: Elements whose numbers fit 32 bits, with those of a last block.
_NUMBERED = (1 << 31) - Budget.MOST_LANES


@dataclass(frozen=True)
class CollapseContiguousPass(ModulePass):
    """Collapses a grid of several dimensions and its arrays to one dimension, where lanes are all that is computed.

    Three conditions must hold. Every access uses all ranges of the grid, in their order. Every array is walked whole,
    and is contiguous in that order. Everything between is computed lane by lane. Loads and stores are then full
    vectors at any width of rows, and a place is one sum. ``keep`` are the axes that a configuration's plan names, by
    their variable or tag.

        tile.grid (%i: b0=4, %j: b1=512) in (4096, 2501) { %v = tile.load %x[%i, %j] : memref<4096x2501xbf16> … }
    becomes
        %flat = host.reshape %x : memref<4096x2501xbf16> to memref<10244096xbf16>
        tile.grid (%i: b2=2048) in (10244096) { %v = tile.load %flat[%i] : memref<10244096xbf16> … }

    It never refuses.
    """

    name = "collapse-contiguous"

    keep: tuple[str, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for grid in walk(op, tile.GridOp):
            named = {*grid.tags, *(range.name_hint for range in grid.ranges)}
            if named.isdisjoint(self.keep) and _is_flat(grid):
                _collapse(grid)


def _is_flat(grid: tile.GridOp) -> bool:
    """Whether all that a grid does is lane by lane, of arrays that it walks whole."""
    if grid.plan is not None or grid.reduction_dims or grid.ordered_dims or len(grid.ranges) < 2:
        return False
    if grid.limits_operands:
        return False
    extents = [upper for _, upper in grid.bounds]
    ops = [*grid.body.block.ops]
    accesses = _accesses(ops)
    alike = all(
        op.entries == grid.ranges and array_type(op.memory).get_shape() == tuple(extents) and _lies_so(op.memory)
        for op in accesses
    )
    others = (op for op in ops if op not in accesses)
    whole = not any(lower for lower, _ in grid.bounds) and prod(extents) <= _NUMBERED
    return bool(accesses) and whole and alike and all(isinstance(op, _LANEWISE) for op in others)


def _accesses(ops: Iterable[Operation]) -> list[tile.LoadOp | tile.StoreOp]:
    return [op for op in ops if isinstance(op, tile.LoadOp | tile.StoreOp)]


def _lies_so(memory: SSAValue) -> bool:
    """Whether an array's elements lie one after another, where the grid can have a view of it."""
    return isinstance(memory.type, MemRefType) and isinstance(memory.type.layout, NoneAttr)


def _collapse(grid: tile.GridOp) -> None:
    """Gives a grid one range, and its accesses views of one dimension."""
    types = [range.type for range in grid.ranges]
    lanes = prod(type.size for type in types if isinstance(type, tile.RangeType))
    count = prod(upper for _, upper in grid.bounds)
    type = tile.RangeType(next(new_tags(grid)), lanes)
    block = grid.body.block
    first, *others = block.args
    for op in walk(grid):
        for value in op.results:
            if isinstance(value.type, tile.TileType) and value.type.rank:
                Rewriter.replace_value_with_new_type(value, value.type.with_dims([type.dim]))
    Rewriter.replace_value_with_new_type(first, type)
    views: dict[SSAValue, SSAValue] = {}
    for op in _accesses(block.ops):
        if op.memory not in views:
            views[op.memory] = _view(grid, op.memory, count)
        _replace_access(op, views[op.memory], block.args[0])
    for _ in others:
        block.erase_arg(block.args[-1])
    grid.lower, grid.upper = int_array([0]), int_array([count])


def _replace_access(op: tile.LoadOp | tile.StoreOp, view: SSAValue, range: SSAValue) -> None:
    """The same lanes of a view of one dimension."""
    if isinstance(op, tile.LoadOp):
        load = tile.LoadOp(view, [range], op.mask, op.other, op.pad, op.attributes)
        Rewriter.insert_op(replacing(op, load), InsertPoint.before(op))
        replace(op, load.result)
        return
    store = tile.StoreOp(op.value, view, [range], op.mask, op.attributes)
    Rewriter.replace_op(op, replacing(op, store))


def _view(grid: tile.GridOp, memory: SSAValue, count: int) -> SSAValue:
    """All elements of an array in one dimension."""
    view = ReshapeOp(memory, MemRefType(array_type(memory).element_type, [count]))
    view.location = grid.location
    view.result.name_hint = memory.name_hint
    Rewriter.insert_op(view, InsertPoint.before(grid))
    return view.result
