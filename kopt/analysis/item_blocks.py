"""Which dimensions are items of jagged loops, and whether a grid's cells may take them one by one instead of in blocks.

Pure.
"""

from __future__ import annotations

from xdsl.ir import Operation

from kopt.analysis.combining import combined_operands
from kopt.dialects.jagged import ForOp, RowsOp
from kopt.dialects.tile import (
    AssociativeOp,
    BeginOp,
    BlockSizeOp,
    CountOp,
    EndOp,
    GridOp,
    IdOp,
    RangeType,
    ScanOp,
    TakeAlongOp,
    ValidCountOp,
    WhenOp,
    tile_type,
)
from kopt.ir.ranges import unshifted
from kopt.walk import walk

#: Ops on a range that tell apart how its lanes are dealt out to blocks.
_SEES_BLOCKS = (BeginOp, EndOp, IdOp, CountOp, BlockSizeOp, ValidCountOp, WhenOp)
#: Those that tell where a jagged loop ends, which is where the longest item of a block does.
_SEES_LONGEST = (EndOp, CountOp, ValidCountOp)


def item_tags(grid: GridOp) -> set[str]:
    """The tags of the items of all jagged loops in a grid's cells, and of those whose rows are taken in other loops."""
    loops = [op.lengths_type for op in walk(grid, ForOp)]
    rows = [tile_type(op.starts) for op in walk(grid, RowsOp)]
    return {tag for type in (*loops, *rows) for tag in type.tags if tag}


def why_blocks_stay(grid: GridOp, tags: set[str]) -> str | None:
    """What depends on how items are dealt out to blocks, in words; None where nothing does."""
    together = {op.tag: items for op in walk(grid, ForOp) if (items := _in_blocks(op))}
    for op in walk(grid):
        if isinstance(op, _SEES_BLOCKS) and not tags.isdisjoint(_range_tags(op)):
            return f"'{op.name}' asks which items a block has"
        if isinstance(op, _SEES_LONGEST) and not together.keys().isdisjoint(_range_tags(op)):
            return f"'{op.name}' asks how long the longest item of a block is"
        combined, beside = _combined_tags(op)
        if not tags.isdisjoint(combined):
            return f"'{op.name}' combines items"
        if any(not together.get(tag, set()) <= beside for tag in combined):
            return f"'{op.name}' combines lanes up to the longest item of a block"
    return None


def _in_blocks(loop: ForOp) -> set[str]:
    """The tags of a loop's items, of those that are several at a time."""
    return {dim.tag.data for dim in loop.lengths_type.dims.data if dim.size.data != 1}


def _range_tags(op: Operation) -> set[str]:
    ranges = [unshifted(value).type for value in op.operands if isinstance(value.type, RangeType)]
    return {type.tag for type in ranges if isinstance(type, RangeType)}


def _combined_tags(op: Operation) -> tuple[set[str], set[str]]:
    """The tags of the dimensions along which an op combines lanes, and all tags of the tiles that it combines."""
    found = [(tile_type(op.operands[number]), dims) for number, dims, _ in combined_operands(op)]
    if isinstance(op, ScanOp | TakeAlongOp):
        found.append((tile_type(op.input), (op.dim.data,)))
    if isinstance(op, AssociativeOp):
        found += [(type, (op.dim.data,)) for type in op.tiles]
    return {type.tags[dim] for type, dims in found for dim in dims}, {tag for type, _ in found for tag in type.tags}
