"""What an array must be for its rows to be updated by computed numbers, and what is said where it is not."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import FixedBitwidthType
from xdsl.ir import Operation, SSAValue

from kopt.analysis.layouts import LANES, sublanes
from kopt.analysis.linear import begin
from kopt.diagnostics import location_of
from kopt.dialects.tile import AllAttr, RangeType
from kopt.dialects.tile.index_list import Entry
from kopt.errors import LoweringError
from kopt.passes.scatters.access import UpdateOp, gathered
from kopt.passes.scatters.target import Target
from kopt.passes.scatters.update import Update


def checked_extents(target: Target, updates: Sequence[UpdateOp]) -> tuple[int, ...]:
    """The extents of the dimensions that the updates' row numbers index.

    Refuses 64-bit elements, updates of one array along different dimensions, and row numbers that do not stand
    together.
    """
    element = target.type.element_type
    if isinstance(element, FixedBitwidthType) and element.bitwidth == 64:
        raise LoweringError(
            f"'{target.name}' of {element} is updated by computed rows: a TPU has no 64-bit elements",
            location_of(updates[0]),
            notes=["use 32-bit elements for it"],
        )
    positions = gathered(updates[0])
    if positions != tuple(range(positions[0], positions[0] + len(positions))):
        raise LoweringError(
            "an update whose row numbers have another index between them",
            location_of(updates[0]),
            notes=["permute the array so that the dimensions indexed by row numbers stand together"],
        )
    for op in updates:
        if gathered(op) != positions:
            raise LoweringError(f"'{target.name}' is updated by row numbers of different dimensions", location_of(op))
    return tuple(target.shape[position] for position in positions)


def refuse_others(target: Target, other: Operation) -> None:
    """Raises the error that an array needs another form for its rows' sake while blocks of it are accessed too."""
    raise LoweringError(
        f"'{target.name}' is updated by computed rows in one place and accessed by blocks in another",
        location_of(other),
        notes=["on TPU that works for 32-bit arrays of two dimensions and more, rows first, that fit VMEM"],
    )


def extents_for_dma(target: Target, update: Update) -> list[int]:
    """The extents at which every block of a row is one that a DMA can move. Refuses where there are none."""
    extents = list(target.shape)
    element = target.type.element_type
    assert isinstance(element, FixedBitwidthType)
    for position, entry in enumerate(update.rest, start=1):
        unit = {-1: LANES, -2: sublanes(element.bitwidth)}.get(position - len(extents), 1)
        extents[position] = _movable(entry, extents[position], unit, target, update)
    return extents


def _movable(entry: Entry, extent: int, unit: int, target: Target, update: Update) -> int:
    if isinstance(entry, AllAttr):
        return extent
    if isinstance(entry, SSAValue) and isinstance(entry.type, RangeType):
        size, divisor = entry.type.size, begin(entry).divisor
        if (size % unit == 0 or size >= extent) and divisor % size == 0:
            return -(-extent // size) * size
    elif unit == 1 and (isinstance(entry, int) or isinstance(entry, SSAValue)):
        return extent
    raise LoweringError(
        f"'{target.name}' is too large for VMEM, and DMAs cannot move the blocks of its rows",
        location_of(update.op),
        notes=[f"use whole rows, or blocks of multiples of {unit} of them"],
    )
