"""The pass ``compare-terms``: a difference that is compared with 0 is a comparison of its terms."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerType, ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from kopt.dialects import tile
from kopt.dialects.builder import Builder
from kopt.ir.from_ssa import IndexAnalysis
from kopt.passes.replacing import replace
from kopt.walk import walk

_SUB = tile.ELEMENTWISE["sub"]


@dataclass(frozen=True)
class CompareTermsPass(ModulePass):
    """Rewrites comparisons of a difference with 0 as comparisons of its two terms, for integers in launches.

    A mask of rows and columns then needs no difference, which would take a register for each lane.

        %d = tile.sub %rows, %columns   %c = tile.ge %d, (tile.full 0)
    becomes
        %c = tile.ge %rows, %columns

    It never refuses: a difference that its type may not hold stays.
    """

    name = "compare-terms"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        numbers = IndexAnalysis()
        found = [(compared, terms) for grid in walk(op, tile.GridOp) for compared in walk(grid, *tile.COMPARISONS)
                 if (terms := _terms(compared, numbers)) is not None]  # fmt: skip
        for compared, terms in found:
            replace(compared, Builder(compared).add(compared.__class__(*terms)))


def _terms(compared: tile.ElementwiseOp, numbers: IndexAnalysis) -> tuple[SSAValue, SSAValue] | None:
    """The terms of the difference that is on the left of 0, where they never wrap."""
    difference, zero = compared.operands
    if not isinstance(difference.owner, _SUB) or not isinstance(zero.owner, tile.FullOp) or zero.owner.number != 0:
        return None
    element = tile.element_of(difference)
    if not isinstance(element, IntegerType):
        return None
    left, right = difference.owner.operands
    held = (numbers.range(left) - numbers.range(right)).fits(element.width.data)
    return (left, right) if held else None
