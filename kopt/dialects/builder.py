"""Makes operations at one place: what all rewrites share, and frontends (`kopt.build`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr, LocationAttr, i32
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.dialects.tile import (
    ELEMENTWISE,
    ArangeOp,
    BroadcastOp,
    CastOp,
    DimAttr,
    FullOp,
    MaskOp,
    ReshapeOp,
    SelectOp,
    SliceOp,
    TileType,
    TransposeOp,
    element_of,
    tile_type,
)
from kopt.dialects.tile.types import DimLike

_Op = TypeVar("_Op", bound=Operation)


def as_hint(name: str | None) -> str | None:
    """A name as values may have it, which are printed in ASCII; None for others."""
    return name if SSAValue.is_valid_name(name) else None


def named(value: SSAValue, hint: str) -> SSAValue:
    """The value, called so where it is printed."""
    value.name_hint = as_hint(hint)
    return value


class Builder:
    """Inserts operations at one place, each with the location of what it is made for, as MLIR's ``OpBuilder`` does.

    Args: ``at`` the place, or the operation in front of which it is; ``source`` the operation whose location it gives,
    that one if left out, or a location; ``rewriter`` the one of a pattern, which must know what is inserted.
    """

    def __init__(
        self,
        at: Operation | InsertPoint,
        source: Operation | LocationAttr | None = None,
        rewriter: PatternRewriter | None = None,
    ):
        self.at = InsertPoint.before(at) if isinstance(at, Operation) else at
        source = self.op if source is None else source
        self._location = source.location if isinstance(source, Operation) else source
        self._rewriter = rewriter

    @classmethod
    def after(cls, value: SSAValue, source: Operation | None = None) -> Builder:
        """A builder behind what defines a value; it gives that op's location, or that of ``source``."""
        owner = value.owner
        if isinstance(owner, Operation):
            return cls(InsertPoint.after(owner), source or owner)
        return cls(InsertPoint.at_start(owner), source or owner.parent_op())

    @property
    def location(self) -> LocationAttr:
        """Where what it inserts comes from."""
        return self._location

    @property
    def op(self) -> Operation:
        """The operation in front of which others are inserted."""
        assert self.at.insert_before is not None
        return self.at.insert_before

    def into(self, block: Block) -> Builder:
        """A builder at the end of a block, in front of its terminator."""
        assert block.last_op is not None
        return Builder(block.last_op, self.location)

    def insert(self, op: _Op, at: InsertPoint | None = None) -> _Op:
        """Inserts an operation, here or at another place."""
        op.location = self.location
        (Rewriter.insert_op if self._rewriter is None else self._rewriter.insert)(op, at or self.at)
        return op

    def add(self, op: Operation, hint: str | None = None) -> SSAValue:
        """Inserts an operation; gives its first result, with a name hint where it has none."""
        result = self.insert(op).results[0]
        result.name_hint = result.name_hint or hint
        return result

    def replace(self, value: SSAValue) -> None:
        """Puts a value, in the old result's element type and with its name, in the place of the operation in front."""
        rewriter = self._rewriter or PatternRewriter(self.op)
        old = self.op.results[0]
        value = self.cast(value, element_of(old))
        value.name_hint = old.name_hint
        rewriter.replace_all_uses_with(old, value)
        rewriter.erase(self.op)

    # Numbers.

    def index(self, number: int | SSAValue) -> SSAValue:
        """A number as an ``index``; a value is one."""
        if isinstance(number, SSAValue):
            return number
        return self.add(arith.ConstantOp(IntegerAttr(number, IndexType())))

    # Lane by lane.

    def compute(self, name: str, *values: SSAValue) -> SSAValue:
        """An elementwise operation."""
        return self.add(ELEMENTWISE[name](*values))

    def full(self, number: float | int, like: SSAValue, element: Attribute | None = None) -> SSAValue:
        """One number in the shape of a value."""
        type = tile_type(like)
        return self.add(FullOp(number, type.with_element(element) if element else type))

    def with_number(self, name: str, value: SSAValue, number: float | int) -> SSAValue:
        """An elementwise operation of a value and a number."""
        return self.compute(name, value, self.full(number, value))

    def cast(self, value: SSAValue, element: Attribute) -> SSAValue:
        """A value in another element type."""
        return value if element_of(value) == element else self.add(CastOp(value, element))

    def select(self, condition: SSAValue, value: SSAValue, other: SSAValue) -> SSAValue:
        """Lane by lane one of two values."""
        return self.add(SelectOp(condition, value, other))

    def both(self, a: SSAValue | None, b: SSAValue | None) -> SSAValue | None:
        """Where both predicates hold; None holds everywhere."""
        return a if b is None else b if a is None else self.compute("and", a, b)

    def inside(self, dims: Sequence[DimLike], limits: Sequence[SSAValue | None]) -> SSAValue | None:
        """Which lanes lie inside the ranges that limit their dimensions; None where no range limits any.

        Made by masking ones, since Mosaic cannot broadcast a vector of predicates along lanes.
        """
        if all(limit is None for limit in limits):
            return None
        ones = self.add(FullOp(1, TileType(dims, i32)))
        return self.with_number("ne", self.add(MaskOp(ones, limits, 0)), 0)

    # Shapes.

    def reshape(self, value: SSAValue, dims: Iterable[DimLike]) -> SSAValue:
        """The same lanes under other dimensions; those whose tag the value does not have take it from a broadcast."""
        before, type = tile_type(value), tile_type(value).with_dims(dims)
        kept = [dim if dim.tag.data in before.tags else DimAttr(dim.size.data) for dim in type.dims.data]
        if before.dims.data != tuple(kept):
            value = self.add(ReshapeOp(value, before.with_dims(kept)))
        return value if value.type == type else self.add(BroadcastOp(value, range(type.rank), type))

    def spread(self, value: SSAValue, dims: Sequence[DimLike], places: Sequence[int]) -> SSAValue:
        """A value repeated along the dimensions that ``places`` leave out."""
        type = TileType(dims, tile_type(value).element_type)
        return value if value.type == type else self.add(BroadcastOp(value, places, type))

    def numbers(self, count: int, dims: Sequence[DimLike], place: int) -> SSAValue:
        """0, 1, 2, … along one dimension."""
        return self.spread(self.add(ArangeOp(0, 1, TileType([count], i32))), dims, [place])

    def transpose(self, value: SSAValue, order: Sequence[int]) -> SSAValue:
        """A value with its dimensions in another order."""
        return value if list(order) == sorted(order) else self.add(TransposeOp(value, order))

    def cut(self, value: SSAValue, first: int, end: int) -> SSAValue:
        """Lanes of the last dimension."""
        *outer, lanes = tile_type(value).shape
        if (first, end) == (0, lanes):
            return value
        return self.add(SliceOp(value, [*[0] * len(outer), first], [*outer, end - first], [1] * (len(outer) + 1)))
