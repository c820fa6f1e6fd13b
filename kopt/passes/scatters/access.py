"""Updates as they stand in the kernel: stores and atomics, and the indices of theirs that are blocks after all."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType
from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.dialects.atomic import CasOp, RmwOp
from kopt.dialects.tile import ExtractOp, IndexOp, StoreOp, is_gather
from kopt.dialects.tile.index_list import Entry
from kopt.passes.mosaic.building import type_of

UpdateOp = StoreOp | RmwOp | CasOp


def gathered(op: UpdateOp) -> tuple[int, ...]:
    """The dimensions of the array that tiles of row numbers index."""
    return tuple(position for position, entry in enumerate(op.entries) if is_gather(entry))


def kind_of(op: UpdateOp) -> str:
    """How the new element comes about: a kind of `atomic.rmw`, ``cas``, or ``xchg`` for what is just stored."""
    if isinstance(op, RmwOp):
        return op.kind.data
    return "cas" if isinstance(op, CasOp) else "xchg"


def values_of(op: UpdateOp) -> tuple[SSAValue, ...]:
    """What is combined with the old elements; of ``cas`` first what is expected."""
    return (op.expected, op.desired) if isinstance(op, CasOp) else (op.value,)


def previous_of(op: UpdateOp) -> SSAValue | None:
    """The result that holds previous elements, where something uses it."""
    results = [result for result in op.results if result.first_use is not None]
    return results[0] if results else None


def as_blocks(op: UpdateOp) -> UpdateOp:
    """The update with each index that is a range's lane numbers as that range, and each scalar as an ``index``."""
    entries = [_as_block(entry, op) for entry in op.entries]
    if all(before is after for before, after in zip(op.entries, entries, strict=True)):
        return op
    replacement = _with_entries(op, entries)
    replacement.location = op.location
    for before, after in zip(op.results, replacement.results, strict=True):
        after.name_hint = before.name_hint
    Rewriter.replace_op(op, replacement)
    return replacement


def _as_block(entry: Entry, op: UpdateOp) -> Entry:
    if not isinstance(entry, SSAValue) or not is_gather(entry):
        return entry
    if isinstance(entry.owner, IndexOp) and len(gathered(op)) == 1:
        return entry.owner.range
    if type_of(entry).rank:
        return entry
    scalar = ExtractOp(entry, IndexType())
    scalar.location = op.location
    Rewriter.insert_op(scalar, InsertPoint.before(op))
    return scalar.result


def _with_entries(op: UpdateOp, entries: Sequence[Entry]) -> UpdateOp:
    if isinstance(op, StoreOp):
        return StoreOp(op.value, op.memory, entries, op.mask, op.attributes)
    ordering = op.ordering.data
    if isinstance(op, CasOp):
        return CasOp(op.expected, op.desired, op.memory, entries, op.mask, ordering)
    return RmwOp(op.kind.data, op.value, op.memory, entries, op.mask, ordering, bool(op.previous))
