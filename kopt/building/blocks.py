"""Block sizes that a kernel leaves open, for kopt to choose by target."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from kopt.dialects import tile
from kopt.dialects.tile import OpenBlock, RangeType, TileType
from kopt.ir.widths import next_power_of_two
from kopt.walk import walk

#: The most lanes of a block before its size is chosen.
PROVISIONAL = 128
#: Ops that combine the lanes of dimensions which they drop.
_COMBINING = (tile.ReduceOp, tile.ArgReduceOp, tile.DotOp, tile.AssociativeReduceOp)


def provisional_size(extent: int | None, axis: int, rank: int) -> int:
    """A size to start with: 1 for leading dimensions of three or more, a power of two for the last two."""
    if axis < rank - 2:
        return 1
    return min(next_power_of_two(max(1, extent if extent is not None else PROVISIONAL)), PROVISIONAL)


def opened(func: Operation, tags: Sequence[str]) -> list[OpenBlock]:
    """The open blocks of a function: each range with one of these tags, and what depends on its size.

    Its lanes are merged with others by whatever drops its tag and does not combine lanes.
    """
    observed: set[str] = set()
    sized: set[str] = set()
    for op in walk(func):
        asked = {tag for value in op.operands for tag in _tags(value) if isinstance(value.type, RangeType)}
        if isinstance(op, tile.BlockSizeOp | tile.CountOp):
            observed |= asked
            sized |= asked
        elif isinstance(op, tile.IdOp):
            observed |= asked
        elif op.results and not isinstance(op, _COMBINING):
            kept = {tag for value in op.results for tag in _tags(value)}
            sized |= {tag for value in op.operands if isinstance(value.type, TileType) for tag in _tags(value)} - kept
    return [OpenBlock((tag,), observed=tag in observed, sized=tag in sized) for tag in tags]


def _tags(value: SSAValue) -> tuple[str, ...]:
    """The tags of a range, or of a tile's dimensions."""
    if isinstance(value.type, RangeType):
        return (value.type.tag,)
    return tuple(tag for tag in value.type.tags if tag) if isinstance(value.type, TileType) else ()
