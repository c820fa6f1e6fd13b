"""Rows that DMAs fetch outside of loops, a copy each: what of a kernel starts, awaits and reads them. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from kopt.analysis.copies import is_only_read
from kopt.analysis.overlapping import why_not_following
from kopt.analysis.rematerialisation import Rematerialisation
from kopt.analysis.revisit_order import grid_of
from kopt.dialects.pallas import CallOp, DmaStartOp, DmaWaitOp
from kopt.dialects.tile import ForOp, GetOp
from kopt.targets.chips import TpuChip
from kopt.walk import walk


@dataclass(frozen=True)
class RowFetch:
    """A loop that starts a copy a row, what waits for all of them, and the read of their buffer, one after another."""

    start: DmaStartOp
    starts: ForOp
    awaits: Operation
    access: GetOp

    @property
    def waits(self) -> list[DmaWaitOp]:
        """The waits: one for all, or one in a loop over the rows."""
        return walk(self.awaits, DmaWaitOp)


def row_fetch(start: DmaStartOp, call: CallOp) -> RowFetch | None:
    """The rows that an op starts the copies of; None where others use their buffer, or it stands otherwise."""
    body = grid_of(call).body.block
    starts: Operation | None = start
    while starts is not None and starts.parent is not body:
        starts = starts.parent_op()
    awaits = None if starts is None else starts.next_op
    access = None if awaits is None else awaits.next_op
    if not isinstance(starts, ForOp) or not isinstance(access, GetOp) or access.memory is not start.target:
        return None
    assert awaits is not None
    found = RowFetch(start, starts, awaits, access)
    own = {start, *found.waits}
    private = _users(start.target) == {*own, access} and _users(start.semaphore) == own
    return found if private and walk(starts, DmaStartOp) == [start] and len(found.waits) == 1 else None


def why_not_ahead(rows: RowFetch, call: CallOp, chip: TpuChip) -> str | None:
    """Why the rows may not be fetched in the cell before; None where they may."""
    axis = rows.start.axis
    assert axis is not None
    if (reason := why_not_following(axis, call, chip)) is not None:
        return reason
    if not is_only_read(call, rows.start.source):
        return "the kernel writes the array"
    numbers = (read.result for read in walk(rows.starts, GetOp))
    if not all(map(Rematerialisation(frozenset({axis})).can, (*outer_values(rows.starts), *numbers))):
        return "where the next cell's rows are, this cell cannot tell"
    return None


def outer_values(loop: ForOp) -> list[SSAValue]:
    """What a loop uses of the values around it."""
    inside = {loop, *walk(loop)}
    used = (operand for op in walk(loop) for operand in op.operands)
    return [value for value in dict.fromkeys(used) if not _is_of(value, inside)]


def _is_of(value: SSAValue, ops: set[Operation]) -> bool:
    owner = value.owner
    return (owner if isinstance(owner, Operation) else owner.parent_op()) in ops


def _users(value: SSAValue) -> set[Operation]:
    return {use.operation for use in value.uses}
