"""The pass ``spread-strides``: slices with steps that Mosaic does not take read and write whole dimensions."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import FixedBitwidthType, MemRefType, ModuleOp, i32
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import (
    ALL,
    ELEMENTWISE,
    FullOp,
    LoadOp,
    SliceAttr,
    SliceOp,
    StoreOp,
    block_axes,
    is_gather,
)
from kopt.dialects.tile.index_list import Entry
from kopt.dialects.tile.memory import block_type
from kopt.ir.from_ssa import IndexAnalysis
from kopt.passes.accumulators.spread import Spread, indexes, picked
from kopt.passes.gathers.building import replace_load
from kopt.passes.mosaic.building import Builder, type_of
from kopt.walk import walk


@dataclass(frozen=True)
class SpreadStridesPass(ModulePass):
    """Rewrites loads and stores of every n-th lane, or of every n-th row of elements below 32 bits.

    A load takes the whole dimension and slices the value. A store puts each lane of its value at its place in the
    whole dimension, and writes the lanes that the slice names.

        tile.store %v, %x[0:32:2] : !tile.tile<16 x f32>, memref<32xf32>
    becomes
        %n = tile.arange 0 step 1 : !tile.tile<32 x i32>
        %w = … the lane %n / 2 of %v, for each lane …
        %m = … %n % 2 == 0 …
        tile.store %w, %x[:] mask %m : !tile.tile<32 x f32>, memref<32xf32>

    It never refuses. Atomic updates are spread where they accumulate, in ``materialize-accumulators``.
    """

    name = "spread-strides"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        analysis = IndexAnalysis()
        for launch in walk(op, LaunchOp):
            for access in walk(launch, LoadOp, StoreOp):
                spreads = _spreads(access, analysis)
                if spreads and isinstance(access, LoadOp):
                    _spread_load(access, spreads)
                elif spreads and isinstance(access, StoreOp):
                    _spread_store(access, spreads)


def _spreads(access: LoadOp | StoreOp, analysis: IndexAnalysis) -> list[Spread]:
    """The slices of an access that Mosaic does not take."""
    type = access.memory.type
    assert isinstance(type, MemRefType) and isinstance(type.element_type, FixedBitwidthType)
    gathers = any(map(is_gather, access.entries))
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
    axes = block_axes(access.entries, access.memory.type.get_shape())  # pyright: ignore[reportAttributeAccessIssue]
    spread = {axes[item.axis].position for item in spreads}
    return [ALL if position in spread else entry for position, entry in enumerate(access.entries)]


def _spread_load(load: LoadOp, spreads: list[Spread]) -> None:
    build = Builder(load)
    value = build.add(LoadOp(load.memory, _whole(load, spreads), pad=load.pad, attributes=load.attributes))
    shape = type_of(value).shape
    slices = {spread.axis: spread.entry for spread in spreads}
    bounds = [_bounds(slices.get(axis), extent) for axis, extent in enumerate(shape)]
    replace_load(load, build.add(SliceOp(value, *zip(*bounds, strict=True))))


def _bounds(entry: SSAValue | SliceAttr | None, extent: int) -> tuple[int, int, int]:
    """Offset, size and stride of what a slice takes of a dimension."""
    return (entry.start.data, entry.length, entry.step.data) if isinstance(entry, SliceAttr) else (0, extent, 1)


def _spread_store(store: StoreOp, spreads: list[Spread]) -> None:
    build, entries = Builder(store), _whole(store, spreads)
    type = block_type(store.memory.type, entries)
    kept = [spread.holds(build, type) for spread in spreads]
    if store.mask is not None:
        lanes = _spread(build, build.cast(store.mask, i32), spreads)
        kept.append(build.add(ELEMENTWISE["ne"](lanes, build.add(FullOp(0, type_of(lanes))))))
    mask = kept[0]
    for other in kept[1:]:
        mask = build.add(ELEMENTWISE["and"](mask, other))
    mask.name_hint = "kept"
    value = _spread(build, store.value, spreads)
    value.name_hint = store.value.name_hint
    new = StoreOp(value, store.memory, entries, mask, store.attributes)
    new.location = store.location
    Rewriter.replace_op(store, new)


def _spread(build: Builder, value: SSAValue, spreads: list[Spread]) -> SSAValue:
    """A value whose lanes stand where the slices put them; undefined elsewhere."""
    for spread in spreads:
        dims = list(type_of(value).dims.data)
        dims[spread.axis : spread.axis + 1] = type_of(spread.sources(build)).dims.data
        if isinstance(full := value.owner, FullOp):
            value = build.add(FullOp(full.value, type_of(value).with_dims(dims)))
        else:
            value = picked(build, value, spread.sources(build), spread.axis)
    return value
