"""The pass ``forward-stores``: what a cell has just stored is not loaded again."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter
from xdsl.traits import MemoryEffectKind

from kopt.analysis.access_summary import may_alias
from kopt.analysis.aliases import accessed, effects_on_memory, root
from kopt.analysis.effects import get_effects
from kopt.diagnostics import remark
from kopt.dialects.tile import GridOp, LoadOp, StoreOp
from kopt.dialects.tile.index_list import Entry
from kopt.walk import walk

#: An index list into a memref, and the block that lies there.
Held = dict[tuple[SSAValue, tuple[Entry, ...]], SSAValue]


@dataclass(frozen=True)
class ForwardStoresPass(ModulePass):
    """Store-to-load forwarding: a load becomes the value that its cell stored at the same index list before.

    Nothing may have written in between.

    A stored value has the memory's element type already, so nothing is rounded differently. Lanes outside their ranges
    are undefined in both. An array that served only to carry values from one statement to the next is then never
    read, and ``drop-dead-arrays`` removes it.

        tile.store %v, %tmp[%i] : …
        %w = tile.load %tmp[%i] : …
        %r = tile.exp %w : …
    becomes
        tile.store %v, %tmp[%i] : …
        %r = tile.exp %v : …

    Masked accesses, computed rows and arrays that the grid updates atomically stay as they are.

    It never refuses.
    """

    name = "forward-stores"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for grid in walk(op, GridOp):
            _Forwarder(_shared(grid)).block(grid.body.block, {})


def _shared(grid: GridOp) -> set[SSAValue]:
    """The storage that other cells may change meanwhile: what anything but loads and stores touches."""
    others = [op for op in walk(grid) if not op.regions and not isinstance(op, LoadOp | StoreOp)]
    return {root(value) for op in others for _, value in effects_on_memory(op)}


@dataclass
class _Forwarder:
    shared: set[SSAValue]

    def block(self, block: Block, held: Held) -> None:
        """Walk a block in its order; ``held`` is what memory is known to hold at its start."""
        for op in list(block.ops):
            if isinstance(op, LoadOp):
                _forward(op, held)
                continue
            _forget(op, held)
            if isinstance(op, StoreOp) and self._known(op):
                held[op.memory, op.entries] = op.value
            for region in op.regions:
                for inner in region.blocks:
                    self.block(inner, dict(held))

    def _known(self, store: StoreOp) -> bool:
        return store.mask is None and root(store.memory) not in self.shared and not store.gathers


def _forward(load: LoadOp, held: Held) -> None:
    value = held.get((load.memory, load.entries))
    if value is None or load.mask is not None or load.pad is not None:
        return
    remark(load, f"'{load.memory.name_hint or 'array'}' is not read: the cell has just stored this block")
    load.result.replace_all_uses_with(value)
    Rewriter.erase_op(load)


def _forget(op: Operation, held: Held) -> None:
    """Drop what ``op``, or anything inside it, may overwrite."""
    if not op.regions and get_effects(op) is None:
        held.clear()
    written = accessed(op, MemoryEffectKind.WRITE)
    for place in [place for place in held if any(may_alias(place[0], other) for other in written)]:
        del held[place]
