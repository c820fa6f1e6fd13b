"""The order of a grid's dimensions: those that outputs stay put along go innermost."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.grid_orders import grid_order, planned_order
from kopt.analysis.windows import unordered_windows
from kopt.dialects.tile import GridOp, YieldOp


def permute_for(grid: GridOp, outputs: Sequence[SSAValue]) -> GridOp:
    """Puts a grid's dimensions in the order of its plan, else of `grid_order`."""
    if grid.plan is not None:
        return in_planned_order(grid)
    return _in_order(grid, grid_order(grid, unordered_windows(grid, outputs).values()))


def in_planned_order(grid: GridOp) -> GridOp:
    """Puts a grid's dimensions in the order of its plan, where it has one."""
    order = planned_order(grid)
    return grid if order is None else _in_order(grid, order)


def _in_order(grid: GridOp, order: list[int]) -> GridOp:
    return grid if order == sorted(order) else _permuted(grid, order)


def _permuted(grid: GridOp, order: list[int]) -> GridOp:
    new = GridOp(
        [grid.limits[number] for number in order],
        Region(Block(arg_types=[grid.ranges[number].type for number in order])),
        [grid.bounds[number][0] for number in order],
        [order.index(number) for number in grid.reduction_dims],
        [order.index(number) for number in grid.ordered_dims],
        grid.attributes,
        grid.plan,
        grid.planned,
    )
    new.location = grid.location
    for number, arg in zip(order, new.ranges, strict=True):
        arg.name_hint = grid.ranges[number].name_hint
        grid.ranges[number].replace_all_uses_with(arg)
    ops = [op for op in grid.body.block.ops if not isinstance(op, YieldOp)]
    for op in ops:
        op.detach()
    terminator = new.body.block.last_op
    assert terminator is not None
    new.body.block.insert_ops_before(ops, terminator)
    Rewriter.insert_op(new, InsertPoint.before(grid))
    Rewriter.erase_op(grid)
    return new
