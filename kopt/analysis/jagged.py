"""What is known of jagged loops: which are in scope, which lanes of a value they limit, what the other lanes hold."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from kopt.analysis.padding import Number, Padding
from kopt.dialects.jagged import ForOp, ValidOp
from kopt.dialects.tile import ELEMENTWISE, BroadcastOp, LoadOp, MaskOp, ReshapeOp, TileType, literal_value


def loops_around(op: Operation) -> dict[str, ForOp]:
    """The jagged loops that an operation is in, by tag."""
    found: dict[str, ForOp] = {}
    parent = op.parent_op()
    while parent is not None:
        if isinstance(parent, ForOp):
            found[parent.tag] = parent
        parent = parent.parent_op()
    return found


def dims_of(loop: ForOp, type: TileType) -> tuple[int, ...] | None:
    """Where a type has the dimensions of a loop's items and of its range, in this order; None where one is missing."""
    tags = (*loop.lengths_type.tags, loop.tag)
    return tuple(type.tags.index(tag) for tag in tags) if set(tags) <= set(type.tags) else None


class ItemPadding(Padding):
    """What the lanes hold that the items of a jagged loop do not have, where loads give these lanes their ``other``."""

    def __init__(self, loop: ForOp):
        super().__init__({*loop.lengths_type.tags, loop.tag})
        self.loop = loop

    def _load(self, op: LoadOp) -> Number | None:
        return literal_value(op.other) if op.other is not None else 0

    def _mask(self, op: MaskOp) -> Number | None:
        if self.loop.range in op.ranges:
            return op.fill_number
        inner = self.of(op.input)
        return inner if inner == op.fill_number else None

    def _never(self, condition: SSAValue) -> bool:
        op = condition.owner
        if isinstance(op, ValidOp):
            return op.range is self.loop.range and op.lengths is self.loop.lengths
        if isinstance(op, BroadcastOp | ReshapeOp):
            return self.tags <= set(op.input_type.tags) and self._never(op.input)
        return isinstance(op, ELEMENTWISE["and"]) and any(map(self._never, op.operands))
