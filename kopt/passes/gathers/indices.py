"""Numbers of elements as ``index`` values."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Operation, SSAValue

from kopt.dialects.tile import BeginOp, ExtractOp, RangeType, TileType
from kopt.passes.mosaic.building import Builder


def as_index(value: SSAValue, build: Builder) -> SSAValue:
    """A number, that of a tile of one lane, or the one that a range begins at."""
    if isinstance(value.type, IndexType):
        return value
    if isinstance(value.type, RangeType):
        return build.add(BeginOp(value))
    if isinstance(value.type, TileType):
        return build.add(ExtractOp(build.reshape(value, []), IndexType()))
    return build.add(arith.IndexCastOp(value, IndexType()))


def constant(value: int) -> Operation:
    """A number that is known."""
    return arith.ConstantOp(IntegerAttr(value, IndexType()))
