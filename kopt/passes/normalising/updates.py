"""Updates by computed indices that are blocks after all, or whose row numbers are those of whole rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue
from xdsl.rewriter import Rewriter

from kopt.analysis.validity import LaneValidity
from kopt.analysis.values.repeats import index_tiles
from kopt.analysis.values.updates import UpdateOp, gathered, is_by_element, previous_of, values_of
from kopt.dialects.atomic import CasOp, RmwOp
from kopt.dialects.builder import Builder
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import FullOp, SplatOp, StoreOp, array_type, is_gather, tile_type
from kopt.dialects.tile.index_list import Entry, block_dims
from kopt.ir.index_runs import IndexList
from kopt.ir.sums import SumAnalysis
from kopt.passes.normalising.index_rewriting import IndexRewriting, index_list, with_numbers
from kopt.passes.normalising.whole_rows import alike
from kopt.passes.replacing import replacing
from kopt.walk import walk


def normalise_updates(launch: LaunchOp, memory: SSAValue) -> None:
    """Writes the updates of an array as those of blocks, or of rows or elements by tiles of numbers alone."""
    updates, sums = [op for op in walk(launch, StoreOp, RmwOp, CasOp) if op.memory is memory], SumAnalysis()
    scattered = [_with_ranges(op, sums) for op in updates if gathered(op)]
    lists = {op: index_list(op, sums) for op in scattered if gathered(op)}
    boxes = [
        (op, found) for op, found in lists.items() if isinstance(op, StoreOp) and found is not None and found.is_box
    ]
    if len(boxes) == len(lists):
        for op, found in boxes:
            _with_blocks(op, found, sums)
        return
    scattered = [*lists]
    if all(map(is_by_element, scattered)):
        scattered = [_with_tiles(op) for op in scattered]
    _erase_idle(alike(scattered, sums))


def _with_ranges(op: UpdateOp, sums: SumAnalysis) -> UpdateOp:
    """The update with the range, or ``:``, for each index that has its lane numbers, where one is left at most."""
    if (numbers := with_numbers(op)) is not None:
        op = _replaced(op, numbers, values_of(op), op.mask)
    if (found := index_list(op, sums)) is None:
        return op
    one = IndexRewriting(op, found, sums)
    for n in range(len(found.runs)):
        found = found if one.is_range(n) else found.gathering(n)
    left = found.runs.count(None)
    return op if left > 1 or left == len(found.runs) or found.repeats else _with_blocks(op, found, sums)


def _with_blocks(op: UpdateOp, found: IndexList, sums: SumAnalysis) -> UpdateOp:
    """The update of blocks, where index tiles are runs."""
    one = IndexRewriting(op, found, sums)
    one.take_runs()
    build, dims = one.build, block_dims(one.entries, one.shape)
    values = [build.reshape(one.ordered(value), dims) for value in values_of(op)]
    mask = op.mask and build.reshape(one.ordered(op.mask), dims)
    mask = build.both(mask, LaneValidity().of(values[-1]))
    return _replaced(op, one.entries, values, mask, lambda result: one.as_before(result, tile_type(op.results[0])))


def _with_tiles(op: UpdateOp) -> UpdateOp:
    """The update with a tile of equal numbers for each index that is one number."""
    tiles = index_tiles(op.entries)
    if len(tiles) == len(op.entries):
        return op
    build, type = Builder(op), tile_type(next(iter(tiles.values()))).with_element(i32)
    entries = [
        entry
        if is_gather(entry)
        else build.add(FullOp(entry, type) if isinstance(entry, int) else SplatOp(entry, type))  # pyright: ignore
        for entry in op.entries
    ]
    return _replaced(op, entries, values_of(op), op.mask)


def _replaced(
    op: UpdateOp,
    entries: Sequence[Entry],
    values: Sequence[SSAValue],
    mask: SSAValue | None,
    as_before: Callable[[SSAValue], SSAValue] = lambda result: result,
) -> UpdateOp:
    """Puts an update by another index list in an update's place."""
    new = _updating(op, entries, values, mask)
    Builder(op).insert(new)
    for before, after in zip(op.results, new.results, strict=True):
        after.name_hint = before.name_hint
    Rewriter.replace_op(op, [], [as_before(result) for result in new.results])
    return new


def _updating(op: UpdateOp, entries: Sequence[Entry], values: Sequence[SSAValue], mask: SSAValue | None) -> UpdateOp:
    """The same update of a block by another index list."""
    if isinstance(op, StoreOp):
        return StoreOp(values[0], op.memory, entries, mask, op.attributes)
    ordering = op.ordering.data
    if isinstance(op, CasOp):
        return replacing(op, CasOp(values[0], values[1], op.memory, entries, mask, ordering))
    kind, returns = op.kind.data, bool(op.previous)
    return replacing(op, RmwOp(kind, values[0], op.memory, entries, mask, ordering, returns))


def _erase_idle(updates: Sequence[UpdateOp]) -> None:
    """Removes updates of no elements; previous ones are undefined."""
    shapes = [tile_type(value).shape for op in updates for value in values_of(op)]
    if not any(0 in shape for shape in (array_type(updates[0].memory).get_shape(), *shapes)):
        return
    for op in updates:
        if (previous := previous_of(op)) is not None:
            previous.replace_all_uses_with(Builder(op).add(FullOp(0, tile_type(previous))))
        Rewriter.erase_op(op)
