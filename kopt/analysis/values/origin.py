"""Where the row numbers of updates come from. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import MemRefType, i32
from xdsl.ir import SSAValue

from kopt.analysis.layouts import scalar_words
from kopt.analysis.values.updates import UpdateOp, by_row, gathered
from kopt.analysis.windows import Accesses
from kopt.dialects.tile import LoadOp, RangeType, array_type
from kopt.ir.ranges import binding, unshifted
from kopt.targets.budget import Budget


@dataclass(frozen=True)
class Origin:
    """An array of row numbers below ``extent`` that an update takes as they are, one for each lane of a range.

    Nothing else reads it, so it can live in scalar memory, and no computed numbers need to be moved there.
    """

    load: LoadOp
    extent: int

    @property
    def range(self) -> SSAValue:
        """The range whose lanes have the numbers."""
        (entry,) = self.load.entries
        assert isinstance(entry, SSAValue)
        return entry

    @property
    def most(self) -> int:
        """The largest number of lanes of the range that have numbers."""
        bound = binding(unshifted(self.range))
        if bound.trips == 1 and isinstance(bound.lower, int) and isinstance(bound.upper, int):
            return bound.upper - bound.lower
        return bound.size


def origin(op: UpdateOp, index: SSAValue, extent: int) -> Origin | None:
    """Where an update's row numbers come from, if that is an array that nothing else reads."""
    load = index.owner
    if not isinstance(load, LoadOp) or load.mask is not None or load.pad is not None:
        return None
    type = load.memory.type
    assert isinstance(type, MemRefType)
    small = (
        type.element_type == i32
        and len(type.get_shape()) == 1
        and Budget.is_scalar_memory(scalar_words(type.get_shape()))
    )
    if not small or any(use.operation is not op for use in index.uses):
        return None
    (entry,) = load.entries
    by_range = isinstance(entry, SSAValue) and isinstance(entry.type, RangeType)
    others = [use.operation for use in load.memory.uses if use.operation is not load]
    return Origin(load, extent) if by_range and not any(isinstance(user, Accesses) for user in others) else None


def origin_of(op: UpdateOp) -> Origin | None:
    """Where the numbers of an update come from, if its rows are all that it takes or leaves out."""
    positions = gathered(op)
    index = op.entries[positions[0]]
    if (
        len(positions) != 1
        or not isinstance(index, SSAValue)
        or op.mask is not None
        and by_row(op.mask, op) is not None
    ):
        return None
    return origin(op, index, array_type(op.memory).get_shape()[positions[0]])
