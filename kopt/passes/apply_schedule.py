"""The pass ``apply-schedule``: loops take the form that their schedules say."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from kopt.analysis.hoisting import plan_hoist
from kopt.analysis.pipelining import is_pipelined
from kopt.analysis.plan_problems.tpu import of_dimension
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import ForOp, GridOp
from kopt.passes.launches import grid_of
from kopt.passes.scheduling.carried import carry_in_scratch
from kopt.passes.scheduling.hoist import hoist
from kopt.walk import walk


@dataclass(frozen=True)
class ApplySchedulePass(ModulePass):
    """Applies schedules: loops of schedule ``grid`` become dimensions of the grid, and pipelines carry nothing.

    What such loops carried lives in scratch memory. The pass decides nothing: the schedules are those of
    ``plan-accesses``, or of whoever wrote the plan.

        tile.grid (%i) in (1000) { … tile.for %k … in (0, 600) … schedule grid { … } … }
    becomes
        tile.grid (%i, %k) in (1000, 600) reduce [1] { tile.when first(%k) … tile.when last(%k) … }
    and, with ``schedule emit_pipeline``,
        %s = pallas.scratch
        tile.grid (%i) in (1000) { put %z, %s; tile.for %k … in (0, 600) schedule emit_pipeline { … } … get %s }

    Refuses a loop of schedule ``grid`` that cannot be a dimension, as ``verify-plan`` does.
    """

    name = "apply-schedule"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for launch in walk(op, LaunchOp):
            grid = _hoisted(launch, grid_of(launch))
            for loop in walk(grid, ForOp):
                if is_pipelined(loop):
                    carry_in_scratch(loop, grid)


def _hoisted(launch: LaunchOp, grid: GridOp) -> GridOp:
    """The grid with its loop of schedule ``grid`` as a dimension."""
    for loop in [loop for loop in walk(grid, ForOp) if loop.schedule is not None and loop.schedule.kind == "grid"]:
        if problem := next(of_dimension(grid, loop), None):
            raise problem.error
        grid = hoist(launch, grid, plan_hoist(grid))
    return grid
