"""Updates as they stand in the kernel: stores and atomics, and the indices of theirs that are blocks after all."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType, i32
from xdsl.ir import SSAValue
from xdsl.rewriter import Rewriter

from kopt.analysis.values.updates import UpdateOp, gathered, repeated, values_of
from kopt.dialects.atomic import CasOp, RmwOp
from kopt.dialects.builder import Builder
from kopt.dialects.tile import (
    ALL,
    Access,
    ArangeOp,
    DimAttr,
    ExtractOp,
    FullOp,
    IndexOp,
    SplatOp,
    StoreOp,
    TileType,
    is_gather,
    tile_type,
)
from kopt.dialects.tile.index_list import Entry, block_dims
from kopt.ir.ranges import always_full, ranges_in_scope
from kopt.passes.replacing import replacing


def as_blocks(op: UpdateOp) -> UpdateOp:
    """The update with each index that is a range's lane numbers as that range, and each scalar as an ``index``.

    So where several indices, each of dimensions of its own, are broadcast against each other, too.
    """
    entries = [_as_block(entry, op) for entry in apart(op)]
    if all(before is after for before, after in zip(op.entries, entries, strict=True)):
        return op
    return _replaced(op, entries)


def _replaced(op: UpdateOp, entries: Sequence[Entry]) -> UpdateOp:
    """The update by another index list; lanes of a loop that are plain elements there lose its tag."""
    build, type = Builder(op), tile_type(values_of(op)[0])
    dims = block_dims(entries, op.memory.type.get_shape())  # pyright: ignore[reportAttributeAccessIssue]
    values, mask = list(values_of(op)), op.mask
    if [dim.size for dim in dims] == [dim.size for dim in type.dims.data] and dims != type.dims.data:
        mask = build.both(mask, build.inside(type.dims.data, _lost(op, dims)))
        mask = mask and build.reshape(mask, dims)
        values = [build.reshape(value, dims) for value in values]
    replacement = _with_entries(op, entries, values, mask)
    build.insert(replacement)
    for before, after in zip(op.results, replacement.results, strict=True):
        after.name_hint = before.name_hint
    Rewriter.replace_op(op, [], [build.reshape(result, type.dims) for result in replacement.results])
    return replacement


def _lost(op: UpdateOp, dims: Sequence[DimAttr]) -> list[SSAValue | None]:
    """The ranges of a value's dimensions whose tags a block of others does not have: its lanes there must be valid."""
    ranges = ranges_in_scope(op)
    pairs = zip(tile_type(values_of(op)[0]).dims.data, dims, strict=True)
    found = [ranges.get(before.tag.data) if before != after else None for before, after in pairs]
    return [None if range is None or always_full(range) else range for range in found]


def with_numbers(op: UpdateOp) -> UpdateOp:
    """The update with a tile of equal numbers for each index that is one number."""
    if all(map(is_gather, op.entries)):
        return op
    (first, *_) = (entry for entry in op.entries if is_gather(entry))
    assert isinstance(first, SSAValue)
    type = tile_type(first)
    return _replaced(op, [entry if is_gather(entry) else _repeated(entry, op, type) for entry in op.entries])


def _repeated(entry: Entry, op: UpdateOp, type: TileType) -> SSAValue:
    type = type.with_element(i32)
    make = FullOp(entry, type) if isinstance(entry, int) else SplatOp(entry, type)  # pyright: ignore
    return Builder(op).add(make)


def apart(op: Access) -> list[Entry]:
    """The index list with lane numbers as blocks, as far as the block keeps its dimensions."""
    entries, positions = list(op.entries), gathered(op)
    shape = op.memory.type.get_shape()  # pyright: ignore[reportAttributeAccessIssue]
    if len(positions) == 1:
        entries[positions[0]] = _lanes(entries[positions[0]], shape[positions[0]])
        return entries
    sources = [repeated(entries[position]) for position in positions]
    together = positions and positions[-1] - positions[0] + 1 == len(positions)
    dims = [dim for _, own in sources for dim in own]
    rank = max((tile_type(index).rank for index in op.indices if is_gather(index)), default=0)
    if not together or dims != list(range(rank)):
        return entries
    found = list(entries)
    for position, (source, _) in zip(positions, sources, strict=True):
        found[position] = _lanes(source, shape[position])
    return found if sum(is_gather(entry) for entry in found) <= 1 else entries


def _lanes(entry: Entry, extent: int) -> Entry:
    """A range, or ``:``, where an index is its lane numbers."""
    op = entry.owner if isinstance(entry, SSAValue) else None
    if isinstance(op, IndexOp):
        return op.range
    whole = isinstance(op, ArangeOp) and (op.start.data, op.step.data, tile_type(op.result).shape) == (0, 1, (extent,))
    return ALL if whole else entry


def _as_block(entry: Entry, op: UpdateOp) -> Entry:
    if not isinstance(entry, SSAValue) or not is_gather(entry):
        return entry
    if tile_type(entry).rank:
        return entry
    return Builder(op).add(ExtractOp(entry, IndexType()))


def _with_entries(
    op: UpdateOp, entries: Sequence[Entry], values: Sequence[SSAValue], mask: SSAValue | None
) -> UpdateOp:
    if isinstance(op, StoreOp):
        return StoreOp(values[0], op.memory, entries, mask, op.attributes)
    ordering = op.ordering.data
    if isinstance(op, CasOp):
        return replacing(op, CasOp(values[0], values[1], op.memory, entries, mask, ordering))
    kind, returns = op.kind.data, bool(op.previous)
    return replacing(op, RmwOp(kind, values[0], op.memory, entries, mask, ordering, returns))
