"""What follows of the buffer of an array from its kind and the schedules of loops: its axes and its depth. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, SSAValue

from kopt.analysis.buffer_kinds import MOVED_BY_GRID, PlacedArray, accesses, may_have
from kopt.analysis.loop_schedules import Wanted
from kopt.analysis.streaming import is_large, loops_around, walks
from kopt.analysis.windows import Window
from kopt.dialects.tile import GridOp, RangeType, tag_of
from kopt.dialects.tile.index_list import Entry, is_range
from kopt.ir.atoms import BlockNumber
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.index_expr import IndexExpr

#: Kinds whose blocks move with loops of the kernel, by the schedules of those.
_WALKED = {"prefetch": "prefetch", "writeback": "prefetch", "emit_pipeline": "emit_pipeline"}


def usual_kind(place: PlacedArray, wanted: Wanted = "auto") -> str:
    """The kind that an array has where nothing says another: the first that it may have, DMAs for large ones."""
    kind = place.usual
    return "dma" if kind in MOVED_BY_GRID and _is_fetched(place, wanted) else kind


def moving_axes(place: PlacedArray, kind: str, order: Sequence[str], window: Window | None = None) -> tuple[str, ...]:
    """The axes that an array's blocks move with in a buffer of a kind, in the order of the grid or of the program.

    ``window`` is that of blocks which loaded numbers tell.
    """
    if window is not None:
        moves = {tag_of(place.axes[number]) for number in window.grid_dims}
        return tuple(tag for tag in order if tag in moves)
    return _walked(place, _WALKED[kind]) if kind in _WALKED else _of_grid(place, order)


def moves_with(
    place: PlacedArray, kind: str, order: Sequence[str], axes: Collection[str], window: Window | None = None
) -> bool:
    """Whether an array's blocks may be said to move with axes; ``window`` is theirs where numbers tell them.

    Those that windows are known to move with are among them, and none on which no index depends. In between, windows
    are only known when loops have become dimensions: a dimension may turn out to be taken whole.
    """
    if kind in _WALKED:
        return {*axes} == {*moving_axes(place, kind, order)}
    if window is not None:
        return {*moving_axes(place, kind, order, window)} <= {*axes} <= {*map(tag_of, place.axes)}
    ops = accesses(place.window)
    known = {place.grid.tags[number] for number in place.window.grid_dims}
    known |= {tag_of(range) for range in _hoisted(place) if all(range in op.entries for op in ops)}
    return known <= {*axes} <= {tag_of(range) for op in ops for entry in op.indices for range in _ranges_of(entry)}


def is_moving(kind: str) -> bool:
    """Whether blocks of a kind move with axes of the grid or of loops."""
    return kind in MOVED_BY_GRID or kind in _WALKED


def usual_depth(kind: str, axes: Sequence[str]) -> int:
    """How many blocks there are at once: two of what moves, so that one is filled while the other is used."""
    return 2 if kind in _WALKED or kind in MOVED_BY_GRID and axes else 1


def _is_fetched(place: PlacedArray, wanted: Wanted) -> bool:
    """Whether cells fetch their blocks of an array themselves, where the grid does not tell which those are."""
    asked = wanted == "fori" or wanted == "auto" and is_large(place.window.type)
    return asked and may_have(place, "dma")


def _of_grid(place: PlacedArray, order: Sequence[str]) -> tuple[str, ...]:
    """The axes of the grid, loops that are to be dimensions of it included, that an array's window moves with."""
    moves = {place.grid.tags[number] for number in place.window.grid_dims}
    ops = accesses(place.window)
    loops = _hoisted(place)
    for column in zip(*(op.entries for op in ops), strict=True) if loops else ():
        counted = _counted(column, place)
        moves |= {tag_of(range) for range in counted} if counted & loops else set()
    return tuple(tag for tag in order if tag in moves)


def _hoisted(place: PlacedArray) -> set[SSAValue]:
    """The ranges of the loops around an array's accesses that are to be dimensions of the grid."""
    ops = accesses(place.window)
    return {loop.range for op in ops for loop in loops_around(op) if place.schedules(loop) == "grid"}


def _ranges_of(value: SSAValue) -> Iterator[SSAValue]:
    """The ranges that an index is computed from, bounds of loops included."""
    seen, left = set[SSAValue](), [value]
    while left:
        if (found := left.pop()) not in seen:
            seen.add(found)
            owner = found.owner.parent_op() if isinstance(found.owner, Block) else found.owner
            left += [] if owner is None or isinstance(owner, GridOp) else owner.operands
    return (found for found in seen if isinstance(found.type, RangeType))


def _counted(entries: Sequence[Entry], place: PlacedArray) -> set[SSAValue]:
    """The ranges whose numbers tell the one block, or element, that all accesses of a dimension take."""
    (form, *others) = {_first(entry, place.window.analysis) for entry in entries}
    if form is None or others or not form.is_affine:
        return set()
    return {atom.name for atom in form.terms if isinstance(atom, BlockNumber) and isinstance(atom.name, SSAValue)}


def _first(entry: Entry, analysis: IndexAnalysis) -> IndexExpr | None:
    """The first element of a block; None of what is no block, and of whole dimensions."""
    if not isinstance(entry, SSAValue):
        return None
    if is_range(entry):
        return analysis.first(entry)
    return analysis.expr(entry) if isinstance(entry.type, IndexType) else None


def _walked(place: PlacedArray, schedule: str) -> tuple[str, ...]:
    """The axes of the loops that bring an array's blocks, in the order of the program."""
    loops = [
        loop
        for access in accesses(place.window)
        for loop in loops_around(access)
        if place.schedules(loop) == schedule and any(walks(entry, loop) for entry in access.entries)
    ]
    return tuple(dict.fromkeys(tag_of(loop.range) for loop in loops))
