"""The pass ``mask-rmw-scatter``: what a cell has just loaded from computed rows is not stored there again."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import MemoryEffectKind

from kopt.analysis.access_summary import may_alias
from kopt.analysis.aliases import accessed
from kopt.dialects.canonicalization.elementwise import widens
from kopt.dialects.tile import ELEMENTWISE, CastOp, LoadOp, SelectOp, StoreOp, tile_type
from kopt.passes.cse import CsePass
from kopt.walk import walk


@dataclass(frozen=True)
class MaskRmwScatterPass(ModulePass):
    """Masks read-modify-write scatters: stores to computed rows leave out lanes that they had only loaded from there.

    A row may be named twice. It then keeps what an unmasked lane has written, whichever lane is stored last.

        %old = tile.load %x[%n] : …   %v = tile.select %m, %new, %old : …   tile.store %v, %x[%n] : …
    becomes
        tile.store %new, %x[%n] mask %m : …

    Where the select takes what was loaded if ``%m`` holds, the mask is the opposite of it. What was loaded may have
    been converted to a wider type for the select, and back for the store. Where there is such a store, ``cse`` comes
    first: rows are the same where their numbers are one value. It never refuses.
    """

    name = "mask-rmw-scatter"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if not any(_selected(store) for store in walk(op, StoreOp)):
            return
        CsePass().apply(ctx, op)
        for store in walk(op, StoreOp):
            select = _selected(store)
            if select is None:
                continue
            if _lies_there(select.on_false, store):
                _mask(store, select, select.on_true, select.condition)
            elif _lies_there(select.on_true, store):
                _mask(store, select, select.on_false, _opposite(select, store))


def _selected(store: StoreOp) -> SelectOp | None:
    """What a store puts into computed rows, where it selects among two values and has no mask yet."""
    value = store.value.owner
    select = value.input.owner if isinstance(value, CastOp) else value
    return select if isinstance(select, SelectOp) and store.mask is None and store.gathers else None


def _opposite(select: SelectOp, store: StoreOp) -> SSAValue:
    """Where a select takes its second value."""
    return _before(store, ELEMENTWISE["not"](select.condition), select).results[0]


def _before(store: StoreOp, op: Operation, origin: Operation) -> Operation:
    op.location = origin.location
    Rewriter.insert_op(op, InsertPoint.before(store))
    return op


def _mask(store: StoreOp, select: SelectOp, new: SSAValue, mask: SSAValue) -> None:
    """Stores what is new alone. What nothing else reads goes."""
    unused = [store.value.owner, select]
    unused += [op for value in (select.on_true, select.on_false) for op in (value.owner, _unwidened(value).owner)]
    if isinstance(cast := store.value.owner, CastOp):
        new = _before(store, CastOp(new, tile_type(cast.result).element_type), cast).results[0]
    masked = StoreOp(new, store.memory, store.entries, mask, store.attributes)
    masked.location = store.location
    Rewriter.replace_op(store, masked)
    for op in dict.fromkeys(unused):
        if isinstance(op, SelectOp | LoadOp | CastOp) and op.parent is not None and op.result.first_use is None:
            Rewriter.erase_op(op)


def _unwidened(value: SSAValue) -> SSAValue:
    """What a value was before it was converted to a type that has all of its numbers."""
    cast = value.owner
    if isinstance(cast, CastOp) and widens(tile_type(cast.input).element_type, tile_type(cast.result).element_type):
        return cast.input
    return value


def _lies_there(value: SSAValue, store: StoreOp) -> bool:
    """Whether a value was loaded from where a store goes, in the same block, and nothing has written there since."""
    source = _unwidened(value)
    load = source.owner
    if not isinstance(load, LoadOp) or load.mask is not None or load.parent_block() is not store.parent_block():
        return False
    if source.type != store.value.type or (load.memory, load.entries) != (store.memory, store.entries):
        return False
    op = load.next_op
    while op is not None and op is not store:
        if any(may_alias(store.memory, other) for other in accessed(op, MemoryEffectKind.WRITE)):
            return False
        op = op.next_op
    return op is store
