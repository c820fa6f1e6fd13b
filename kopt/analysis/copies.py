"""Copies that are started and waited for at once, as ``realise-dmas`` makes them, each with a buffer. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeGuard

from xdsl.ir import BlockArgument, Operation, SSAValue

from kopt.dialects.pallas import CallOp, DmaOp, DmaStartOp, DmaWaitOp, PipelineOp
from kopt.dialects.tile import Entry, GetOp, PutOp, RefType, SelectOp, TileType, tile_type
from kopt.dialects.tile.index_list import AllAttr


@dataclass(frozen=True)
class Copy:
    """A copy whose value is read behind it, ``access`` a `tile.get`, or was written before it, a `tile.put`."""

    start: DmaStartOp
    wait: DmaWaitOp
    access: GetOp | PutOp

    @property
    def array(self) -> SSAValue:
        """The ref in HBM."""
        return array_of(self.start)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The index list into the ref in HBM."""
        return self.start.source_entries if self.is_fetch else self.start.target_entries

    @property
    def buffer(self) -> SSAValue:
        """The ref on the chip."""
        return self.access.memory

    @property
    def is_fetch(self) -> bool:
        """Whether it comes from HBM."""
        return isinstance(self.access, GetOp)

    @property
    def type(self) -> TileType:
        """The block that is copied, as a value."""
        return tile_type(self.access.result if isinstance(self.access, GetOp) else self.access.value)

    @property
    def ops(self) -> tuple[Operation, ...]:
        """All that it is made of."""
        return self.start, self.wait, self.access


@dataclass(frozen=True)
class Kept:
    """Lanes that a send leaves alone: they are fetched before, and the block is ``select``\\ ed where it is its own."""

    fetch: Copy
    select: SelectOp


def is_fetch(start: DmaStartOp) -> bool:
    """Whether a copy comes from HBM."""
    assert isinstance(start.source.type, RefType)
    return start.source.type.space.data == "hbm"


def array_of(start: DmaStartOp) -> BlockArgument:
    """The end of a copy that is in HBM: a ref of an operand or a result."""
    ref = start.source if is_fetch(start) else start.target
    assert isinstance(ref, BlockArgument)
    return ref


def synchronous_copy(start: DmaStartOp) -> Copy | None:
    """The copy that an op starts, where it is waited for next, and nothing else uses its buffer and semaphore.

    All of the buffer is copied, and read or written as one.
    """
    wait = start.next_op
    if not _waits_for(wait, start):
        return None
    fetched = is_fetch(start)
    access = wait.next_op if fetched else start.prev_op
    if not isinstance(access, GetOp if fetched else PutOp):
        return None
    copy = Copy(start, wait, access)
    buffer, entries = (start.target, start.target_entries) if fetched else (start.source, start.source_entries)
    whole = all(isinstance(entry, AllAttr) for entry in (*entries, *access.entries))
    private = _users(buffer) == set(copy.ops) and _users(start.semaphore) == {start, wait}
    return copy if whole and private else None


def _waits_for(op: Operation | None, start: DmaStartOp) -> TypeGuard[DmaWaitOp]:
    if not isinstance(op, DmaWaitOp):
        return False
    return (*op.operands,) == (*start.operands,) and op.properties == start.properties


def kept_lanes(send: Copy) -> Kept | None:
    """The lanes that a send leaves alone; None where it is made of a value alone."""
    assert isinstance(send.access, PutOp)
    select = send.access.value.owner
    old = select.on_false.owner if isinstance(select, SelectOp) else None
    if not isinstance(select, SelectOp) or not isinstance(old, GetOp):
        return None
    if _users(select.result) != {send.access} or _users(old.result) != {select}:
        return None
    starts = [use.operation for use in old.memory.uses if isinstance(use.operation, DmaStartOp)]
    fetch = synchronous_copy(starts[0]) if len(starts) == 1 else None
    if fetch is None or fetch.array is not send.array or fetch.entries != send.entries:
        return None
    return Kept(fetch, select) if fetch.start.parent is send.start.parent else None


def refs_of_array(call: CallOp, ref: SSAValue) -> set[SSAValue]:
    """The refs of one array: an operand and the result that takes it over are one."""
    pairs = [(call.input_refs[n], out) for n, out in zip(call.aliased, call.output_refs, strict=True) if n >= 0]
    return {ref}.union(*(pair for pair in pairs if ref in pair))


def is_only_read(call: CallOp, ref: SSAValue) -> bool:
    """Whether nothing in a call writes an array."""
    refs = refs_of_array(call, ref)
    return all(_reads(use.operation, refs) for same in refs for use in same.uses)


def _reads(op: Operation, refs: set[SSAValue]) -> bool:
    if isinstance(op, DmaOp):
        return op.target not in refs
    return isinstance(op, GetOp) or isinstance(op, PipelineOp) and refs.isdisjoint(op.writes)


def others_touching(ops: Sequence[Operation], refs: set[SSAValue], own: Sequence[Operation]) -> bool:
    """Whether some ops, but for a copy's own, name an array."""
    return any(op not in own and not refs.isdisjoint(op.operands) for op in ops)


def _users(value: SSAValue) -> set[Operation]:
    return {use.operation for use in value.uses}
