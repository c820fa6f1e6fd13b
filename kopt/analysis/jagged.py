"""What is known of jagged loops: which are in scope, which lanes of a value they limit, what the other lanes hold."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from kopt.analysis.padding import Number, Padding
from kopt.dialects.jagged import ForOp, ValidOp
from kopt.dialects.tile import (
    ELEMENTWISE,
    BroadcastOp,
    LoadOp,
    MaskOp,
    ReshapeOp,
    TileType,
    TransposeOp,
    literal_value,
    range_type,
    tile_type,
)
from kopt.ir.forms import is_number
from kopt.ir.rewriting import moved
from kopt.ir.sums import SumAnalysis


@dataclass(frozen=True)
class Items:
    """Lanes of ``range`` that items have: those below their ``lengths``."""

    range: SSAValue
    lengths: SSAValue

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags of the items' dimensions, and the range's."""
        lengths, range = tile_type(self.lengths), range_type(self.range)
        return (*lengths.tags, range.tag)

    def dims_of(self, type: TileType) -> tuple[int, ...] | None:
        """Where a type has the items' dimensions and the range's, in this order; None where one is missing."""
        return tuple(map(type.tags.index, self.tags)) if set(self.tags) <= set(type.tags) else None

    def imply(self, condition: SSAValue, sums: SumAnalysis) -> bool:
        """Whether a condition is that lanes are the items'."""
        op = condition.owner
        if isinstance(op, ValidOp):
            return op.range is self.range and op.lengths is self.lengths
        type = condition.type
        if not isinstance(op, ELEMENTWISE["lt"] | ELEMENTWISE["gt"]) or not isinstance(type, TileType):
            return False
        places = self.dims_of(type)
        if places is None:
            return False
        low, high = op.operands if isinstance(op, ELEMENTWISE["lt"]) else reversed(op.operands)
        if not is_number(low.type):
            return False
        lengths = moved(dict(enumerate(places))).expr(sums.expr(self.lengths))
        return sums.expr(low) - sums.expr(high) == sums.lanes(self.range, places[-1]) - lengths


def loops_around(op: Operation) -> dict[Items, ForOp]:
    """The jagged loops that an operation is in, innermost first."""
    found: dict[Items, ForOp] = {}
    parent = op.parent_op()
    while parent is not None:
        if isinstance(parent, ForOp):
            found[Items(parent.range, parent.lengths)] = parent
        parent = parent.parent_op()
    return found


class ItemPadding(Padding):
    """What the lanes hold that items do not have. ``loads_masked``: loads give those lanes their ``other``."""

    beside_others = False

    def __init__(self, items: Items, loads_masked: bool):
        super().__init__(set(items.tags))
        self.items = items
        self.loads_masked = loads_masked
        self.sums = SumAnalysis()

    def _load(self, op: LoadOp) -> Number | None:
        if not self.loads_masked and (op.mask is None or not self.never(op.mask)):
            return None
        return literal_value(op.other) if op.other is not None else 0

    def _mask(self, op: MaskOp) -> Number | None:
        if self.items.range in op.ranges and self.loads_masked:
            return op.fill_number
        inner = self.of(op.input)
        return inner if inner == op.fill_number else None

    def never(self, condition: SSAValue) -> bool:
        """Whether a condition holds in none of those lanes."""
        op = condition.owner
        if isinstance(op, BroadcastOp | ReshapeOp | TransposeOp):
            return self.never(op.input)
        if isinstance(op, ELEMENTWISE["and"]):
            return any(map(self.never, op.operands))
        return self.items.imply(condition, self.sums)
