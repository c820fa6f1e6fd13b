"""Which arrays of a launch come by addressed windows: those that move no more bytes so. Pure."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from xdsl.ir import SSAValue

from kopt.analysis.addressed import moving, words_of
from kopt.analysis.buffer_kinds import PlacedArray
from kopt.analysis.layouts import LayoutProblem, layout
from kopt.analysis.streaming import is_large, streamed_extents
from kopt.analysis.windows import Window
from kopt.ir.ranges import binding
from kopt.targets.budget import Budget


def addressed_windows(
    places: Sequence[PlacedArray], order: Sequence[SSAValue], elsewhere: Collection[SSAValue] = ()
) -> dict[SSAValue, Window]:
    """The addressed windows of a launch's arrays whose numbers fit scalar memory together, for axes in an order.

    Arrays that stand ``elsewhere`` tell no numbers.
    """
    chosen: dict[SSAValue, Window] = {}
    words: dict[SSAValue, int] = {}
    for place in places:
        window = place.addressed
        if window is None or not {*window.addresses}.isdisjoint(elsewhere) or not _moves_less(window, place, order):
            continue
        more = words | {array: words_of(array) for array in window.addresses}
        if Budget.is_scalar_memory(sum(more.values())):
            chosen[place.window.memory], words = window, more
    return chosen


def _moves_less(window: Window, place: PlacedArray, order: Sequence[SSAValue]) -> bool:
    """Whether an addressed window moves at most what the array's own window, or a DMA a cell, would."""
    bytes = _moved(window, place.axes, order)
    others = [_moved(moving(place.window, place.axes), place.axes, order)]
    if is_large(window.type):
        others = [_fetched(window, place, order)]
    return bytes is not None and all(other is None or bytes <= other for other in others)


def _moved(window: Window, axes: Sequence[SSAValue], order: Sequence[SSAValue]) -> int | None:
    """Bytes that a window's blocks and its layout move at most: a block for each cell to the innermost axis that it
    moves with, and what the host reads and writes where it lays the array out. None where no layout is legal."""
    try:
        laid_out = not layout(window).plain
    except LayoutProblem:
        return None
    inner = max((place for place, axis in enumerate(order) if axes.index(axis) in window.grid_dims), default=-1)
    return _bytes(window, order[: inner + 1], laid_out)


def _fetched(window: Window, place: PlacedArray, order: Sequence[SSAValue]) -> int:
    """Bytes that a DMA in every cell moves, of an array that is padded where its last blocks reach beyond it."""
    return _bytes(window, order, streamed_extents(place.window) != window.type.get_shape())


def _bytes(window: Window, cells: Sequence[SSAValue], laid_out: bool) -> int:
    blocks = math.prod(binding(range).trips or 1 for range in cells) * math.prod(window.block)
    return (blocks + 2 * math.prod(window.type.get_shape()) * laid_out) * window.bits // 8
