"""The order of a grid's dimensions: those that outputs stay put along go innermost."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.windows import unordered_windows
from kopt.dialects.tile import GridOp, YieldOp


def permute_for(grid: GridOp, outputs: Sequence[SSAValue]) -> GridOp:
    """Puts a grid's dimensions in an order in which written blocks are finished before they are left, if there is one.

    The more outputs move with a dimension the further out it goes: where the outputs' dimensions are nested, each
    output's stand before the others. Cells have no order, so any permutation computes the same; dimensions that run
    in order stay the innermost.
    """
    found = unordered_windows(grid, outputs).values()
    fixed = {*grid.reduction_dims, *grid.ordered_dims}

    def rank(number: int) -> tuple[bool, int]:
        return number in fixed, -sum(number in window.grid_dims for window in found)

    order = sorted(range(len(grid.ranges)), key=rank)
    return grid if order == sorted(order) else _permuted(grid, order)


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
