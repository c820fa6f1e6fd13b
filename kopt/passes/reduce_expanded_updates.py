"""The pass ``reduce-expanded-updates``: atomic updates through a view with repeated elements update what it repeats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IndexType, MemRefType, ModuleOp, i32
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.storage import wide
from kopt.dialects.atomic import COMMUTES, CasOp, RmwOp
from kopt.dialects.builder import Builder
from kopt.dialects.host import ExpandOp, ReshapeOp
from kopt.dialects.tile import (
    ELEMENTWISE,
    BroadcastOp,
    FullOp,
    RangeType,
    ReduceOp,
    SelectOp,
    TileType,
    element_of,
    is_float,
    is_gather,
    neutral,
    tile_type,
)
from kopt.dialects.tile.index_list import Entry, IndexedDim, block_axes
from kopt.ir.ranges import binding, unshifted
from kopt.passes.replacing import replacing
from kopt.walk import walk

_Update = RmwOp | CasOp


@dataclass(frozen=True)
class ReduceExpandedUpdatesPass(ModulePass):
    """Reduces before updating: lanes that meet in one element of a `host.expand` are combined, and update its source.

    Launches cannot write views whose elements share storage. Sums of floats below 32 bits are formed in f32. Updates
    that do not commute, or whose previous values are used, go to the source one by one, by numbers that are all 0.

        %w = host.expand %out : memref<1x40xf32> to memref<37x40xf32, …>
        atomic.rmw add %v, %w[%i, %j] : !tile.tile<b0=8 x b1=16 x f32>, memref<37x40xf32, …>
        %old = atomic.rmw xchg %u, %w[%i, %j] : !tile.tile<b0=8 x b1=16 x f32>, … -> …
    becomes
        %r = tile.reduce add %v [0] : !tile.tile<b0=8 x b1=16 x f32>
        atomic.rmw add %r, %out[0, %j] : !tile.tile<b1=16 x f32>, memref<1x40xf32>
        %zero = tile.full 0 : !tile.tile<b0=8 x i32>
        %old = atomic.rmw xchg %u, %out[%zero, %j] : !tile.tile<b0=8 x b1=16 x f32>, memref<1x40xf32> -> …

    It never refuses; where other dimensions stand between those that are repeated or indexed by numbers, and where
    lanes may lie outside the view, updates stay as they are.
    """

    name = "reduce-expanded-updates"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for update in [inner for inner in walk(op) if isinstance(inner, _Update)]:
            view = update.memory.owner
            if isinstance(view, ExpandOp):
                _rewrite(_Expanded(update, view))


class _Expanded:
    """An update through a view that repeats elements."""

    def __init__(self, update: _Update, view: ExpandOp):
        self.update = update
        self.view = view
        self.build = Builder(update)
        self.shape = view.result_type.get_shape()
        new = len(self.shape) - len(view.source_type.get_shape())
        #: The source's shape, with an extent of 1 for each new dimension.
        self.source_shape = [1] * new + list(view.source_type.get_shape())
        pairs = zip(self.source_shape, self.shape, strict=True)
        self.repeated = {n for n, (one, many) in enumerate(pairs) if one != many or n < new}

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The update's index list."""
        return self.update.entries

    @property
    def axes(self) -> tuple[IndexedDim, ...]:
        """The dimensions of the updated block."""
        return block_axes(self.entries, self.shape)

    @property
    def reduces(self) -> bool:
        """Whether lanes may be combined before they update."""
        update = self.update
        unused = all(result.first_use is None for result in update.results)
        return isinstance(update, RmwOp) and COMMUTES[update.kind.data] and unused and not self.gathers

    @property
    def gathers(self) -> bool:
        """Whether numbers index a repeated dimension."""
        return any(is_gather(self.entries[n]) for n in self.repeated)

    def source(self) -> SSAValue:
        """What the view repeats, with as many dimensions as the view."""
        if len(self.source_shape) == len(self.view.source_type.get_shape()):
            return self.view.source
        op = ReshapeOp(self.view.source, MemRefType(self.view.source_type.element_type, self.source_shape))
        op.location = self.view.location
        op.result.name_hint = self.view.source.name_hint
        Rewriter.insert_op(op, InsertPoint.before(self.view))
        return op.result


def _rewrite(found: _Expanded) -> None:
    if not all(_is_inside(found.entries[n], found.shape[n]) for n in found.repeated):
        return
    new = _combined_update(found) if found.reduces else _update_by_numbers(found)
    if new is None:
        return
    new.location = found.update.location
    Rewriter.replace_op(found.update, new, new.results)
    if found.view.result.first_use is None:
        Rewriter.erase_op(found.view)


def _is_inside(entry: Entry, extent: int) -> bool:
    """Whether an index names elements of the dimension only, or numbers, which are looked at one by one."""
    if not isinstance(entry, SSAValue) or entry.type == IndexType() or is_gather(entry):
        return True
    if not isinstance(entry.type, RangeType) or unshifted(entry) is not entry:
        return False
    upper = binding(entry).upper
    return isinstance(upper, int) and upper <= extent


def _combined_update(found: _Expanded) -> _Update:
    update = found.update
    assert isinstance(update, RmwOp)
    axes = [n for n, axis in enumerate(found.axes) if axis.position in found.repeated]
    entries = [0 if n in found.repeated else entry for n, entry in enumerate(found.entries)]
    value, mask = (_combined(found.build, update, axes), None) if axes else (update.value, update.mask)
    ordering, returns = update.ordering.data, bool(update.previous)
    return replacing(update, RmwOp(update.kind.data, value, found.source(), entries, mask, ordering, returns))


def _combined(build: Builder, update: RmwOp, axes: list[int]) -> SSAValue:
    """The lanes along some dimensions as one; those that a mask leaves out change nothing."""
    kind, value, element = update.kind.data, update.value, element_of(update.value)
    if is_float(element):
        value = build.cast(value, wide(element))
    if update.mask is not None:
        idle = build.add(FullOp(neutral(kind, element_of(value)), tile_type(value)))
        value = build.add(SelectOp(update.mask, value, idle))
    return build.cast(build.add(ReduceOp(kind, value, axes)), element)


def _update_by_numbers(found: _Expanded) -> _Update | None:
    """The update of the source by numbers that have a lane for each that meets there."""
    lanes = {axis.position for axis in found.axes}
    together = sorted(n for n in lanes if n in found.repeated or is_gather(found.entries[n]))
    if any(n in lanes and n not in together for n in range(*_span(together))):
        return None
    entries: list[Entry] = [0 if n in found.repeated else entry for n, entry in enumerate(found.entries)]
    if together:
        dims = [n for n, axis in enumerate(found.axes) if axis.position in together]
        for n, number in _numbers(found, dims).items():
            entries[n] = number
        if not any(map(is_gather, entries)):
            entries[together[0]] = found.build.add(FullOp(0, _index_type(found, dims)))
    return _remade(found.update, found.source(), entries)


def _span(positions: Sequence[int]) -> tuple[int, int]:
    return (positions[0], positions[-1] + 1) if positions else (0, 0)


def _numbers(found: _Expanded, dims: Sequence[int]) -> dict[int, SSAValue]:
    """The tiles of numbers in the index list, over all lanes of ``dims``; outside the source where outside the view."""
    numbers: dict[int, SSAValue] = {}
    own = [dims.index(n) for n, axis in enumerate(found.axes) if axis.gather_dim is not None]
    for position, entry in enumerate(found.entries):
        if not is_gather(entry):
            continue
        assert isinstance(entry, SSAValue)
        if position in found.repeated:
            extent = found.build.add(FullOp(found.shape[position], tile_type(entry)))
            entry = found.build.add(ELEMENTWISE["floordiv"](entry, extent))
        type = _index_type(found, dims).with_element(element_of(entry))
        numbers[position] = entry if tile_type(entry) == type else found.build.add(BroadcastOp(entry, own, type))
    return numbers


def _index_type(found: _Expanded, dims: Sequence[int]) -> TileType:
    return TileType([found.axes[n].dim for n in dims], i32)


def _remade(update: _Update, memory: SSAValue, entries: Sequence[Entry]) -> _Update:
    """The same update of other memory."""
    ordering = update.ordering.data
    if isinstance(update, CasOp):
        return replacing(update, CasOp(update.expected, update.desired, memory, entries, update.mask, ordering))
    kind, returns = update.kind.data, bool(update.previous)
    return replacing(update, RmwOp(kind, update.value, memory, entries, update.mask, ordering, returns))
