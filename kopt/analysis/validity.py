"""Lanes whose validity the type no longer tells: made by reshape, concat, slice or gather from tagged dimensions.

``ValidityBuilder(at).of(value)`` is an i1 tile of the value's dimensions that holds on the lanes made from valid
lanes only, built from `tile.valid` by replaying the rearrangements; or None where tags tell everything.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import i1
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.ranges import always_full, ranges_in_scope
from kopt.dialects.tile import (
    ELEMENTWISE,
    BitcastOp,
    BroadcastOp,
    CastOp,
    ConcatOp,
    ElementwiseOp,
    FullOp,
    LoadOp,
    MaskOp,
    PhiloxOp,
    ReshapeOp,
    SelectOp,
    SliceOp,
    TileType,
    TransposeOp,
    ValidOp,
)


class ValidityBuilder:
    """Builds validity tiles at one place; each value's once."""

    def __init__(self, at: InsertPoint):
        self._at = at
        self._known: dict[SSAValue, SSAValue | None] = {}

    def of(self, value: SSAValue) -> SSAValue | None:
        """The validity that the type of ``value`` does not tell, or None."""
        if value not in self._known:
            self._known[value] = self._build(value)
        return self._known[value]

    def _build(self, value: SSAValue) -> SSAValue | None:
        op = value.owner
        if isinstance(op, ReshapeOp):
            return self._reshape(op)
        if isinstance(op, ConcatOp):
            return self._concat(op)
        if isinstance(op, BroadcastOp | TransposeOp | SliceOp):
            return self._replay(op)
        if isinstance(op, ElementwiseOp | SelectOp | CastOp | BitcastOp):
            return self._all([self.of(operand) for operand in op.operands])
        if isinstance(op, PhiloxOp):
            return self.of(op.offset)
        if isinstance(op, MaskOp) and op.result.type == op.input.type:
            return self.of(op.input)
        if isinstance(op, LoadOp):
            gathers = [self.of(entry) for entry in op.indices if isinstance(entry.type, TileType)]
            fits = [mask for mask in gathers if mask is not None and _dims(mask) == _dims(op.result)]
            return self._all(fits)
        return None

    def _reshape(self, op: ReshapeOp) -> SSAValue | None:
        lost = [tag for tag in op.input_type.tags if tag and tag not in op.result_type.tags]
        valid = self._all([self.of(op.input), *self._tagged(op, lost)])
        if valid is None:
            return None
        return self._insert(ReshapeOp(valid, op.result_type.with_element(i1)))

    def _concat(self, op: ConcatOp) -> SSAValue | None:
        dim = op.dim.data
        parts = [self._concat_part(op, value, dim) for value in op.inputs]
        if all(part is None for part in parts):
            return None
        filled = [self._true(value) if part is None else part for part, value in zip(parts, op.inputs, strict=True)]
        return self._insert(ConcatOp(filled, dim))

    def _concat_part(self, op: ConcatOp, value: SSAValue, dim: int) -> SSAValue | None:
        assert isinstance(value.type, TileType)
        tag = value.type.tags[dim]
        tagged = self._tagged_type(op, value.type, [tag] if tag else [])
        return self._all([self.of(value), *tagged])

    def _replay(self, op: BroadcastOp | TransposeOp | SliceOp) -> SSAValue | None:
        valid = self.of(op.input)
        if valid is None:
            return None
        if isinstance(op, BroadcastOp):
            return self._insert(BroadcastOp(valid, op.mapping, op.result_type.with_element(i1)))
        if isinstance(op, TransposeOp):
            return self._insert(TransposeOp(valid, op.order))
        lists = ([bound[n] for bound in op.bounds] for n in range(3))
        return self._insert(SliceOp(valid, *lists))

    def _tagged(self, op: ReshapeOp, tags: list[str]) -> list[SSAValue | None]:
        return self._tagged_type(op, op.input_type, tags)

    def _tagged_type(self, op: Operation, type: TileType, tags: list[str]) -> list[SSAValue | None]:
        """For each tag whose range may be ragged: its validity over all of the type's dimensions."""
        scope = ranges_in_scope(op)
        masks: list[SSAValue | None] = []
        for tag in tags:
            range = scope.get(tag)
            if range is not None and not always_full(range):
                lanes = self._insert(ValidOp(range))
                masks.append(self._insert(BroadcastOp(lanes, [type.tags.index(tag)], type.with_element(i1))))
        return masks

    def _all(self, masks: Sequence[SSAValue | None]) -> SSAValue | None:
        found = [mask for mask in masks if mask is not None]
        if not found:
            return None
        result = found[0]
        for mask in found[1:]:
            result = self._insert(ELEMENTWISE["and"](result, mask))
        return result

    def _true(self, value: SSAValue) -> SSAValue:
        assert isinstance(value.type, TileType)
        return self._insert(FullOp(1, value.type.with_element(i1)))

    def _insert(self, op: Operation) -> SSAValue:
        Rewriter.insert_op(op, self._at)
        return op.results[0]


def _dims(value: SSAValue):
    assert isinstance(value.type, TileType)
    return value.type.dims
