"""The pass ``verify-plan``: plans are right for their kernels and their chip."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from kopt.analysis.plan_problems.gpu import gpu_problems
from kopt.analysis.plan_problems.tpu import tpu_problems
from kopt.diagnostics import Problem
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import GridOp
from kopt.passes.launches import grid_of
from kopt.targets.chips import CHIPS, GPU_CHIPS, TPU_CHIPS, chip_option
from kopt.walk import walk


@dataclass(frozen=True)
class VerifyPlanPass(ModulePass):
    """Checks that plans can be obeyed: those that a person wrote, or of which a configuration pins something.

    The verifier of `tile.grid` checks a plan's structure; this pass checks the facts. It refuses, at the access, loop
    or grid:

    * a buffer of a kind that its array cannot have, with the kinds that it may have; several kinds for one array;
      axes that its blocks do not move with; depths and words that no code is made of;
    * a loop that cannot have its schedule, with the reason; words of schedules, as ``unroll 2``;
    * an order that has an axis which is no dimension of the grid, that takes sums over visits another way, or that
      has a dimension that is summed over outside of others;
    * an ``address`` that does not tell where blocks are, or is not there before the grid runs;
    * options and views that no code is made of; walks that are no loops yet; on a GPU, numbers of warps that there
      are not;
    * on a TPU, arrays that take more scalar memory than the ``chip`` has, once the schedules and the order are those
      of the grid; VMEM is counted by ``plan-vmem``.

        error: 'x' cannot stand in a buffer of kind 'smem' here: window or resident

    In grids without a plan, only the schedules of loops are checked. A plan that ``plan-accesses`` made without pins is
    not checked: it is made of what arrays and loops may have. Once its text is parsed again, it is checked. The module
    stays as it is.
    """

    name = "verify-plan"

    chip: str = chip_option(CHIPS, "tpu7x")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if problem := next(self._problems(op), None):
            raise problem.error

    def _problems(self, module: ModuleOp) -> Iterator[Problem]:
        if self.chip in GPU_CHIPS:
            for grid in walk(module, GridOp):
                yield from () if _is_own(grid) else gpu_problems(grid, GPU_CHIPS[self.chip])
            return
        for launch in walk(module, LaunchOp):
            if not _is_own(grid := grid_of(launch)):
                yield from tpu_problems(launch, grid, TPU_CHIPS[self.chip])


def _is_own(grid: GridOp) -> bool:
    return grid.plan is not None and grid.plan.data.own
