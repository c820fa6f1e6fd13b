"""Accesses by slices with a step that Mosaic does not take: they read and write whole dimensions."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import FixedBitwidthType, i32
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from kopt.dialects.builder import Builder
from kopt.dialects.tile import (
    ALL,
    ELEMENTWISE,
    FullOp,
    LoadOp,
    SliceAttr,
    SliceOp,
    StoreOp,
    array_type,
    block_axes,
    tile_type,
)
from kopt.dialects.tile.index_list import Entry
from kopt.dialects.tile.memory import block_type
from kopt.ir.from_ssa import IndexAnalysis
from kopt.passes.access_building import replace_load
from kopt.passes.accumulators.spread import Spread, indexes


@dataclass(frozen=True)
class SpreadLoad(RewritePattern):
    """A load of every n-th lane → a load of the whole dimension and a slice of the value."""

    analysis: IndexAnalysis

    @op_type_rewrite_pattern
    def match_and_rewrite(self, load: LoadOp, rewriter: PatternRewriter, /) -> None:
        if not (spreads := _spreads(load, self.analysis)):
            return
        build = Builder(load, rewriter=rewriter)
        value = build.add(LoadOp(load.memory, _whole(load, spreads), pad=load.pad, attributes=load.attributes))
        shape = tile_type(value).shape
        slices = {spread.axis: spread.entry for spread in spreads}
        bounds = [_bounds(slices.get(axis), extent) for axis, extent in enumerate(shape)]
        replace_load(load, build.add(SliceOp(value, *zip(*bounds, strict=True))))


@dataclass(frozen=True)
class SpreadStore(RewritePattern):
    """A store to every n-th lane → one of the whole dimension, with the lanes in place and a mask of those."""

    analysis: IndexAnalysis

    @op_type_rewrite_pattern
    def match_and_rewrite(self, store: StoreOp, rewriter: PatternRewriter, /) -> None:
        if not (spreads := _spreads(store, self.analysis)):
            return
        build, entries = Builder(store, rewriter=rewriter), _whole(store, spreads)
        type = block_type(store.memory.type, entries)
        kept = [spread.holds(build, type) for spread in spreads]
        if store.mask is not None:
            lanes = _spread(build, build.cast(store.mask, i32), spreads)
            kept.append(build.add(ELEMENTWISE["ne"](lanes, build.add(FullOp(0, tile_type(lanes))))))
        mask = kept[0]
        for other in kept[1:]:
            mask = build.add(ELEMENTWISE["and"](mask, other))
        mask.name_hint = "kept"
        value = _spread(build, store.value, spreads)
        value.name_hint = store.value.name_hint
        new = StoreOp(value, store.memory, entries, mask, store.attributes)
        new.location = store.location
        rewriter.replace(store, new)


def _spreads(access: LoadOp | StoreOp, analysis: IndexAnalysis) -> list[Spread]:
    """The slices of an access that Mosaic does not take."""
    type = array_type(access.memory)
    assert isinstance(type.element_type, FixedBitwidthType)
    gathers = access.gathers
    axes = block_axes(access.entries, type.get_shape())
    found = []
    for number, axis in enumerate(axes):
        entry, place = access.entries[axis.position], number - len(axes)
        if isinstance(entry, SliceAttr) and entry.step.data > 1:
            narrow = type.element_type.bitwidth < 32 and place == -2
            if gathers or narrow or not indexes(entry, place, analysis):
                found.append(Spread(entry, number, type.get_shape()[axis.position]))
    return found


def _whole(access: LoadOp | StoreOp, spreads: list[Spread]) -> list[Entry]:
    """The index list with the spread slices' dimensions whole."""
    axes = block_axes(access.entries, array_type(access.memory).get_shape())
    spread = {axes[item.axis].position for item in spreads}
    return [ALL if position in spread else entry for position, entry in enumerate(access.entries)]


def _bounds(entry: SSAValue | SliceAttr | None, extent: int) -> tuple[int, int, int]:
    """Offset, size and stride of what a slice takes of a dimension."""
    return (entry.start.data, entry.length, entry.step.data) if isinstance(entry, SliceAttr) else (0, extent, 1)


def _spread(build: Builder, value: SSAValue, spreads: list[Spread]) -> SSAValue:
    """A value whose lanes stand where the slices put them; undefined elsewhere."""
    for spread in spreads:
        dims = list(tile_type(value).dims.data)
        dims[spread.axis : spread.axis + 1] = tile_type(spread.sources(build)).dims.data
        if isinstance(full := value.owner, FullOp):
            value = build.add(FullOp(full.value, tile_type(value).with_dims(dims)))
        else:
            value = spread.gathered(build, value)
    return value
