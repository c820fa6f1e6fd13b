"""Loads and stores of blocks of an array that stays in HBM: each one DMA, waited for before anything else happens.

An access whose attribute ``space`` is ``hbm`` is one of these, and then so is every access of its array. An array that
is written is an operand that the result takes over, so its rows are in the result from the start.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.effects import is_trivially_dead
from kopt.analysis.streaming import SPACE
from kopt.dialects.pallas import CallOp, DmaOp, DmaStartOp, DmaWaitOp
from kopt.dialects.tile import ALL, Entry, GetOp, LoadOp, PutOp, RefType, StoreOp
from kopt.passes.mosaic.building import type_of
from kopt.passes.replacing import replacing
from kopt.passes.to_pallas.scratch import scratch_ref


def hbm() -> dict[str, Attribute]:
    """The attributes of an access of an array that stays in HBM."""
    return {SPACE: StringAttr("hbm")}


def fetch_row(load: LoadOp, source: SSAValue, call: CallOp) -> None:
    """Copies a row to a buffer.

        %v = tile.load %x[%n, %j] {space = "hbm"}
    becomes
        pallas.dma_start %x[%n, %j] to %buffer[:] …   pallas.dma_wait …   %v = tile.get %buffer[:]
    """
    buffer, arrived = _buffer(load, load.result, source, call)
    whole: list[Entry] = [ALL] * type_of(load.result).rank
    _copy(load, source, load.entries, buffer, whole, arrived)
    value = _insert(load, replacing(load, GetOp(buffer, whole, type_of(load.result)))).results[0]
    value.name_hint = load.result.name_hint
    load.result.replace_all_uses_with(value)
    Rewriter.erase_op(load)


def send_row(store: StoreOp, target: SSAValue, call: CallOp) -> None:
    """Copies a row from a buffer, and waits until it is there: the next row may be the same one."""
    buffer, sent = _buffer(store, store.value, target, call)
    whole: list[Entry] = [ALL] * type_of(store.value).rank
    _insert(store, replacing(store, PutOp(store.value, buffer, whole)))
    _copy(store, buffer, whole, target, store.entries, sent)
    Rewriter.erase_op(store)


def scatter_rows(store: StoreOp, target: SSAValue) -> None:
    """Sends rows by computed numbers, all at once. Which ones are stored, their numbers tell (`tile.put`)."""
    _insert(store, replacing(store, PutOp(store.value, target, store.entries)))
    mask = store.mask
    Rewriter.erase_op(store)
    if mask is not None:
        erase_dead(mask)


def erase_dead(value: SSAValue) -> None:
    """Erases what nothing uses any more, and what only that used."""
    op = value.owner
    if isinstance(op, Operation) and op.parent is not None and is_trivially_dead(op):
        operands = list(op.operands)
        Rewriter.erase_op(op)
        for operand in operands:
            erase_dead(operand)


def _buffer(access: Operation, value: SSAValue, array: SSAValue, call: CallOp) -> tuple[SSAValue, SSAValue]:
    """Scratch for one row, and a semaphore."""
    type = type_of(value)
    what = "fetched" if isinstance(access, LoadOp) else "sent"
    return (
        scratch_ref(call, RefType(type.shape, type.element_type), array, f"row_{what}"),
        scratch_ref(call, RefType((1,), type.element_type, "semaphore"), array, what),
    )


def _copy(
    at: Operation,
    source: SSAValue,
    source_entries: Sequence[Entry],
    target: SSAValue,
    target_entries: Sequence[Entry],
    semaphore: SSAValue,
) -> None:
    ends: tuple[type[DmaOp], ...] = (DmaStartOp, DmaWaitOp)
    for end in ends:
        _insert(at, end(source, source_entries, target, target_entries, semaphore, [0]))


def _insert(at: Operation, op: Operation) -> Operation:
    op.location = at.location
    Rewriter.insert_op(op, InsertPoint.before(at))
    return op
