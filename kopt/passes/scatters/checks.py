"""What an array must be for its rows to be updated by computed numbers, and what is said where it is not."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import FixedBitwidthType
from xdsl.ir import Operation

from kopt.analysis.values.updates import UpdateOp, gathered
from kopt.diagnostics import location_of
from kopt.errors import LoweringError
from kopt.passes.scatters.written_operand import WrittenOperand


def checked_extents(target: WrittenOperand, updates: Sequence[UpdateOp]) -> tuple[int, ...]:
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
            id="element-type",
        )
    positions = gathered(updates[0])
    if positions != tuple(range(positions[0], positions[0] + len(positions))):
        raise LoweringError(
            "an update whose row numbers have another index between them",
            location_of(updates[0]),
            notes=["permute the array so that the dimensions indexed by row numbers stand together"],
            id="update",
        )
    for op in updates:
        if gathered(op) != positions:
            raise LoweringError(
                f"'{target.name}' is updated by row numbers of different dimensions", location_of(op), id="update"
            )
    return tuple(target.shape[position] for position in positions)


def refuse_others(target: WrittenOperand, other: Operation) -> None:
    """Raises the error that an array needs another form for its rows' sake while blocks of it are accessed too."""
    raise LoweringError(
        f"'{target.name}' is updated by computed rows in one place and accessed by blocks in another",
        location_of(other),
        notes=["on TPU that works for 32-bit arrays of two dimensions and more, rows first, that fit VMEM"],
        id="update",
    )
