"""The pass ``walk-dims``: whole dimensions become loops, as the plan of their grid says."""

from __future__ import annotations

from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from kopt.analysis.plans import narrow
from kopt.analysis.walks.reduction_walks import WalkVisits, visits
from kopt.analysis.walks.walkable import NotWalkable, Walkable, walkable
from kopt.diagnostics import location_of, remark
from kopt.dialects.tile import GridOp, ScheduleAttr
from kopt.dialects.tile.memory import memory_shape
from kopt.dialects.tile.planned import forget_plan
from kopt.errors import LoweringError
from kopt.passes.meaning import approximates
from kopt.passes.walking.walks import walk
from kopt.plans.plan import LoopSchedule, Plan, Walk


@dataclass(frozen=True)
class WalkDimsPass(ModulePass):
    """Tiles reductions: each dimension that a plan walks becomes loops, one for each level of dependent reductions.

    Reductions over the dimension become accumulators of the loop. A reduction that depends on another has a loop of its
    own. What is needed again after them is loaded and computed again, and stored in the last loop. ``online`` merges
    the loops of a maximum and of sums of ``f * exp(x - maximum)``, which are rescaled as the maximum grows. Sums are
    made in another order. A block as large as the dimension makes no loop. Nothing is decided here: the walks are
    those of `plan-walks`, or of whoever wrote the plan. To `plan-accesses`, which comes later, the loops are as any
    others.

        tile.grid (%i: b0=1) in (64) plan {order [i] walk(dim 1 of %x: b1=8192, online)} {
          %v = tile.load %x[%i, :]
          %m = tile.reduce max %v [1]      %e = tile.exp (%v - %m)      %s = tile.reduce add %e [1]
          tile.store (%e / %s), %out[%i, :] }
    becomes
        tile.grid (%i: b0=1) in (64) {
          %m, %s = tile.for %k: b1=8192 in (0, 131072) iter(%a = -inf, %b = 0.0) schedule walk {
            %v = tile.load %x[%i, %k]      %n = tile.maximum %a, (tile.reduce max %v [1])
            tile.yield %n, %b * exp(%a - %n) + (tile.reduce add (tile.exp (%v - %n)) [1]) }
          tile.for %k: b2=8192 in (0, 131072) schedule walk { … tile.store (tile.exp (%v - %m)) / %s, %out[%i, %k] } }

    Refuses a dimension that an op takes in one piece, such as a scan, or shares with loops around; one of an array
    that is read and written in different places; and ``online`` where no sum can be rescaled, and says which op is in
    the way: ``dimension 1 of 'x' cannot be walked: tile.scan takes it in one piece``.
    """

    name = "walk-dims"
    meaning = approximates(64)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for grid in [inner for inner in op.walk() if isinstance(inner, GridOp)]:
            if grid.plan is not None and grid.plan.data.walks:
                for one in grid.plan.data.walks:
                    _walk(grid, one)
                _take_off(grid, grid.plan.data)


def _walk(grid: GridOp, one: Walk) -> None:
    memory = grid.planned[int(one.operand)]
    if one.size >= memory_shape(memory.type)[one.dim]:
        return
    try:
        found = walkable(grid, memory, one.dim)
        how = _visits(found, one, grid)
    except NotWalkable as reason:
        message = f"dimension {one.dim} of '{memory.name_hint or 'array'}' cannot be walked: {reason}"
        raise LoweringError(message, location_of(reason.op)) from None
    loops = walk(found, how, one.axis, one.size)
    schedule = grid.plan.data.loops.get(one.axis, LoopSchedule("walk")) if grid.plan else LoopSchedule("walk")
    for loop in loops:
        loop.schedule = ScheduleAttr(schedule)
    remark(grid, f"dimension {one.dim} of '{memory.name_hint or 'array'}' is walked {len(loops)} times by {one.size}")


def _visits(found: Walkable, one: Walk, grid: GridOp) -> WalkVisits:
    how = visits(found, one.how == "online")
    if one.how == "online" and not how.mended:
        raise NotWalkable("no sum of it can be rescaled online; walk it in 'passes'", grid)
    return how


def _take_off(grid: GridOp, plan: Plan) -> None:
    """The plan without its walks, which are done. One that says nothing else is forgotten."""
    walked = {one.axis for one in plan.walks}
    rest = replace(plan, walks=(), loops={tag: found for tag, found in plan.loops.items() if tag not in walked})
    if not rest.buffers and not rest.options and not rest.loops and not rest.assume and not rest.views:
        forget_plan(grid)
        return
    narrow(grid, rest)
