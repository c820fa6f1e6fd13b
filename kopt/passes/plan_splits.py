"""The pass ``plan-splits``: which reductions are dealt out to several programs of a GPU, written into the IR."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from kopt.analysis.splits import chosen_split, most_parts
from kopt.dialects.tile import GridOp, PlanAttr
from kopt.passes.schedules import reschedule
from kopt.plans.plan import Plan
from kopt.targets.chips import GPU_CHIPS, chip_option
from kopt.walk import walk


@dataclass(frozen=True)
class PlanSplitsPass(ModulePass):
    """Plans split reductions: loops of cells that are too few for a GPU are dealt out to several times as many.

    The decision is text, which `split-k` obeys: the grid has a plan with its split. The number of parts is the one
    that costs the least (`kopt.planning.gpu_cost`). More parts give more multiprocessors a program. But each
    reduction needs one more launch, and partial results go through memory. ``split`` asks for a number of parts for
    each grid that can be split. If no grid can be, the pass refuses, and says why for the first.

        tile.grid (%i: b0=1) in (8) { %r = tile.for %k: b1=8192 in (0, 1048576) iter(…) { … } … }
    becomes
        tile.grid (%i: b0=1) in (8) plan {order [i] parallel [i] split 32} { … }

    A plan that the IR has already is kept.
    """

    name = "plan-splits"

    chip: str = chip_option(GPU_CHIPS, "sm90")
    split: int | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.split is not None:
            reschedule(op, self._as_asked, "split_k cannot split this grid", "not split")
            return
        for grid in walk(op, GridOp):
            if grid.plan is None and (parts := chosen_split(grid, GPU_CHIPS[self.chip])) > 1:
                _plan(grid, parts)

    def _as_asked(self, grid: GridOp) -> str | None:
        """Plans what was asked for; gives the reason where it cannot be."""
        assert self.split is not None
        most = most_parts(grid)
        if isinstance(most, str):
            return most
        parts = int(min(most, self.split))
        if parts > 1 and grid.plan is None:
            _plan(grid, parts)
        return None


def _plan(grid: GridOp, parts: int) -> None:
    grid.plan = PlanAttr(Plan(grid.tags, frozenset(grid.tags), (), {}, options=(("split", parts),)))
