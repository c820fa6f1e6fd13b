"""Jagged loops as loops to one end."""

from __future__ import annotations

from dataclasses import replace

from xdsl.ir import SSAValue
from xdsl.rewriter import Rewriter

from kopt.analysis.plans import narrow
from kopt.dialects.jagged import ForOp as JaggedForOp
from kopt.dialects.tile import ForOp, GridOp, ScheduleAttr, tag_of


def walk_to(loop: JaggedForOp, end: SSAValue) -> None:
    """Makes a jagged loop one from 0 to ``end``. The schedule that a plan has of it goes to the loop."""
    schedule = _schedule(loop)
    made = ForOp(0, end, loop.inits, loop.detach_region(loop.body), schedule, loop.attributes)
    made.location = loop.location
    for before, after in zip(loop.results, made.results, strict=True):
        after.name_hint = before.name_hint
    Rewriter.replace_op(loop, made)


def _schedule(loop: JaggedForOp) -> ScheduleAttr | None:
    """The schedule of a loop, taken off its grid's plan."""
    grid, tag = loop.parent_op(), tag_of(loop.range)
    while grid is not None and not isinstance(grid, GridOp):
        grid = grid.parent_op()
    if grid is None or grid.plan is None or tag not in grid.plan.data.loops:
        return None
    left = dict(grid.plan.data.loops)
    found = left.pop(tag)
    narrow(grid, replace(grid.plan.data, loops=left))
    return ScheduleAttr(found)
