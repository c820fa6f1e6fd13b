"""Which cells of a call may run in any order, and which follow one another on one core."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, StringAttr

from kopt.analysis.revisits import grid_of
from kopt.dialects.pallas import CallOp
from kopt.dialects.tile import GridOp
from kopt.ir.ranges import binding
from kopt.passes.to_pallas.operands import Operand


def fastest(grid: GridOp) -> int | None:
    """The last dimension of a grid that has several cells."""
    return next((n for n in reversed(range(len(grid.ranges))) if (binding(grid.ranges[n]).trips or 0) > 1), None)


def run_in_order(call: CallOp) -> None:
    """Keeps the cells along the dimension that moves fastest on one core."""
    grid = grid_of(call)
    words = [word.data for word in call.semantics.data]
    number = fastest(grid)
    assert number is not None
    words[number:] = ["arbitrary"] * (len(words) - number)  # those behind it have one cell
    call.semantics = ArrayAttr([StringAttr(word) for word in words])


def semantics(grid: GridOp, outputs: Sequence[Operand]) -> list[str]:
    """Which grid dimensions may run in any order: those that every output's block moves with, one to one.

    Cores share the outermost ones, so what is inside of a dimension that runs in order does too. A plan may keep
    others in order.
    """
    ordered = {*grid.reduction_dims, *grid.ordered_dims}
    if grid.plan is not None:
        ordered |= {number for number, tag in enumerate(grid.tags) if tag not in grid.plan.data.parallel}
    words = []
    for number in range(max(1, len(grid.ranges))):
        free = number not in ordered and all(o.window.moves_with(number) for o in outputs)
        words.append("parallel" if free and "arbitrary" not in words else "arbitrary")
    return words
