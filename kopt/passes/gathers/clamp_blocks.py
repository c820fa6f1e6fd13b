"""Clamped blocks: a masked block that may lie outside its array, without lanes there, is moved inside."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects import arith
from xdsl.ir import SSAValue
from xdsl.rewriter import Rewriter

from kopt.dialects.builder import Builder
from kopt.dialects.tile import LoadOp, ShiftOp, StoreOp, WholeOp, array_type
from kopt.dialects.tile.index_list import is_range
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.value_range import ValueRange


def clamped_blocks(
    blocks: Mapping[int, SSAValue], access: LoadOp | StoreOp, build: Builder, analysis: IndexAnalysis
) -> dict[int, SSAValue]:
    """The blocks, by position, that an access takes: those of a masked one with a lane in the array at least.

        %k = tile.shift %w by %n : !tile.range<b1=32>   // of 100 rows, masked where there are none
    becomes
        %k = tile.shift %w by (min (max (%n floordiv 32, 0), 3) * 32)
    """
    if access.mask is None:
        return dict(blocks)
    shape = array_type(access.memory).get_shape()
    return {position: _touching(block, shape[position], build, analysis) for position, block in blocks.items()}


def _touching(block: SSAValue, extent: int, build: Builder, analysis: IndexAnalysis) -> SSAValue:
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
