"""Runs of elements as entries of an index list: ranges, shifted ones, and single numbers."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from kopt.dialects.builder import Builder
from kopt.dialects.tile import DimAttr, RangeType, ShiftOp, WholeOp
from kopt.dialects.tile.index_list import is_range
from kopt.ir.atoms import BlockNumber
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.index_expr import ZERO, IndexExpr
from kopt.ir.ranges import ranges_in_scope
from kopt.ir.sums import SumAnalysis
from kopt.ir.value_range import ValueRange
from kopt.passes.normalising.indices import index_of
from kopt.passes.retyping import all_lanes


def block_entry(
    first: IndexExpr, size: int, lanes: DimAttr | None, access: Operation, build: Builder, sums: SumAnalysis
) -> SSAValue:
    """The entry of ``size`` elements from ``first`` on: of the range that has these ``lanes``, maybe shifted."""
    if size == 1:
        return _of_one(first, sums) or index_of(first, build, sums)
    range = None if lanes is None else ranges_in_scope(access).get(lanes.tag.data)
    if range is not None and lanes is not None and range.type == RangeType(lanes.tag.data, size):
        begin = sums.begin(range)
        further = first - begin
        if further == ZERO:
            return range
        if begin == ZERO or len(further.terms) < len(first.terms):
            shifted = build.add(ShiftOp(range, index_of(further, build, sums)))
            shifted.name_hint = range.name_hint
            return shifted
    return build.add(ShiftOp(build.add(all_lanes(size, access)), index_of(first, build, sums)))


def _of_one(first: IndexExpr, sums: SumAnalysis) -> SSAValue | None:
    """The range whose only lane an element is."""
    names = [atom.name for atom in first.terms if isinstance(atom, BlockNumber) and atom.size == 1]
    return next((name for name in names if isinstance(name, SSAValue) and sums.begin(name) == first), None)


def touching(block: SSAValue, extent: int, build: Builder, analysis: IndexAnalysis) -> SSAValue:
    """The block that a masked access takes: one that may lie outside its array, without lanes there, is moved inside.

        %k = tile.shift %w by %n : !tile.range<b1=32>   // of 100 rows, masked where there are none
    becomes
        %k = tile.shift %w by (min (max (%n floordiv 32, 0), 3) * 32)
    """
    if not is_range(block):
        return _inside(block, 1, extent, build, analysis)
    shift = block.owner
    if not isinstance(shift, ShiftOp) or not isinstance(shift.range.owner, WholeOp):
        return block
    offset = _inside(shift.offset, shift.range.owner.extent.data, extent, build, analysis)
    if offset is shift.offset:
        return block
    moved = build.add(ShiftOp(shift.range, offset))
    if block.first_use is None:
        Rewriter.erase_op(shift)
    return moved


def _inside(first: SSAValue, size: int, extent: int, build: Builder, analysis: IndexAnalysis) -> SSAValue:
    """Where a block begins, or where it has lanes in the array: a multiple of what it was a multiple of."""
    known = analysis.range(first)
    step = known.divisor or 1
    least, most = -((size - 1) // step), (extent - 1) // step
    if ValueRange(least * step, most * step).covers(known):
        return first
    number = first if step == 1 else build.add(arith.FloorDivSIOp(first, build.index(step)))
    number = build.add(arith.MaxSIOp(number, build.index(least)))
    number = build.add(arith.MinSIOp(number, build.index(most)))
    return number if step == 1 else build.add(arith.MuliOp(number, build.index(step)))
