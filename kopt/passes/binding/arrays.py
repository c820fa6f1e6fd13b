"""Host arrays in the layout that a kernel takes, and back: pads, reshapes and transpositions around a call."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, IntegerAttr, MemRefType, UnitAttr, i64
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.layouts import Layout
from kopt.dialects.host import CallOp, PermuteOp, ReshapeOp, SliceOp
from kopt.dialects.tile import array_type, literal
from kopt.open_extents import blocks, is_open


def physical_type(type: MemRefType, layout: Layout) -> MemRefType:
    """The type of an array in a layout."""
    return type if layout.plain else MemRefType(type.element_type, layout.shape)


def to_physical(value: SSAValue, layout: Layout, before: Operation) -> SSAValue:
    """Puts an array into a layout: pad, split dimensions, order them, add units.

    memref<1000xf32> -> pad to 1024 -> memref<16x64xf32> -> memref<16x1x64xf32>
    """
    if layout.plain:
        return value
    type = array_type(value)
    steps = _Steps(value, InsertPoint.before(before), before)
    if layout.padded != type.get_shape():
        steps.pad(layout.padded, layout.front or (0,) * len(layout.padded))
    if not _in_order(layout):
        steps.reshape(_split_shape(layout))
        steps.permute(_order(layout))
    steps.reshape(layout.shape)
    return steps.value


def from_physical(value: SSAValue, layout: Layout, logical: MemRefType, after: Operation) -> SSAValue:
    """The inverse of `to_physical`, after the op that gives ``value``."""
    if layout.plain:
        return value
    assert after.next_op is not None
    steps = _Steps(value, InsertPoint.before(after.next_op), after)
    order, split = _order(layout), _split_shape(layout)
    if not _in_order(layout):
        steps.reshape([split[number] for number in order])
        steps.permute(sorted(range(len(order)), key=order.__getitem__))
    steps.reshape(layout.padded)
    if layout.padded != logical.get_shape():
        steps.crop(logical.get_shape())
    return steps.value


class _Steps:
    """Host ops on one array, one after another; those that change nothing are left out."""

    def __init__(self, value: SSAValue, at: InsertPoint, source: Operation):
        self.value = value
        self._at = at
        self._source = source

    def _apply(self, op: Operation) -> None:
        op.location = self._source.location
        op.results[0].name_hint = self.value.name_hint
        Rewriter.insert_op(op, self._at)
        self.value = op.results[0]

    def _like(self, shape: Sequence[int]) -> MemRefType:
        return MemRefType(array_type(self.value).element_type, shape)

    def reshape(self, shape: Sequence[int]) -> None:
        if tuple(shape) != array_type(self.value).get_shape():
            self._apply(ReshapeOp(self.value, self._like(shape)))

    def permute(self, order: Sequence[int]) -> None:
        shape = array_type(self.value).get_shape()
        if list(order) != list(range(len(shape))):
            self._apply(PermuteOp(self.value, order, self._like([shape[number] for number in order])))

    def pad(self, shape: Sequence[int], front: Sequence[int]) -> None:
        type = array_type(self.value)
        ends = zip(type.get_shape(), shape, front, strict=True)
        pads = [pad for n, m, f in ends for pad in (missing(n, m, f), f)]
        numbers = ArrayAttr([IntegerAttr(number, i64) for number in reversed(pads)])
        zero = literal(0, type.element_type)
        self._apply(
            CallOp("aten.constant_pad_nd.default", [self.value], [UnitAttr(), numbers, zero], [self._like(shape)])
        )

    def crop(self, shape: Sequence[int]) -> None:
        rank = len(shape)
        sizes = [DYNAMIC_INDEX if is_open(extent) else extent for extent in shape]
        self._apply(SliceOp(self.value, [0] * rank, sizes, [1] * rank, self._like(shape)))


def missing(before: int, after: int, front: int = 0) -> int:
    """How many elements are added behind an extent to make another one: `DYNAMIC_INDEX` where calls differ."""
    return DYNAMIC_INDEX if is_open(before) and before != after else 0 if before == after else after - before - front


def _split_shape(layout: Layout) -> list[int]:
    """The padded shape with each split dimension as two."""
    shape: list[int] = []
    for padded, split in zip(layout.padded, layout.splits, strict=True):
        shape += [blocks(padded, split), split] if split else [padded]
    return shape


def _in_order(layout: Layout) -> bool:
    order = _order(layout)
    return order == sorted(order)


def _order(layout: Layout) -> list[int]:
    """For each physical part, but units, its position in the split shape."""
    positions: dict[tuple[str, int], int] = {}
    for dim, split in enumerate(layout.splits):
        for kind in ("outer", "inner") if split else ("all",):
            positions[kind, dim] = len(positions)
    return [positions[part.kind, part.dim] for part in layout.parts if part.kind != "unit"]
