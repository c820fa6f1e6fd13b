"""Makes the ops that stand in for another."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType, i1
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from kopt.analysis.storage import wide
from kopt.dialects.tile import BroadcastOp, CastOp, DimAttr, ReshapeOp, element_of, tile_type
from kopt.dialects.tile.types import DimLike


def is_narrow(element: Attribute) -> bool:
    """Whether an element type is narrower than 32 bits, predicates included."""
    return wide(element) != element


def is_narrow_integer(element: Attribute) -> bool:
    """Whether an element type is an integer type of 8 or 16 bits."""
    return isinstance(element, IntegerType) and element != i1 and is_narrow(element)


class ValueBuilder:
    """Inserts ops in front of one that they replace, by the rewriter of the pattern that does so."""

    def __init__(self, op: Operation, rewriter: PatternRewriter | None = None):
        self.op = op
        self._rewriter = rewriter or PatternRewriter(op)
        self._at = InsertPoint.before(op)

    def add(self, op: Operation) -> SSAValue:
        """Inserts an op; gives its result."""
        op.location = self.op.location
        self._rewriter.insert(op, self._at)
        return op.results[0]

    def index(self, number: int) -> SSAValue:
        """A number that is known, of an element."""
        return self.add(arith.ConstantOp(IntegerAttr(number, IndexType())))

    def cast(self, value: SSAValue, element: Attribute) -> SSAValue:
        """A value in another element type."""
        return value if element_of(value) == element else self.add(CastOp(value, element))

    def widened(self, values: Iterable[SSAValue]) -> list[SSAValue]:
        """The values in the 32-bit types of theirs."""
        return [self.cast(value, wide(element_of(value))) for value in values]

    def reshape(self, value: SSAValue, dims: Iterable[DimLike]) -> SSAValue:
        """The same lanes under other dimensions; those whose tag the value does not have take it from a broadcast."""
        before, type = tile_type(value), tile_type(value).with_dims(dims)
        kept = [dim if dim.tag.data in before.tags else DimAttr(dim.size.data) for dim in type.dims.data]
        if before.dims.data != tuple(kept):
            value = self.add(ReshapeOp(value, before.with_dims(kept)))
        return value if value.type == type else self.add(BroadcastOp(value, range(type.rank), type))

    def replace(self, value: SSAValue) -> None:
        """Puts a value, in the old result's element type, in the op's place."""
        old = self.op.results[0]
        value = self.cast(value, element_of(old))
        value.name_hint = old.name_hint
        self._rewriter.replace_all_uses_with(old, value)
        self._rewriter.erase(self.op)
