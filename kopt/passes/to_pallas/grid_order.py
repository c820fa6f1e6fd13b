"""The order of a grid's dimensions: those that outputs stay put along go innermost."""

from __future__ import annotations

from xdsl.ir import Block, Region
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.windows import unordered_windows
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import GridOp, YieldOp


def order_grid(launch: LaunchOp, grid: GridOp) -> GridOp:
    """Reorders a grid so that a written block is not left before it is finished; gives the grid.

    Cells have no order, so any permutation computes the same. Dimensions that run in order stay the innermost.

        tile.grid (%j, %i) { … tile.store %v, %out[%j, :] … %out2[%j, %i] … }
    is kept; a grid in which only ``%i`` moves the outputs gets it outermost.
    """
    numbers = range(len(grid.ranges))
    outputs = [launch.body.block.args[number] for number in launch.written]
    found = unordered_windows(grid, outputs).values()
    fixed = {*grid.reduction_dims, *grid.ordered_dims}

    def rank(number: int) -> tuple[bool, bool]:
        return number in fixed, not all(number in window.grid_dims for window in found)

    order = sorted(numbers, key=rank)
    return grid if order == list(numbers) else _permuted(grid, order)


def _permuted(grid: GridOp, order: list[int]) -> GridOp:
    bounds = [grid.bounds[number] for number in order]
    new = GridOp(
        [upper for _, upper in bounds],
        Region(Block(arg_types=[grid.ranges[number].type for number in order])),
        [lower for lower, _ in bounds],
        [order.index(number) for number in grid.reduction_dims],
        [order.index(number) for number in grid.ordered_dims],
        grid.attributes,
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
