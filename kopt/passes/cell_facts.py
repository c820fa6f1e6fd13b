"""Simplifies a branch by what holds in its cells: maxima become sums there, and masks go that others imply."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue

from kopt.analysis.implied_masks import implied_choice
from kopt.dialects.builder import Builder
from kopt.dialects.tile import ELEMENTWISE, SelectOp
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.index_expr import IndexExpr
from kopt.ir.to_ssa import IndexWriter
from kopt.ir.value_range import ValueRange
from kopt.passes.lane_comparisons import compare_lanes
from kopt.passes.normalising.indices import index_of
from kopt.walk import walk

_COMPARISONS = tuple(ELEMENTWISE[name] for name in ("lt", "le", "gt", "ge"))
#: Sums stay: how far apart the bounds of a loop are is seen as they are written.
_COMPUTED = (arith.MaxSIOp, arith.MinSIOp, arith.ShRSIOp, arith.FloorDivSIOp, arith.MuliOp, arith.SubiOp)


def use_facts(cells: Operation, blocks: Mapping[SSAValue, ValueRange]) -> None:
    """Writes what a branch computes as shortly as the numbers of its cells' ``blocks`` allow, for some ranges.

        %b = tile.begin %i   %first = arith.maxsi (%b - 64), 0   …     // in cells behind the first
    becomes
        %first = arith.addi (tile.begin %i), -64   …
    """
    _shorten(cells, IndexAnalysis(blocks))
    _choose_once(cells, IndexAnalysis(blocks))
    facts = IndexAnalysis(blocks)
    compare_lanes({op.result: facts.condition(op.result) for op in walk(cells, *_COMPARISONS)}, facts)


def _shorten(cells: Operation, facts: IndexAnalysis) -> None:
    """Writes numbers anew that are sums of fewer parts than elsewhere."""
    plain, shorter = IndexAnalysis(), dict[Operation, IndexExpr]()
    for op in walk(cells, *_COMPUTED):
        found, known = facts.expr(op.result), plain.expr(op.result)
        if (found.is_constant or found.weight < known.weight) and IndexWriter.can_write(found):
            shorter[op] = found
    for op, expr in shorter.items():
        build = Builder(op)
        build.replace(index_of(expr, build, facts))


def _choose_once(cells: Operation, facts: IndexAnalysis) -> None:
    """One choice in the place of two of which one keeps what the other keeps."""
    for outer in walk(cells, SelectOp):
        if (found := implied_choice(outer, facts)) is not None:
            outer.operands[0], outer.operands[1] = found
