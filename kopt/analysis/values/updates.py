"""Stores and atomic updates as they stand in a kernel: what they update, and with what. Pure."""

from __future__ import annotations

from xdsl.ir import SSAValue

from kopt.dialects.atomic import CasOp, RmwOp
from kopt.dialects.tile import Access, BroadcastOp, ReshapeOp, StoreOp, block_axes, is_gather, tile_type
from kopt.dialects.tile.index_list import Entry

UpdateOp = StoreOp | RmwOp | CasOp


def gathered(op: Access) -> tuple[int, ...]:
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


def is_by_element(op: UpdateOp) -> bool:
    """Whether an update has a lane for each row number and no others: elements of an array, not rows."""
    axes = block_axes(op.entries, op.memory.type.get_shape())  # pyright: ignore[reportAttributeAccessIssue]
    return all(axis.gather_dim is not None for axis in axes)


def repeated(index: Entry) -> tuple[SSAValue, list[int]]:
    """What a tile repeats, and which of its dimensions that has; the others are copies."""
    assert isinstance(index, SSAValue)
    if not isinstance(index.owner, BroadcastOp):
        return index, list(range(tile_type(index).rank))
    source, places = index.owner.input, index.owner.mapping
    sizes = tile_type(source).shape
    own = [place for place, size in zip(places, sizes, strict=True) if size != 1]
    if len(own) < len(sizes) and isinstance(source.owner, ReshapeOp):
        source = source.owner.input
    kept = tile_type(source).shape == tuple(size for size in sizes if size != 1)
    return (source, own) if kept else (index, list(range(tile_type(index).rank)))


def by_row(mask: SSAValue, op: UpdateOp) -> SSAValue | None:
    """The predicate of each row, where a mask is one and the same along the rest of the row."""
    first, count = places_of(op)
    if tile_type(mask).rank == count:
        return mask
    source, own = repeated(mask)
    return source if own == list(range(first, first + count)) else None


def places_of(op: UpdateOp) -> tuple[int, int]:
    """Which dimensions of an update's block are the row numbers' own: the first, and how many."""
    axes = block_axes(op.entries, op.memory.type.get_shape())  # pyright: ignore[reportAttributeAccessIssue]
    own = [number for number, axis in enumerate(axes) if axis.gather_dim is not None]
    return own[0], len(own)
