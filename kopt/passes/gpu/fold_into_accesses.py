"""The pass ``fold-into-accesses``: memory cuts and joins what Triton's tiles cannot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.dialects import tile
from kopt.dialects.tile import array_type
from kopt.dialects.tile.index_list import AllAttr, Entry, SliceAttr, block_axes
from kopt.dialects.tile.memory import memory_shape
from kopt.walk import walk


@dataclass(frozen=True)
class FoldIntoAccessesPass(ModulePass):
    """Folds slices into the loads that they cut, and concatenations into stores: one of each input.

    What is stored may be cast between: the inputs are then.

        tile.store (tile.concat %a, %b dim 1), %out[%i, :]
        tile.slice (tile.load %x[%i, :]) [0, 8] [128, 16]
    becomes
        tile.store %a, %out[%i, 0:n]    tile.store %b, %out[%i, n:m]
        tile.load %x[%i, 8:24]

    It never refuses: accesses with masks stay as they are, and concatenations of the lanes of blocks.
    """

    name = "fold-into-accesses"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for grid in walk(op, tile.GridOp):
            _fold(grid)


def _fold(grid: tile.GridOp) -> None:
    for op in walk(grid):
        if isinstance(op, tile.CastOp) and isinstance(op.input.owner, tile.ConcatOp):
            _cast_inputs(op, op.input.owner)
    for op in walk(grid):
        if isinstance(op, tile.StoreOp) and isinstance(op.value.owner, tile.ConcatOp):
            _split_store(op, op.value.owner)
        elif isinstance(op, tile.SliceOp) and isinstance(op.input.owner, tile.LoadOp):
            _slice_load(op, op.input.owner)
    for op in reversed(walk(grid)):
        if isinstance(op, tile.ConcatOp | tile.CastOp) and not op.result.uses:
            Rewriter.erase_op(op)


def _cast_inputs(cast: tile.CastOp, concat: tile.ConcatOp) -> None:
    """A cast of a concatenation is the concatenation of casts."""
    casts = [tile.CastOp(value, tile.tile_type(cast.result).element_type) for value in concat.inputs]
    joined = tile.ConcatOp(casts, concat.dim.data)
    for op in (*casts, joined):
        op.location = cast.location
    joined.result.name_hint = cast.result.name_hint
    Rewriter.replace_op(cast, [*casts, joined])


def _entry_of_dim(op: tile.LoadOp | tile.StoreOp, dim: int) -> tuple[int, SliceAttr] | None:
    """The position of the slice that a dimension of the block comes from, or None where it is no slice."""
    shape = memory_shape(array_type(op.memory))
    axis = block_axes(op.entries, shape)[dim]
    entry = op.entries[axis.position]
    if isinstance(entry, AllAttr):
        return axis.position, SliceAttr(0, shape[axis.position])
    return (axis.position, entry) if isinstance(entry, SliceAttr) else None


def _part(whole: SliceAttr, offset: int, size: int, stride: int = 1) -> SliceAttr:
    """Elements ``offset``, ``offset + stride``, … of a slice, ``size`` of them."""
    step = whole.step.data * stride
    start = whole.start.data + offset * whole.step.data
    return SliceAttr(start, start + max(size - 1, 0) * step + (size > 0), step)


def _with(entries: Sequence[Entry], position: int, entry: Entry) -> list[Entry]:
    return [entry if number == position else old for number, old in enumerate(entries)]


def _split_store(store: tile.StoreOp, concat: tile.ConcatOp) -> None:
    """One store for each input of a concatenation."""
    found = _entry_of_dim(store, concat.dim.data)
    plain = all(not tile.tile_type(value).tags[concat.dim.data] for value in concat.inputs)
    if found is None or store.mask is not None or not plain:
        return
    position, whole = found
    offset = 0
    for value in concat.inputs:
        size = tile.tile_type(value).shape[concat.dim.data]
        entries = _with(store.entries, position, _part(whole, offset, size))
        part = tile.StoreOp(value, store.memory, entries, None, store.attributes)
        part.location = store.location
        Rewriter.insert_op(part, InsertPoint.before(store))
        offset += size
    Rewriter.erase_op(store)


def _slice_load(op: tile.SliceOp, load: tile.LoadOp) -> None:
    """A load of the slice alone, where the whole was loaded."""
    if load.mask is not None:
        return
    entries: list[Entry] = list(load.entries)
    for dim, (bound, size) in enumerate(zip(op.bounds, tile.tile_type(op.input).shape, strict=True)):
        if bound == (0, size, 1):
            continue
        found = _entry_of_dim(load, dim)
        if found is None:
            return
        position, whole = found
        entries[position] = _part(whole, *bound)
    part = tile.LoadOp(load.memory, entries, None, None, load.pad, load.attributes)
    part.location = op.location
    part.result.name_hint = op.result.name_hint
    Rewriter.insert_op(part, InsertPoint.after(load))
    Rewriter.replace_op(op, [], [part.result])
