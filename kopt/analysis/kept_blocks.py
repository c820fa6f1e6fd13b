"""Blocks that one loop of a cell loads and a later one loads again, such as those of rows that are normalised. Pure.

    tile.for %k: b1=512 in (0, 65536) { %v = tile.load %x[%i, %k] … }
    tile.for %l: b2=512 in (0, 65536) { %w = tile.load %x[%i, %l] … }

Both loops walk the same blocks, which divide the array, and nothing writes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from kopt.analysis.windows import Window
from kopt.dialects.tile import ForOp, GridOp, LoadOp, array_type
from kopt.dialects.tile.index_list import Entry, is_range
from kopt.ir.ranges import binding
from kopt.targets.tiling import window_bytes


@dataclass(frozen=True)
class KeptBlocks:
    """The load that brings the blocks of an array, the later ones that need no other, and bytes of all of a cell's."""

    first: LoadOp
    again: tuple[LoadOp, ...]
    bytes: int


def kept_blocks(grid: GridOp, window: Window) -> KeptBlocks | None:
    """The blocks of an array that all loops of a grid's cells share, or None."""
    if window.written or len(window.loads) < 2:
        return None
    first, *again = window.loads
    loops = [load.parent_op() for load in window.loads]
    body = grid.body.block
    walked = [loop for loop in loops if isinstance(loop, ForOp) and loop.parent is body]
    if len(walked) < len(loops) or len(set(walked)) < len(loops):
        return None
    if not all(_is_whole(load, loop) for load, loop in zip(window.loads, walked, strict=True)):
        return None
    if any(not walked[0].is_before_in_block(loop) for loop in walked[1:]):
        return None
    places = [_places(load.entries, loop.range) for load, loop in zip(window.loads, walked, strict=True)]
    if any(place != places[0] for place in places):
        return None
    return KeptBlocks(first, tuple(again), window_bytes(window.block, window.bits))


def _is_whole(load: LoadOp, loop: ForOp) -> bool:
    """Whether a loop loads the whole blocks of a dimension, one a visit, all that there are."""
    if load.mask is not None or load.entries.count(loop.range) != 1:
        return False
    extent = array_type(load.memory).get_shape()[load.entries.index(loop.range)]
    return tuple(loop.bounds) == (0, extent) and extent % binding(loop.range).size == 0


def _places(entries: Sequence[Entry], walked: SSAValue) -> tuple[Entry | int, ...]:
    """The block of each dimension, that which the loop walks as its size."""
    return tuple(_place(entry, walked) for entry in entries)


def _place(entry: Entry, walked: SSAValue) -> Entry:
    return binding(walked).size if entry is walked else entry


def shared_reads(grid: GridOp, windows: Sequence[Window]) -> Iterator[KeptBlocks]:
    """What can be kept of each of some arrays."""
    for window in windows:
        if all(_moves_with_grid(load, grid) for load in window.loads) and (found := kept_blocks(grid, window)):
            yield found


def _moves_with_grid(load: LoadOp, grid: GridOp) -> bool:
    """Whether all but what loops walk are blocks of the grid, or whole dimensions."""
    loop = load.parent_op()
    ranges = {*grid.ranges, *([loop.range] if isinstance(loop, ForOp) else [])}
    return all(not isinstance(entry, SSAValue) or is_range(entry) and entry in ranges for entry in load.entries)
