"""Jagged loops over one item: their lengths and starts are numbers."""

from __future__ import annotations

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from kopt.analysis.alignment import copied_multiple
from kopt.dialects.builder import Builder
from kopt.dialects.jagged import ForOp, RowsOp, ValidOp
from kopt.dialects.tile import (
    BroadcastOp,
    Entry,
    ExtractOp,
    GridOp,
    LoadOp,
    ReshapeOp,
    ShiftOp,
    StoreOp,
    TileType,
    array_type,
    range_type,
    tile_type,
)
from kopt.dialects.tile import ValidOp as TileValidOp
from kopt.dialects.tile.memory import block_type
from kopt.passes.jagged.walking import walk_to
from kopt.walk import walk


def row_sizes(grid: GridOp) -> dict[str, int]:
    """Sizes for the blocks of rows: whole tiles of memory, which copies take."""
    sizes: dict[str, int] = {}
    for access in walk(grid, LoadOp, StoreOp):
        type = array_type(access.memory)
        for dim, entry in enumerate(access.entries):
            if isinstance(entry, SSAValue) and isinstance(entry.owner, RowsOp) and len(access.entries) > 1:
                block, unit = range_type(entry.owner.range), copied_multiple(type, dim)
                size = sizes.get(block.tag, block.size)
                sizes[block.tag] = -(-size // unit) * unit
    return sizes


def unblock_items(grid: GridOp) -> None:
    """Rewrites jagged loops over items in blocks of one, and what is said of their lanes."""
    for access in walk(grid, LoadOp, StoreOp):
        if any(_slice_of(entry) is not None for entry in access.entries):
            _take_slices(access)
    for lanes in walk(grid, ValidOp):
        valid = Builder(lanes).add(TileValidOp(lanes.range))
        Rewriter.replace_op(lanes, _spread(valid, lanes.result_type))
    for rows in [op for op in walk(grid, RowsOp) if op.result.first_use is None]:
        Rewriter.erase_op(rows)
    for loop in walk(grid, ForOp):
        walk_to(loop, _number(loop.lengths, loop))


def _slice_of(entry: Entry) -> RowsOp | None:
    """The rows of one item that an entry is, if it is."""
    rows = entry.owner if isinstance(entry, SSAValue) else None
    if not isinstance(rows, RowsOp):
        return None
    starts = tile_type(rows.starts)
    return rows if all(size == 1 for size in starts.shape) else None


def _take_slices(access: LoadOp | StoreOp) -> None:
    """Loads or stores a block of rows that follow one another, under the dimensions of gathered ones."""
    slices = [(entry, _slice_of(entry)) for entry in access.entries]
    entries = [entry if rows is None else _shifted(rows) for entry, rows in slices]
    type = block_type(access.memory.type, entries)
    mask = access.mask and _reshaped(access.mask, type, access)
    if isinstance(access, StoreOp):
        value = _reshaped(access.value, type, access)
        Rewriter.replace_op(access, StoreOp(value, access.memory, entries, mask, access.attributes), [])
        return
    load = LoadOp(access.memory, entries, mask, access.other, access.pad, access.attributes)
    result = Builder(access).add(load, access.result.name_hint)
    outer = tile_type(access.result)
    Rewriter.replace_op(access, _spread(result, outer))


def _shifted(rows: RowsOp) -> SSAValue:
    shift = ShiftOp(rows.range, _number(rows.starts, rows))
    return Builder(rows).add(shift, rows.result.name_hint or "rows")


def _number(value: SSAValue, user: Operation) -> SSAValue:
    """The one lane of a tile as an ``index``, known as soon as the tile is: outside of loops, for an item."""
    type, build = tile_type(value), Builder.after(value, user)
    return build.add(ExtractOp(build.add(ReshapeOp(value, type.with_dims([]))), IndexType()), value.name_hint)


def _spread(value: SSAValue, type: TileType) -> BroadcastOp:
    """The same lanes with dimensions of one item more."""
    assert isinstance(value.type, TileType)
    own = iter(range(type.rank))
    return BroadcastOp(value, [next(n for n in own if type.dims.data[n] == dim) for dim in value.type.dims.data], type)


def _reshaped(value: SSAValue, block: TileType, user: Operation) -> SSAValue:
    type = tile_type(value)
    return Builder(user).add(ReshapeOp(value, type.with_dims(block.dims.data)))
