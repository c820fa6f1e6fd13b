"""The pass ``plan-walks``: which whole dimensions are walked in blocks, written into the IR."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from kopt.analysis.plans import set_plan
from kopt.analysis.walks.choosing import chosen_walks
from kopt.diagnostics import remark
from kopt.dialects.tile import GridOp
from kopt.dialects.tile.access_ids import operand_names
from kopt.passes.retyping import new_tags
from kopt.plans.plan import Plan
from kopt.targets.chips import CHIPS, chip_option
from kopt.walk import walk


@dataclass(frozen=True)
class PlanWalksPass(ModulePass):
    """Plans the tiling of reduced whole dimensions: those whose values a cell cannot hold are walked in blocks.

    The decision is text: the grid has a plan with its walks. `walk-dims` obeys it, edited by hand as well. On a GPU
    values have to fit registers; on a TPU all blocks of a cell have to fit VMEM.

        tile.grid (%i: b0=1) in (64) { %v = tile.load %x[%i, :] : … -> !tile.tile<b0=1 x 131072 x f32> … }
    becomes
        tile.grid (%i: b0=1) in (64) plan {order [i] parallel [i] walk(dim 1 of %x: b1=8192, online)} { … }

    A walk is ``online`` where sums of ``exp(x - maximum)`` can be rescaled, else in ``passes``. It never refuses:
    dimensions that cannot be walked stay whole, and a remark says why. A plan that the IR has already is kept.
    """

    name = "plan-walks"

    chip: str = chip_option(CHIPS, "sm90")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        chip = CHIPS[self.chip]
        for grid in [inner for inner in walk(op, GridOp) if inner.plan is None]:
            walks, remarks = chosen_walks(grid, chip, operand_names(grid), new_tags(grid))
            for place, text in remarks:
                remark(place, text)
            if walks:
                set_plan(grid, Plan(grid.tags, frozenset(grid.tags), (), {}, walks=tuple(walks)))
