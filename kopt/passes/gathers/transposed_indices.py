"""Transposed indices: the lanes of an index list in another order, ``x[m.index[None, :], k.index[:, None]]``."""

from __future__ import annotations

from typing import Any

from xdsl.ir import SSAValue
from xdsl.rewriter import Rewriter

from kopt.dialects.builder import Builder
from kopt.dialects.tile import (
    BroadcastOp,
    CastOp,
    LoadOp,
    ReshapeOp,
    TransposeOp,
    array_type,
    block_axes,
    is_gather,
    tile_type,
)


def with_ordered_indices(load: LoadOp) -> LoadOp:
    """The load with its gathering indices' dimensions in the order of the indices, of which a transpose is used then.

    Else the load: where an index has several dimensions of the block, or they are in order already.

        %v = tile.load %x[%n, %k] : memref<20x96xf32> -> !tile.tile<b2=128 x b0=32 x f32>   // %n along b0, %k along b2
    becomes
        %w = tile.load %x[%n2, %k2] : memref<20x96xf32> -> !tile.tile<b0=32 x b2=128 x f32>
        %v = tile.transpose %w [1, 0] : !tile.tile<b0=32 x b2=128 x f32>
    """
    positions = [position for position, entry in enumerate(load.entries) if is_gather(entry)]
    if len(positions) < 2 or positions != list(range(positions[0], positions[-1] + 1)):
        return load
    sources = [_source(load.entries[position]) for position in positions]
    axes = [axis for axis, _ in sources]
    if axes == sorted(axes) or sorted(axes) != list(range(len(axes))):
        return load
    return _permuted(load, dict(zip(positions, sources, strict=True)))


def _source(index: object) -> tuple[int, SSAValue | None]:
    """The one axis along which an index differs, and its numbers there; -1 where there is no such axis."""
    assert isinstance(index, SSAValue)
    found = [(axis, source) for axis in range(tile_type(index).rank) if (source := _along(index, axis)) is not None]
    return found[0] if len(found) == 1 else (-1, None)


def _along(index: Any, axis: int) -> SSAValue | None:
    """The tile of one dimension that an index repeats along all axes but one; None where it repeats none."""
    while isinstance(op := index.owner, CastOp) or isinstance(op, BroadcastOp | ReshapeOp) and op.result_type.rank > 1:
        if isinstance(op, BroadcastOp):
            if axis not in op.mapping:
                return None
            axis = op.mapping.index(axis)
        if isinstance(op, ReshapeOp):
            kept = [n for n, extent in enumerate(tile_type(index).shape) if extent != 1]
            if tile_type(op.input).rank != 1 or kept != [axis]:
                return None
            axis = 0
        index = op.input
    return index if tile_type(index).rank == 1 else None


def _permuted(load: LoadOp, sources: dict[int, tuple[int, SSAValue | None]]) -> LoadOp:
    build = Builder(load)
    type, axes = tile_type(load.result), [axis for axis, _ in sources.values()]
    first = _first_gathered(load)
    order = [*range(first), *(first + axis for axis in axes), *range(first + len(axes), type.rank)]
    block = type.with_dims([type.dims.data[n] for n in order[first : first + len(axes)]])
    entries = list(load.entries)
    for place, (position, (_, source)) in enumerate(sources.items()):
        assert source is not None
        entries[position] = build.add(BroadcastOp(source, [place], block.with_element(tile_type(source).element_type)))
    mask = None if load.mask is None else build.add(TransposeOp(load.mask, order))
    found = LoadOp(load.memory, entries, mask, load.other, load.pad, load.attributes)
    found.location, found.result.name_hint = load.location, load.result.name_hint
    build.add(found)
    back = TransposeOp(found, [order.index(n) for n in range(type.rank)])
    back.location = load.location
    Rewriter.replace_op(load, back)
    return found


def _first_gathered(load: LoadOp) -> int:
    """The first dimension of the block that row numbers have."""
    axes = block_axes(load.entries, array_type(load.memory).get_shape())
    return next(n for n, axis in enumerate(axes) if axis.gather_dim is not None)
