"""How often each operation of a launch runs, and with which numbers: of all its executions at once.

A block has executions: a grid's body one for each cell, a loop's body one for each visit, a branch those in which its
condition holds. What bounds, conditions and indices are in all of them is one NumPy array; only what is asked for is
computed. So trips are exact, also where bounds depend on the cell, or on numbers that are loaded, if these are given.

    blocks = executions(grid, memory)
    blocks[loop.body.block].count       # all visits of a loop; UnknownNumber says what it depends on
    blocks[op.parent].number(index)     # an index in each execution

| module | what |
|---|---|
| `block` | the executions of one block, and the visits of ranges in them |
| `numbers` | what operations on numbers compute |
| `memory` | the arrays that numbers are loaded from |
"""

from __future__ import annotations

import numpy as np
from xdsl.dialects import scf
from xdsl.ir import Block, Operation

from kopt.analysis.executions.block import Executions
from kopt.analysis.executions.memory import ArrayMemory, CallMemory, Given, LoadSource, evaluated
from kopt.analysis.executions.numbers import Numbers, UnknownNumber
from kopt.dialects.pallas import PipelineOp
from kopt.dialects.tile import ForOp, GridOp, WhenOp, WhileOp

__all__ = ["CallMemory", "Executions", "Given", "ArrayMemory", "LoadSource", "UnknownNumber", "evaluated", "executions"]


def executions(grid: GridOp, memory: LoadSource, rare: bool = False) -> dict[Block, Executions]:
    """The executions of each block of a launch. Bodies of scans and the like have none of their own.

    Where branches are ``rare``, those on what is not known are never taken; else they are not known themselves.
    """
    found: dict[Block, Executions] = {}
    _enter(grid.body.block, Executions.of_grid(grid, memory), rare, found)
    return found


def _enter(block: Block, here: Executions, rare: bool, found: dict[Block, Executions]) -> None:
    found[block] = here
    for op in block.ops:
        for body, inner in _bodies(op, here, rare):
            _enter(body, inner, rare, found)


def _bodies(op: Operation, here: Executions, rare: bool) -> list[tuple[Block, Executions]]:
    """The blocks that an operation runs, and how often."""
    match op:
        case ForOp():
            return [(op.body.block, here.loop(op))]
        case WhileOp():
            return [(op.body.block, here.unknown(op.body.block, "how long a condition holds"))]
        case WhenOp():
            return [(op.body.block, here.where(op.body.block, lambda: _is_visit(op, here)))]
        case PipelineOp():
            return [(op.body.block, here.where(op.body.block, lambda: np.ones(1, bool)))]
        case scf.IfOp():
            holds = (
                (op.true_region, lambda: _holds(op, here, rare, 0) != 0),
                (op.false_region, lambda: _holds(op, here, rare, 1) == 0),
            )
            return [(one.block, here.where(one.block, which)) for one, which in holds if one.blocks]
    return []


def _holds(op: scf.IfOp, here: Executions, rare: bool, otherwise: int) -> Numbers:
    """Where a condition holds, or that a rare one does not decide for an arm."""
    try:
        return here.number(op.cond)
    except UnknownNumber:
        if not rare:
            raise
        return np.array([otherwise])


def _is_visit(op: WhenOp, here: Executions) -> np.ndarray:
    """In which executions the ranges are at their first, or last, blocks."""
    found = np.ones(1, bool)
    for visit in map(here.visit, op.ranges):
        found = found & (visit.id == (0 if op.visit.data == "first" else visit.count - 1))
    return found
