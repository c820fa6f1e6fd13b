"""The pass ``int-range-optimizations``: comparisons and masks that value ranges decide go."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from kopt.dialects.builder import Builder
from kopt.dialects.tile import COMPARISONS, MaskOp
from kopt.ir.from_ssa import IndexAnalysis
from kopt.passes.masking import drop_full_limits
from kopt.walk import walk


@dataclass(frozen=True)
class IntRangeOptimizationsPass(ModulePass):
    """Folds integer comparisons that value ranges decide, and drops limits of masks that every lane is inside of.

    Import does not know the sizes of blocks, so it masks what some size needs. Once sizes are chosen, much of that
    holds in every block.

        %m = tile.mask %v in (%i) else 0.0 : !tile.tile<b0=16 x f32> to !tile.tile<16 x f32>
        %n = tile.add (tile.splat %begin), (tile.arange 0, 1)      %c = tile.lt %n, (tile.full 64)
    becomes, for 64 elements,
        %m = tile.reshape %v : !tile.tile<b0=16 x f32> to !tile.tile<16 x f32>
        %c = tile.full true

    It never refuses.
    """

    name = "int-range-optimizations"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        ranges = IndexAnalysis()
        decided = {inner: ranges.condition(inner.result).known for inner in walk(op, *COMPARISONS)}
        for comparison, holds in decided.items():
            if holds is not None:
                build = Builder(comparison)
                build.replace(build.full(holds, comparison.result))
        for mask in walk(op, MaskOp):
            drop_full_limits(mask)
