"""The pass ``fold-into-accesses``: memory cuts and joins what Triton's tiles cannot."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.dialects import tile
from kopt.passes.dce import eliminate
from kopt.passes.gpu.cutting import Bounds, Cuts, entry_of_dim, joint, part_of_slice, whole
from kopt.passes.replacing import replace
from kopt.walk import walk


@dataclass(frozen=True)
class FoldIntoAccessesPass(ModulePass):
    """Folds slices into the loads that they cut, and concatenations into stores: one of each input.

    Slices move up through lane-by-lane operations, broadcasts, transposes and dimensions of one lane. They do so only
    where all uses of an operation are slices, so nothing is computed twice. A stored value may be computed from a
    concatenation. Each store then computes from one input.

        tile.store (tile.cast (tile.concat %a, %b dim 1)), %out[%i, :]
        tile.slice (tile.cast (tile.load %x[%i, :])) [0, 8] [128, 16]
    becomes
        tile.store (tile.cast %a), %out[%i, 0:n]    tile.store (tile.cast %b), %out[%i, n:m]
        tile.cast (tile.load %x[%i, 8:24])

    It never refuses: accesses with masks stay as they are, and concatenations of the lanes of blocks.
    """

    name = "fold-into-accesses"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for grid in walk(op, tile.GridOp):
            _fold(grid)


def _fold(grid: tile.GridOp) -> None:
    # Stores of parts may be stores of concatenations again.
    while _split_stores(grid):
        pass
    parts = Cuts(set())
    for op in walk(grid, tile.SliceOp):
        if parts.can_cut(op.input, op.bounds):
            replace(op, parts.cut(op.input, op.bounds))
    eliminate(grid.body)


def _split_stores(grid: tile.GridOp) -> bool:
    """Splits the stores of what is made of concatenations; says whether there was any."""
    found = {store: cut for store in walk(grid, tile.StoreOp) if (cut := _cut_of_store(store)) is not None}
    parts = Cuts(set[Operation](found))
    able = {store: cut for store, cut in found.items() if all(parts.can_cut(store.value, b) for b in cut[1])}
    for store, (dim, bounds) in able.items():
        _split_store(store, dim, bounds, parts)
    return bool(able)


def _cut_of_store(store: tile.StoreOp) -> tuple[int, list[Bounds]] | None:
    """The dimension along which a store is cut, and the parts; None where there is nothing to cut."""
    if store.mask is not None:
        return None
    for dim in range(tile.tile_type(store.value).rank):
        starts = joint(store.value, dim)
        if starts is not None and entry_of_dim(store, dim) is not None:
            all = whole(store.value)
            ends = zip(starts, starts[1:], strict=False)
            return dim, [(*all[:dim], (start, end - start, 1), *all[dim + 1 :]) for start, end in ends]
    return None


def _split_store(store: tile.StoreOp, dim: int, bounds: list[Bounds], parts: Cuts) -> None:
    """One store for each part."""
    found = entry_of_dim(store, dim)
    assert found is not None
    position, taken = found
    for bound in bounds:
        entry = part_of_slice(taken, *bound[dim])
        entries = [entry if number == position else old for number, old in enumerate(store.entries)]
        part = tile.StoreOp(parts.cut(store.value, bound), store.memory, entries, None, store.attributes)
        part.location = store.location
        Rewriter.insert_op(part, InsertPoint.before(store))
    Rewriter.erase_op(store)
