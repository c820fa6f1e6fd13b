"""Gathers whose index counts lanes from a scalar on, ``x[n + arange(64)]``: loads of the block that begins there."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Operation, SSAValue

from kopt.analysis.alignment import multiple
from kopt.analysis.linear import Linear, begin
from kopt.dialects.tile import (
    ArangeOp,
    BroadcastOp,
    CastOp,
    ElementwiseOp,
    ExtractOp,
    FullOp,
    LoadOp,
    RangeType,
    ShiftOp,
    SplatOp,
    TileType,
    WholeOp,
    is_gather,
)
from kopt.passes.gathers.building import array_type
from kopt.passes.mosaic.building import Builder, type_of
from kopt.passes.retyping import new_tags


def load_counted(load: LoadOp) -> SSAValue | None:
    """The block of a load, without its mask, where its one index counts from a scalar on; None where it does not.

    A masked load may begin before the array; where nothing will cut its lanes out of a larger block, it stays as it is.
    """
    positions = [position for position, entry in enumerate(load.entries) if is_gather(entry)]
    if len(positions) != 1:
        return None
    (dim,) = positions
    entries = list(load.entries)
    index = entries[dim]
    assert isinstance(index, SSAValue)
    if (scalars := _scalars(index)) is None:
        return None
    build = Builder(load)
    size = type_of(index).shape[0]
    whole = build.add(WholeOp(size, RangeType(next(new_tags(load)), size)))
    block = build.add(ShiftOp(whole, _sum(scalars, build)))
    first = begin(block)
    if (
        load.mask is not None
        and _may_be_negative(first)
        and first.divisor % multiple(array_type(load.memory), dim) == 0
    ):
        return None
    entries[dim] = block
    value = build.add(LoadOp(load.memory, entries))
    return build.reshape(value, type_of(load.result).dims.data)


#: A number or a value that is the same in every lane, and how often it is added.
_Scalar = tuple[int | SSAValue, int]


def _scalars(index: SSAValue) -> list[_Scalar] | None:
    """What is added to the lane numbers 0, 1, 2, … to give an index, else None."""
    op = index.owner
    if isinstance(op, CastOp):
        return _scalars(op.input)
    if isinstance(op, ArangeOp):
        return [(op.start.data, 1)] if op.step.data == 1 else None
    if not isinstance(op, ElementwiseOp) or op.ROW.name not in ("add", "sub"):
        return None
    first, second = op.inputs
    if op.ROW.name == "add" and _uniform(first) is not None:
        first, second = second, first
    lanes, scalar = _scalars(first), _uniform(second)
    if lanes is None or scalar is None:
        return None
    return [*lanes, (scalar, 1 if op.ROW.name == "add" else -1)]


def _uniform(value: SSAValue) -> int | SSAValue | None:
    """The number, the scalar or the tile of rank 0 that every lane of a tile is, else None."""
    op = value.owner
    if isinstance(op, CastOp):
        return _uniform(op.input)
    if isinstance(op, FullOp):
        return int(op.number)
    if isinstance(op, SplatOp):
        return op.scalar
    if isinstance(op, BroadcastOp) and not op.mapping:
        inner = _uniform(op.input)
        return op.input if inner is None else inner
    return None


def _sum(scalars: list[_Scalar], build: Builder) -> SSAValue:
    number = sum(value * sign for value, sign in scalars if isinstance(value, int))
    added = [_as_index(value, build) for value, sign in scalars if isinstance(value, SSAValue) and sign > 0]
    total = build.add(_number(number)) if number or not added else added.pop(0)
    for part in added:
        total = build.add(arith.AddiOp(total, part))
    for value, sign in scalars:
        if isinstance(value, SSAValue) and sign < 0:
            total = build.add(arith.SubiOp(total, _as_index(value, build)))
    return total


def _as_index(value: SSAValue, build: Builder) -> SSAValue:
    if isinstance(value.type, IndexType):
        return value
    is_tile = isinstance(value.type, TileType)
    return build.add(ExtractOp(value, IndexType()) if is_tile else arith.IndexCastOp(value, IndexType()))


def _number(value: int) -> Operation:
    return arith.ConstantOp(IntegerAttr(value, IndexType()))


def _may_be_negative(form: Linear) -> bool:
    """Whether an element's number is not a sum of block numbers, none of them subtracted."""
    sums = all(isinstance(symbol.type, RangeType) and factor > 0 for symbol, factor in form.terms)
    return form.const < 0 or not sums
