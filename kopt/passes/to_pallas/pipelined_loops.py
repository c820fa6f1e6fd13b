"""Which loops of a launch get the schedule ``pipeline``, and how they are made ready for it."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, StringAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.launch_temporaries import is_temporary
from kopt.analysis.pipelining import NotPipelined, is_pipelined, pipelined, plan_pipelined
from kopt.analysis.ranges import binding
from kopt.analysis.windows import Window, windows
from kopt.diagnostics import remark
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import BeginOp, CountOp, EndOp, ForOp, GridOp, IdOp
from kopt.passes.to_pallas.carried import carry_in_scratch, is_held

_INDEX_OPS = (BeginOp, EndOp, IdOp, CountOp)


def pipeline_loops(launch: LaunchOp, grid: GridOp) -> None:
    """Gives the schedule ``pipeline`` to the loops that can have it; the others get none, and a remark says why.

    What such a loop carries moves to scratch memory, and index arithmetic that does not depend on it moves out of it.
    """
    loops = [op for op in grid.walk() if isinstance(op, ForOp)]
    for loop in loops:
        _move_out(loop)
        loop.schedule = None
        if reason := _unfit(loop):
            remark(loop, f"the loop is not pipelined: {reason}")
        else:
            loop.schedule = StringAttr("pipeline")
    found = _streamable(launch, grid)
    while idle := _idle(loops, found):
        remark(idle, f"the loop is not pipelined: {_reason(idle, found)}")
        idle.schedule = None
    for loop in loops:
        if is_pipelined(loop):
            carry_in_scratch(loop, grid)


def _streamable(launch: LaunchOp, grid: GridOp) -> list[Window]:
    """The windows of all arrays that are not the cells' own memory."""
    args = launch.body.block.args
    found = windows(grid, args).values()
    return [window for window in found if not is_temporary(launch, args.index(window.memory), window, grid)]


def _unfit(loop: ForOp) -> str | None:
    """Why a loop's own form keeps it from being pipelined."""
    trips = binding(loop.range).trips
    if trips is not None and trips < 2:
        return "it has one visit only"
    unheld = [value.type for value in loop.inits if not is_held(value.type)]
    return f"it carries a value of type {unheld[0]}" if unheld else None


def _idle(loops: Sequence[ForOp], found: Sequence[Window]) -> ForOp | None:
    """The innermost, last loop that is to be pipelined but walks nothing that can be streamed."""
    streamed = [plan for window in found if (plan := pipelined(window)) is not None]
    served = {walk.loop for plan in streamed for walk in plan.walks}
    return next((loop for loop in reversed(loops) if is_pipelined(loop) and loop not in served), None)


def _reason(loop: ForOp, found: Sequence[Window]) -> str:
    reasons = []
    for window in found:
        if any(loop in _loops_around(access) for access in (*window.loads, *window.stores)):
            try:
                plan_pipelined(window)
            except NotPipelined as reason:
                reasons.append(f"'{window.memory.name_hint}' {reason}")
    return "; ".join(reasons) or "all that it walks is streamed by loops inside it"


def _loops_around(op: Operation) -> list[Operation]:
    parents: list[Operation] = []
    while (parent := op.parent_op()) is not None:
        parents.append(parent)
        op = parent
    return parents


def _move_out(loop: ForOp) -> None:
    """Moves index arithmetic on values from outside the loop before it: blocks are then known outside."""
    block = loop.body.block
    for op in list(block.ops):
        index = isinstance(op, _INDEX_OPS) or op.dialect_name() == arith.Arith.name
        if index and all(isinstance(r.type, IndexType) for r in op.results) and not _uses(op, block):
            op.detach()
            Rewriter.insert_op(op, InsertPoint.before(loop))


def _uses(op: Operation, block: Block) -> bool:
    return any(_home(operand) is block for operand in op.operands)


def _home(value: SSAValue) -> Block | None:
    return value.owner if isinstance(value.owner, Block) else value.owner.parent
