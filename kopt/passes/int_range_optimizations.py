"""The pass ``int-range-optimizations``: comparisons, bounds and masks that value ranges decide go."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerType, ModuleOp, i1
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from kopt.dialects.builder import Builder
from kopt.dialects.tile import COMPARISONS, ELEMENTWISE, MaskOp, element_of
from kopt.ir.from_ssa import IndexAnalysis
from kopt.passes.masking import drop_full_limits
from kopt.walk import walk

#: What takes the smaller of two integers, or the larger.
_EXTREMA = (ELEMENTWISE["minimum"], ELEMENTWISE["maximum"], arith.MinSIOp, arith.MaxSIOp)


@dataclass(frozen=True)
class IntRangeOptimizationsPass(ModulePass):
    """Folds what value ranges decide: comparisons and bounds of integers, and masks that every lane is inside of.

    Import does not know the sizes of blocks, so it masks what some size needs. Once sizes are chosen, much of that
    holds in every block. Places that are computed are bounded by their arrays, and many of them are inside.

        %m = tile.mask %v in (%i) else 0.0 : !tile.tile<b0=16 x f32> to !tile.tile<16 x f32>
        %n = tile.add (tile.splat %begin), (tile.arange 0, 1)
        %c = tile.lt %n, (tile.full 64)      %l = tile.minimum %n, (tile.full 63)
    becomes, for 64 elements,
        %m = tile.reshape %v : !tile.tile<b0=16 x f32> to !tile.tile<16 x f32>
        %c = tile.full true                  %n in place of %l

    It never refuses.
    """

    name = "int-range-optimizations"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        ranges = IndexAnalysis()
        decided = {inner: ranges.condition(inner.result).known for inner in walk(op, *COMPARISONS)}
        bounds = {inner: _taken(inner, ranges) for inner in walk(op, *_EXTREMA)}
        for compared, holds in decided.items():
            if holds is not None:
                build = Builder(compared)
                build.replace(build.full(holds, compared.result))
        for bound, number in bounds.items():
            if number is not None:
                Rewriter.replace_op(bound, [], [bound.operands[number]])
        for mask in walk(op, MaskOp):
            drop_full_limits(mask)


def _taken(op: Operation, ranges: IndexAnalysis) -> int | None:
    """The number of the operand that the smaller or the larger of two integers always is."""
    element = element_of(op.results[0])
    if not isinstance(element, IntegerType | IndexType) or element == i1:  # of truth values nothing has a range
        return None
    result = ranges.expr(op.results[0])
    return next((number for number, operand in enumerate(op.operands) if ranges.expr(operand) == result), None)
