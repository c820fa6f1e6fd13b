"""Combinations by a kernel's own function, in which lanes outside their range take no part.

Such a function has no neutral value, so every lane brings a number along that says whether it counts.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import i32
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import Rewriter

from kopt.analysis.validity import LaneValidity
from kopt.dialects.builder import Builder
from kopt.dialects.tile import (
    ELEMENTWISE,
    AssociativeOp,
    AssociativeScanOp,
    FullOp,
    MaskOp,
    SelectOp,
    TileType,
    YieldOp,
    function_of,
)
from kopt.ir.ranges import always_full, ranges_in_scope


def leave_out_undefined(op: AssociativeOp) -> None:
    """Leaves out the lanes outside the range of the op's dimension, and those made from such lanes.

    A scan from the first lane never sees the former, which are the last.
    """
    type, dim = op.tiles[0], op.dim.data
    limit = ranges_in_scope(op).get(type.tags[dim])
    sees = not isinstance(op, AssociativeScanOp) or op.reverse is not None
    if limit is not None and (not sees or always_full(limit)):
        limit = None
    validity = LaneValidity()
    hidden = [mask for value in op.inputs if (mask := validity.of(value)) is not None]
    leave_out(op, hidden, limit)


def leave_out(op: AssociativeOp, masks: Sequence[SSAValue], limit: SSAValue | None = None) -> None:
    """Leaves out the lanes where one of some predicates does not hold, and those outside ``limit`` of the dimension.

        %s = tile.associative_reduce %x dim 1 : T { ^bb0(%l, %r): … }
    becomes
        %s, %n = tile.associative_reduce %x, %counts dim 1 : T, !tile.tile<… x i32> {
        ^bb0(%l, %m, %r, %n):  // the function where both count, else the one that does
    """
    if limit is None and not masks:
        return
    type, build = op.tiles[0].with_element(i32), Builder(op)
    counts = build.add(FullOp(1, type))
    if limit is not None:
        limits = [limit if number == op.dim.data else None for number in range(type.rank)]
        counts = build.add(MaskOp(counts, limits, 0))
    for mask in masks:
        counts = build.add(SelectOp(mask, counts, build.add(FullOp(0, type))))
    new = op.with_inputs([*op.inputs, counts], Region(_function(op)))
    build.add(new)
    for result, made in zip(op.results, new.results, strict=False):
        result.replace_all_uses_with(made)
    Rewriter.erase_op(op)


def _function(op: AssociativeOp) -> Block:
    """The function on lanes that say whether they count."""
    block = function_of([*op.tiles, op.tiles[0].with_element(i32)])
    *left, left_counts = block.args[: len(op.inputs) + 1]
    *right, right_counts = block.args[len(op.inputs) + 1 :]
    values: dict[SSAValue, SSAValue] = dict(zip((*op.left, *op.right), (*left, *right), strict=True))
    for value, copy in values.items():
        copy.name_hint = value.name_hint
    for inner in op.body.block.ops:
        if not isinstance(inner, YieldOp):
            _append(block, inner.clone(values), op)
    zero = _append(block, FullOp(0, TileType([], i32)), op)
    first, second = (_append(block, ELEMENTWISE["ne"](value, zero), op) for value in (left_counts, right_counts))
    chosen: list[SSAValue] = []
    for made, before, after in zip(op.combined, left, right, strict=True):
        both = _append(block, SelectOp(first, values.get(made, made), after), op)
        chosen.append(_append(block, SelectOp(second, both, before), op))
    some = _append(block, ELEMENTWISE["or"](left_counts, right_counts), op)
    block.add_op(YieldOp(*chosen, some))
    return block


def _append(block: Block, made: Operation, op: AssociativeOp) -> SSAValue:
    made.location = op.location
    block.add_op(made)
    return made.results[0]
