"""Makes the ops that an access becomes, and puts these in its place."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import f32, i1, i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.dialects.tile import (
    ELEMENTWISE,
    ArangeOp,
    BitcastOp,
    BroadcastOp,
    DimAttr,
    FullOp,
    LoadOp,
    MaskOp,
    ReduceOp,
    SelectOp,
    SliceOp,
    TakeAlongOp,
    TileType,
    TransposeOp,
    literal,
    neutral,
    tile_type,
)
from kopt.dialects.tile.index_list import Entry
from kopt.dialects.tile.types import DimLike
from kopt.passes.mosaic.building import ValueBuilder, element_of, is_narrow, wide
from kopt.targets.tiling import LANES, SUBLANES


class AccessBuilder(ValueBuilder):
    """Inserts ops in front of one, at its place in the source."""

    def __init__(self, before: Operation, source: Operation | None = None):
        super().__init__(before)
        self.source = source or before

    def insert(self, op: Operation) -> None:
        """Inserts an op without results."""
        op.location = self.source.location
        Rewriter.insert_op(op, InsertPoint.before(self.op))

    def add(self, op: Operation) -> SSAValue:
        self.insert(op)
        return op.results[0]

    def named(self, hint: str, value: SSAValue | Operation) -> SSAValue:
        """Names a value, or an op's that it inserts."""
        value = self.add(value) if isinstance(value, Operation) else value
        value.name_hint = hint
        return value

    def compute(self, name: str, *values: SSAValue) -> SSAValue:
        """An elementwise op."""
        return self.add(ELEMENTWISE[name](*values))

    def full(self, number: float | int, like: SSAValue, element: Attribute | None = None) -> SSAValue:
        """One number in the shape of a value."""
        type = tile_type(like)
        return self.add(FullOp(number, type.with_element(element) if element else type))

    def with_number(self, name: str, value: SSAValue, number: float | int) -> SSAValue:
        """An elementwise op of a value and a number."""
        return self.compute(name, value, self.full(number, value))

    def spread(self, value: SSAValue, dims: Sequence[DimLike], places: Sequence[int]) -> SSAValue:
        """A value repeated along the dimensions that ``places`` leave out."""
        type = TileType(dims, tile_type(value).element_type)
        return value if value.type == type else self.add(BroadcastOp(value, places, type))

    def numbers(self, count: int, dims: Sequence[DimLike], place: int) -> SSAValue:
        """0, 1, 2, … along one dimension."""
        return self.spread(self.add(ArangeOp(0, 1, TileType([count], i32))), dims, [place])

    def select(self, condition: SSAValue, value: SSAValue, other: SSAValue) -> SSAValue:
        """Lane by lane one of two values."""
        return self.add(SelectOp(condition, value, other))

    def both(self, a: SSAValue | None, b: SSAValue | None) -> SSAValue | None:
        """Where both predicates hold; None holds everywhere."""
        return a if b is None else b if a is None else self.compute("and", a, b)

    def inside(self, dims: Sequence[DimLike], limits: Sequence[SSAValue | None]) -> SSAValue | None:
        """Which lanes lie inside the ranges that limit their dimensions; None where no range limits any."""
        if all(limit is None for limit in limits):
            return None
        ones = self.add(FullOp(1, TileType(dims, i32)))
        return self.with_number("ne", self.add(MaskOp(ones, limits, 0)), 0)

    def flag(self, predicate: SSAValue) -> SSAValue:
        """A predicate as 32-bit numbers, which memory can hold."""
        return self.cast(predicate, i32)

    def bits(self, value: SSAValue) -> SSAValue:
        """Floats of 32 bits as integers: NaN equals itself, and 0.0 does not equal -0.0."""
        return self.add(BitcastOp(value, i32)) if element_of(value) == f32 else value

    def parts(self, value: SSAValue, most: int) -> list[SSAValue]:
        """The rows of a tile of plain dimensions, as many together as have ``most`` lanes, one at least."""
        size, *others = tile_type(value).shape
        step = max(1, most // prod(others))
        if size <= step:
            return [value]
        zeros, ones = [0] * len(others), [1] * (len(others) + 1)
        starts = range(0, size, step)
        return [self.add(SliceOp(value, [n, *zeros], [min(step, size - n), *others], ones)) for n in starts]

    def regroup(self, value: SSAValue, dims: Sequence[DimLike]) -> SSAValue:
        """The same lanes under other dimensions. Mosaic merges and splits no lanes: they become rows of copies."""
        if tile_type(value).dims == TileType(dims, i32).dims:
            return value
        if element_of(value) == i1:
            return self.with_number("ne", self.regroup(self.flag(value), dims), 0)
        before = tile_type(value)
        if before.rank > 1 and len(dims) > 1:
            return self.reshape(value, dims)
        if is_narrow(element_of(value)):
            return self.cast(self.regroup(self.cast(value, wide(element_of(value))), dims), element_of(value))
        shapes = [shape for shape in (before.shape, TileType(dims, i32).shape) if len(shape) > 1]
        if any(shape[-1] % SUBLANES for shape in shapes):
            return self._regroup_parts(value, dims)
        rows = self.spread(value, [*before.dims.data, DimAttr(LANES)], range(before.rank))
        return self.add(ReduceOp("max", self.reshape(rows, [*dims, DimAttr(LANES)]), [len(dims)]))

    def _regroup_parts(self, value: SSAValue, dims: Sequence[DimLike]) -> SSAValue:
        """Of rows that are no whole registers Mosaic regroups no copies: the value stands in the first lane alone."""
        all_dims = [*tile_type(value).dims.data, DimAttr(LANES)]
        rows = self.spread(value, all_dims, range(len(all_dims) - 1))
        first = self.with_number("eq", self.numbers(LANES, all_dims, len(all_dims) - 1), 0)
        rows = self.select(first, rows, self.full(neutral("max", element_of(value)), rows))
        return self.add(ReduceOp("max", self.reshape(rows, [*dims, DimAttr(LANES)]), [len(dims)]))

    def cut(self, value: SSAValue, first: int, end: int) -> SSAValue:
        """Lanes of the last dimension."""
        *outer, lanes = tile_type(value).shape
        if (first, end) == (0, lanes):
            return value
        return self.add(SliceOp(value, [*[0] * len(outer), first], [*outer, end - first], [1] * (len(outer) + 1)))

    def every(self, value: SSAValue, step: int, first: int) -> SSAValue:
        """Every ``step``-th lane of the last dimension, which is some steps long, and of 32 bits."""
        if step == 1:
            return value
        *outer, lanes = tile_type(value).dims.data
        value = self.reshape(value, [*outer, DimAttr(lanes.size.data // step), DimAttr(step)])
        return self.reshape(self.cut(value, first, first + 1), [*outer, DimAttr(lanes.size.data // step)])

    def transpose(self, value: SSAValue, order: Sequence[int]) -> SSAValue:
        """A value with its dimensions in another order."""
        return value if list(order) == sorted(order) else self.add(TransposeOp(value, order))

    def clamped(self, index: SSAValue, extent: int) -> SSAValue:
        """Row numbers as i32 inside an array: what lanes outside their range hold may be anything."""
        return self.with_number("maximum", self.with_number("minimum", self.cast(index, i32), extent - 1), 0)

    def pick(self, value: SSAValue, dim: int, index: SSAValue, at: int) -> SSAValue:
        """One lane of dimension ``dim`` for each gathered place; the dimension disappears.

        The dimensions of ``index`` are dimensions ``at``, ``at + 1``, … of the value.
        """
        dims = list(tile_type(value).dims.data)
        others = [*dims[:dim], *dims[dim + 1 :]]
        wide = self.spread(index, [*dims[:dim], DimAttr(1), *dims[dim + 1 :]], range(at, at + tile_type(index).rank))
        return self.reshape(self.add(TakeAlongOp(value, wide, dim)), others)


def replace_load(load: LoadOp, value: SSAValue) -> None:
    """Puts a block in a load's place; masked lanes take the load's ``other``."""
    if load.mask is not None:
        build = AccessBuilder(load)
        other = build.add(FullOp(load.other or literal(0, tile_type(value).element_type), tile_type(value)))
        value = build.add(SelectOp(load.mask, value, other))
    value.name_hint = load.result.name_hint
    load.result.replace_all_uses_with(value)
    Rewriter.erase_op(load)


def with_entries(load: LoadOp, entries: Sequence[Entry], memory: SSAValue | None = None) -> LoadOp:
    """Puts the load of the same block by another index list, maybe of another array, in a load's place."""
    found = LoadOp(memory or load.memory, entries, load.mask, load.other, load.pad, load.attributes)
    found.location, found.result.name_hint = load.location, load.result.name_hint
    Rewriter.replace_op(load, found)
    return found
