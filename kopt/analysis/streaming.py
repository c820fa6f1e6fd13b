"""Which arrays a loop may stream: copied block by block, by DMAs, while the block before is computed with.

Pure. Mosaic copies blocks whose last two dimensions start at multiples of a tile and are whole tiles, 8 rows (more for
narrower elements) by 128 lanes, or the whole dimension.
"""

from __future__ import annotations

from xdsl.dialects.builtin import IndexType
from xdsl.ir import SSAValue

from kopt.analysis.layouts import LANES
from kopt.analysis.linear import begin
from kopt.analysis.ranges import binding, unshifted
from kopt.analysis.windows import Window
from kopt.dialects.tile import ForOp, LoadOp, RangeType, TileType
from kopt.dialects.tile.index_list import AllAttr, Entry


def streams(window: Window) -> bool:
    """Whether every access of an array is a load that walks with a loop of schedule ``fori``, in blocks DMAs take."""
    return not window.stores and bool(window.loads) and all(_load_streams(load, window) for load in window.loads)


def _load_streams(load: LoadOp, window: Window) -> bool:
    loop = load.parent_op()
    type = load.result.type
    if not isinstance(loop, ForOp) or loop.schedule is None or loop.schedule.data != "fori":
        return False
    if not isinstance(type, TileType) or type.rank < 2 or load.mask is not None:
        return False
    if not any(_walks(entry, loop) for entry in load.entries):
        return False
    rank = len(load.entries)
    multiples = {rank - 1: LANES, rank - 2: 8 * 32 // window.bits}
    return all(_fits(entry, multiples.get(n, 1), n >= rank - 2) for n, entry in enumerate(load.entries))


def _walks(entry: Entry, loop: ForOp) -> bool:
    return isinstance(entry, SSAValue) and isinstance(entry.type, RangeType) and unshifted(entry) is loop.range


def _fits(entry: Entry, multiple: int, in_tile: bool) -> bool:
    if isinstance(entry, AllAttr):
        return True
    if isinstance(entry, int):
        return not in_tile
    if not isinstance(entry, SSAValue):
        return False
    if isinstance(entry.type, RangeType):
        starts_well = begin(entry).divisor % multiple == 0
        return starts_well and entry.type.size % multiple == 0 and _stays(entry)
    return isinstance(entry.type, IndexType) and not in_tile


def _stays(entry: SSAValue) -> bool:
    """Whether all blocks lie in the extent rounded up to a block: they begin at multiples of their size."""
    return begin(entry).divisor % binding(entry).size == 0


def streamed_extents(window: Window) -> tuple[int, ...]:
    """The extents that make every streamed block lie inside the array."""
    extents = list(window.type.get_shape())
    for load in window.loads:
        for number, entry in enumerate(load.entries):
            if isinstance(entry, SSAValue) and isinstance(entry.type, RangeType):
                size = entry.type.size
                extents[number] = max(extents[number], -(-window.type.get_shape()[number] // size) * size)
    return tuple(extents)
