"""The pass ``lower-jagged``: loops over items' own extents become loops to the longest, with masks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IndexType, IntegerType, ModuleOp, i32
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from kopt.analysis.combining import combined_lanes
from kopt.analysis.jagged import ItemPadding
from kopt.analysis.padding import Number
from kopt.dialects.builder import Builder
from kopt.dialects.jagged import ForOp, RowsOp, ValidOp
from kopt.dialects.tile import (
    ELEMENTWISE,
    Access,
    AssociativeOp,
    BroadcastOp,
    CastOp,
    ExtractOp,
    IndexOp,
    MaskOp,
    ReduceOp,
    SelectOp,
    TileType,
    tile_type,
)
from kopt.passes.combination_masks import leave_out
from kopt.passes.jagged.items import ItemValidity
from kopt.passes.jagged.walking import walk_to
from kopt.walk import walk


@dataclass(frozen=True)
class LowerJaggedPass(ModulePass):
    """Lowers jagged loops: each `jagged.for` becomes a `tile.for` to the longest length, with masks for shorter items.

    Loads, stores and atomic updates of blocks with the items' dimensions and the loop's get the items' lanes as a
    mask. Where lanes are combined, those that an item does not have take the neutral value of that use, unless they
    hold it already: 0 by the load, for a sum.

        %s = jagged.for %k: b1=16 in %lengths iter(%a = %z) -> (!tile.tile<b0=8 x f32>) {
          %v = tile.load %x[%i, %k] : memref<100x64xf32> -> !tile.tile<b0=8 x b1=16 x f32>
          %m = tile.reduce max %v [1] : !tile.tile<b0=8 x b1=16 x f32>
    becomes
        %longest = tile.reduce max %lengths [0] …   %end = tile.extract %longest …
        %s = tile.for %k: b1=16 in (0, %end) iter(%a = %z) -> (!tile.tile<b0=8 x f32>) {
          %has = tile.lt …   %v = tile.load %x[%i, %k] mask %has …
          %w = tile.select %has, %v, %lowest …   %m = tile.reduce max %w [1] …

    It never refuses.
    """

    name = "lower-jagged"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        loops = walk(op, ForOp)
        ends = {loop: _end(loop) for loop in loops}
        for user in dict.fromkeys(inner for loop in loops for inner in walk(loop.body)):
            if user.parent is not None:
                _mask_user(user)
        for lanes in walk(op, ValidOp, RowsOp):
            _spell_out(lanes)
        for loop in loops:
            walk_to(loop, ends[loop])


def _end(loop: ForOp) -> SSAValue:
    """The longest length, in front of the loop."""
    lengths = _counted(loop.lengths, loop)
    longest = Builder(loop).add(ReduceOp("max", lengths, range(loop.lengths_type.rank)))
    return Builder(loop).add(ExtractOp(longest, IndexType()), f"{loop.range.name_hint or 'longest'}_end")


def _counted(lengths: SSAValue, user: Operation) -> SSAValue:
    """Lengths in at least the 32 bits that the lanes' numbers have."""
    element = tile_type(lengths).element_type
    wide = isinstance(element, IntegerType) and element.width.data >= 32
    return lengths if wide else Builder(user).add(CastOp(lengths, i32))


def _mask_user(user: Operation) -> None:
    items = ItemValidity(user)
    for number, dims, fill in combined_lanes(user):
        user.operands[number] = _filled(user, items, user.operands[number], dims, fill)
    if isinstance(user, AssociativeOp):
        _leave_out(user, items)
    if isinstance(user, MaskOp):
        masked = [n for n, limit in enumerate(user.limits) if limit is not None]
        user.operands[0] = _filled(user, items, user.input, masked, user.fill_number, ends_only=True)
    if isinstance(user, Access):
        _mask_access(user, items)


def _leave_out(user: AssociativeOp, items: ItemValidity) -> None:
    """A combination by a kernel's own function: lanes that items do not have take no part."""
    type = user.tiles[0]
    own = [items.lanes(type, loop) for loop in items.loops if user.dim.data in (loop.dims_of(type) or ())]
    masks = [*(items.of(value) for value in user.inputs), *own]
    leave_out(user, [mask for mask in masks if mask is not None])


def _filled(
    user: Operation, items: ItemValidity, value: SSAValue, dims: Sequence[int], fill: Number, ends_only: bool = False
) -> SSAValue:
    """The value with ``fill`` in the lanes that items do not have, of loops that have some of ``dims``.

    With ``ends_only`` the items' own dimensions do not count.
    """
    type = tile_type(value)
    masks = [items.of(value)]
    for loop in items.loops:
        places = loop.dims_of(type) or ()
        concerned = places[-1:] if ends_only else places
        if not set(concerned).isdisjoint(dims) and ItemPadding(loop, loads_masked=True).of(value) != fill:
            masks.append(items.lanes(type, loop))
    valid = items.both(masks)
    if valid is None:
        return value
    build = Builder(user)
    return build.add(SelectOp(valid, value, build.full(fill, value)), value.name_hint)


def _mask_access(access: Access, items: ItemValidity) -> None:
    """Keeps an access to the lanes that items have."""
    type = _block(access)
    hidden = [items.of(value) for value in access.operands if isinstance(value.type, TileType)]
    fitting = [mask for mask in hidden if mask is not None and tile_type(mask).dims == type.dims]
    mask = items.both([*items.all_lanes(type), *fitting])
    if mask is None:
        return
    if access.mask is not None:
        mask = items.both([mask, access.mask])
    assert mask is not None
    with_mask = access.masked(mask)
    with_mask.location = access.location
    for before, after in zip(access.results, with_mask.results, strict=True):
        after.name_hint = before.name_hint
    Rewriter.replace_op(access, with_mask)


def _block(access: Access) -> TileType:
    """The type of the block that an access addresses."""
    value = access.results[0] if access.results else access.operands[0]
    return tile_type(value)


def _spell_out(op: ValidOp | RowsOp) -> None:
    """``index < length`` or ``start + index``."""
    valid = isinstance(op, ValidOp)
    numbers = _counted(op.lengths, op) if valid else op.starts
    type = op.result_type.with_element(tile_type(numbers).element_type)
    build, last = Builder(op), type.rank - 1
    lanes = build.add(CastOp(build.add(IndexOp(op.range)), type.element_type))
    lanes = build.add(BroadcastOp(lanes, [last], type))
    numbers = build.add(BroadcastOp(numbers, list(range(last)), type))
    combined = ELEMENTWISE["lt"](lanes, numbers) if valid else ELEMENTWISE["add"](numbers, lanes)
    combined.location = op.location
    combined.results[0].name_hint = op.result.name_hint or ("has" if valid else "rows")
    Rewriter.replace_op(op, combined)
