"""Loops to the longest item, with masks, as jagged loops."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from kopt.analysis.combining import combined_operands
from kopt.analysis.jagged import ItemPadding, Items
from kopt.diagnostics import remark
from kopt.dialects.jagged import ForOp as JaggedForOp
from kopt.dialects.tile import (
    Access,
    AssociativeOp,
    BroadcastOp,
    CastOp,
    ConcatOp,
    ExtractOp,
    ForOp,
    LoadOp,
    MaskOp,
    ReduceOp,
    ReshapeOp,
    ScanOp,
    SliceOp,
    TakeAlongOp,
    TileType,
    neutral,
    tile_type,
)
from kopt.walk import walk

#: Ops after which a lane's item is no longer told by the tags that are left.
_REARRANGES = (ReshapeOp, ConcatOp, SliceOp, TakeAlongOp, MaskOp, BroadcastOp)


def raise_loop(loop: ForOp) -> None:
    """Makes a loop from 0 to the largest of some lengths jagged, where the lanes beyond an item's length are unused."""
    lengths = _lengths(loop)
    if lengths is None:
        return
    items = Items(loop.range, lengths)
    reason = next((why for op in walk(loop.body) if (why := _uses(op, items)) is not None), None)
    if reason is not None:
        remark(loop, f"the loop to the longest item is not raised to a jagged one: {reason}")
        return
    jagged = JaggedForOp(lengths, loop.inits, loop.detach_region(loop.body), loop.attributes)
    jagged.location = loop.location
    for before, after in zip(loop.results, jagged.results, strict=True):
        after.name_hint = before.name_hint
    Rewriter.replace_op(loop, jagged)


def _lengths(loop: ForOp) -> SSAValue | None:
    """The tile whose largest number a loop from 0 goes to."""
    lower, upper = loop.bounds
    if lower != 0 or not isinstance(upper, SSAValue) or not isinstance(upper.owner, ExtractOp):
        return None
    value = _uncast(upper.owner.input)
    op = value.owner
    if not isinstance(op, ReduceOp) or op.kind.data != "max":
        return None
    lengths = _uncast(op.input)
    type = tile_type(lengths)
    whole = len(op.dimensions) == type.rank > 0 and "" not in type.tags
    return lengths if whole else None


def _uncast(value: SSAValue) -> SSAValue:
    return value.owner.input if isinstance(value.owner, CastOp) else value


def _uses(op: Operation, items: Items) -> str | None:
    """How an op depends on lanes that items do not have, in words, if it does."""
    padding = ItemPadding(items, loads_masked=False)
    for number, dims, fill in _combined(op):
        value = op.operands[number]
        places = items.dims_of(tile_type(value))
        if places is not None and not set(places).isdisjoint(dims) and padding.of(value) != fill:
            return f"'{op.name}' combines lanes that no mask leaves out"
    if isinstance(op, AssociativeOp) and op.dim.data in (items.dims_of(op.tiles[0]) or ()):
        return f"'{op.name}' combines lanes that no mask leaves out"
    if isinstance(op, Access) and not isinstance(op, LoadOp):
        block = tile_type(op.operands[0])
        if items.dims_of(block) is not None and (op.mask is None or not padding.never(op.mask)):
            return f"'{op.name}' writes lanes that no mask leaves out"
    if isinstance(op, _REARRANGES):
        before = [items.dims_of(tile_type(value)) for value in op.operands if isinstance(value.type, TileType)]
        if any(before) and items.dims_of(tile_type(op.results[0])) is None:
            return f"'{op.name}' rearranges lanes of items"
    return None


def _combined(op: Operation) -> list[tuple[int, tuple[int, ...], float | int]]:
    if isinstance(op, ScanOp):
        return [(0, (op.dim.data,), neutral(op.kind.data, tile_type(op.input).element_type))]
    return combined_operands(op)
