"""Which dimensions are items of jagged loops, and whether a grid's cells may take them one by one instead of in blocks.

Pure.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation, SSAValue

from kopt.analysis.combining import combined_operands
from kopt.dialects.jagged import ForOp, RowsOp
from kopt.dialects.tile import (
    BeginOp,
    CountOp,
    EndOp,
    GridOp,
    IdOp,
    RangeType,
    ScanOp,
    TakeAlongOp,
    TileType,
    WhenOp,
)
from kopt.ir.ranges import unshifted
from kopt.walk import walk

#: Ops on a range that tell apart how its lanes are dealt out to blocks.
_SEES_BLOCKS = (BeginOp, EndOp, IdOp, CountOp, WhenOp)


def item_tags(grid: GridOp) -> set[str]:
    """The tags of the items of all jagged loops in a grid's cells, and of those whose rows are taken in other loops."""
    loops = [op.lengths_type for op in walk(grid, ForOp)]
    rows = [_type(op.starts) for op in walk(grid, RowsOp)]
    return {tag for type in (*loops, *rows) for tag in type.tags if tag}


def why_blocks_stay(grid: GridOp, tags: set[str]) -> str | None:
    """What depends on how items are dealt out to blocks, in words; None where nothing does."""
    for op in walk(grid):
        if isinstance(op, _SEES_BLOCKS) and not tags.isdisjoint(_range_tags(op)):
            return f"'{op.name}' asks which items a block has"
        if any(not tags.isdisjoint(combined) for combined in _combined_tags(op)):
            return f"'{op.name}' combines items"
    return None


def _range_tags(op: Operation) -> set[str]:
    ranges = [unshifted(value).type for value in op.operands if isinstance(value.type, RangeType)]
    return {type.tag for type in ranges if isinstance(type, RangeType)}


def _combined_tags(op: Operation) -> Iterator[set[str]]:
    for number, dims, _ in combined_operands(op):
        yield {_type(op.operands[number]).tags[dim] for dim in dims}
    if isinstance(op, ScanOp | TakeAlongOp):
        yield {_type(op.input).tags[op.dim.data]}


def _type(value: SSAValue) -> TileType:
    assert isinstance(value.type, TileType)
    return value.type
