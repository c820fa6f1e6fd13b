"""The pass ``mask-rmw-scatter``: what a cell has just loaded from computed rows is not stored there again."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter
from xdsl.traits import MemoryEffectKind

from kopt.analysis.access_summary import may_alias
from kopt.analysis.aliases import accessed
from kopt.dialects.tile import LoadOp, SelectOp, StoreOp
from kopt.passes.cse import CsePass
from kopt.walk import walk


@dataclass(frozen=True)
class MaskRmwScatterPass(ModulePass):
    """Masks read-modify-write scatters: stores to computed rows leave out lanes that they had only loaded from there.

    A row may be named twice. It then keeps what an unmasked lane has written, whichever lane is stored last.

        %old = tile.load %x[%n] : …   %v = tile.select %m, %new, %old : …   tile.store %v, %x[%n] : …
    becomes
        tile.store %new, %x[%n] mask %m : …

    Where there is such a store, ``cse`` comes first: rows are the same where their numbers are one value.
    It never refuses.
    """

    name = "mask-rmw-scatter"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if not any(_selected(store) for store in walk(op, StoreOp)):
            return
        CsePass().apply(ctx, op)
        for store in walk(op, StoreOp):
            select = _selected(store)
            if select is not None and _lies_there(select.on_false, store):
                _mask(store, select)


def _selected(store: StoreOp) -> SelectOp | None:
    """What a store puts into computed rows, where it selects among two values and has no mask yet."""
    select = store.value.owner
    return select if isinstance(select, SelectOp) and store.mask is None and store.gathers else None


def _mask(store: StoreOp, select: SelectOp) -> None:
    masked = StoreOp(select.on_true, store.memory, store.entries, select.condition, store.attributes)
    masked.location = store.location
    Rewriter.replace_op(store, masked)
    for op in (select, select.on_false.owner):
        if isinstance(op, SelectOp | LoadOp) and op.result.first_use is None:
            Rewriter.erase_op(op)


def _lies_there(value: SSAValue, store: StoreOp) -> bool:
    """Whether a value was loaded from where a store goes, in the same block, and nothing has written there since."""
    load = value.owner
    if not isinstance(load, LoadOp) or load.mask is not None or load.parent_block() is not store.parent_block():
        return False
    if (load.memory, load.entries) != (store.memory, store.entries):
        return False
    op = load.next_op
    while op is not None and op is not store:
        if any(may_alias(store.memory, other) for other in accessed(op, MemoryEffectKind.WRITE)):
            return False
        op = op.next_op
    return op is store
