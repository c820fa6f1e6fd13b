"""Loops with products that may have no visits: a condition stands before them, on chips whose assembler needs one.

Products of wgmma run beside the program, which waits for them behind the loop. If a branch leads around the loop, it
sets the same sums to their initial values before that wait. Then ptxas makes the program wait for every single product.
Behind a condition of its own the loop has a visit, and the wait is inside.
"""

from __future__ import annotations

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation

from kopt.dialects import tile
from kopt.ir.from_ssa import IndexAnalysis
from kopt.targets.chips import GpuChip
from kopt.walk import walk


def guard_loops(grid: Operation, chip: GpuChip) -> None:
    """Marks the loops of a grid that need a condition before them: ``guarded``."""
    if not chip.waits_for_sums:
        return
    analysis = IndexAnalysis()
    for loop in walk(grid, tile.ForOp):
        if _multiplies(loop) and _may_be_empty(loop, analysis):
            loop.attributes["guarded"] = UnitAttr()


def _multiplies(loop: tile.ForOp) -> bool:
    return any(isinstance(op, tile.DotOp) for op in loop.body.block.ops)


def _may_be_empty(loop: tile.ForOp, analysis: IndexAnalysis) -> bool:
    lower, upper = map(analysis.expr, loop.bounds)
    least = (upper - lower).range.low
    return least is None or least < 1
