"""Blocks of rows of an array in HBM, as DMAs move them: of whole tiles of memory, or of whole rows."""

from __future__ import annotations

from math import prod

from xdsl.dialects.builtin import FixedBitwidthType
from xdsl.ir import SSAValue

from kopt.diagnostics import location_of
from kopt.dialects.tile import ALL, AllAttr, BeginOp, RangeType, tile_type
from kopt.dialects.tile.index_list import Entry
from kopt.errors import LoweringError
from kopt.ir.from_ssa import IndexAnalysis
from kopt.passes.scatters.counted_lanes import CountedLanes
from kopt.passes.scatters.update import Update
from kopt.passes.scatters.written_operand import WrittenOperand
from kopt.targets.budget import Budget
from kopt.targets.tiling import LANES, sublanes


def make_movable(target: WrittenOperand, update: Update) -> None:
    """Gives the array extents, and the update blocks of its rows, at which DMAs can move every block.

    Whole dimensions, masked, stand in for blocks that no extent makes movable. Refuses where they would be too many
    elements, and where the update's previous elements are asked for.
    """
    extents, analysis = list(target.shape), IndexAnalysis()
    for position, entry in enumerate(update.rest, start=1):
        extent = _movable_extent(entry, target, position, analysis)
        if extent is None:
            _take_whole(update, position, target)
        else:
            extents[position] = extent
    target.pad(extents)


def _movable_extent(entry: Entry, target: WrittenOperand, position: int, analysis: IndexAnalysis) -> int | None:
    """The extent of a dimension at which DMAs can move an entry's blocks; None where there is none."""
    element, extent = target.type.element_type, target.shape[position]
    assert isinstance(element, FixedBitwidthType)
    unit = {1: LANES, 2: sublanes(element.bitwidth)}.get(len(target.shape) - position, 1)
    if isinstance(entry, AllAttr):
        return extent
    if isinstance(entry, SSAValue) and isinstance(entry.type, RangeType):
        size, divisor = entry.type.size, analysis.begin(entry).divisor
        movable = (size % unit == 0 or size >= extent) and divisor % size == 0
        return -(-extent // size) * size if movable else None
    return extent if unit == 1 else None


def _take_whole(update: Update, position: int, target: WrittenOperand) -> None:
    """Whole dimensions in place of blocks of them, of which the other elements are left alone."""
    entry, extent, block = update.rest[position - 1], target.shape[position], tile_type(update.values[-1])
    axis = 1 + sum(map(_has_dim, update.rest[: position - 1]))
    size = prod(block.shape) // block.shape[axis] * extent if _has_dim(entry) else 0
    if update.previous is not None or not 0 < size <= Budget.COMPARED or not isinstance(entry, SSAValue):
        raise LoweringError(
            f"'{target.name}' is too large for VMEM, and DMAs cannot move the blocks of its rows",
            location_of(update.op),
            notes=["use whole rows, or larger blocks of them"],
        )
    lanes = CountedLanes(update.build, axis, extent, update.build.add(BeginOp(entry)))
    update.keep = lanes.kept(update.keep, block)
    update.values = [lanes.placed(value) for value in update.values]
    update.rest = (*update.rest[: position - 1], ALL, *update.rest[position:])
    update.fills_rows = False


def _has_dim(entry: Entry) -> bool:
    """Whether blocks have a dimension for an entry: not for one index."""
    return isinstance(entry, AllAttr) or isinstance(entry, SSAValue) and isinstance(entry.type, RangeType)
