"""Numbers of elements as ``index`` values and as tiles."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, i32
from xdsl.ir import SSAValue

from kopt.dialects.builder import Builder
from kopt.dialects.tile import BeginOp, DimAttr, ExtractOp, RangeType, TileType
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.index_expr import IndexExpr
from kopt.ir.sums import SumAnalysis
from kopt.ir.to_ssa import IndexWriter
from kopt.ir.to_tiles import TileWriter


def as_index(value: SSAValue, build: Builder) -> SSAValue:
    """A number, that of a tile of one lane, or the one that a range begins at."""
    if isinstance(value.type, IndexType):
        return value
    if isinstance(value.type, RangeType):
        return build.add(BeginOp(value))
    if isinstance(value.type, TileType):
        return _extracted(value, build) or build.add(ExtractOp(build.reshape(value, []), IndexType()))
    return build.add(arith.IndexCastOp(value, IndexType()))


def _extracted(value: SSAValue, build: Builder) -> SSAValue | None:
    """The number of a tile where it has been extracted before: what is the same number looks the same then."""
    for op in [use.operation for use in value.uses]:
        if isinstance(op, ExtractOp) and op.result.type == IndexType() and op.parent is build.op.parent:
            if op.is_before_in_block(build.op):
                return op.result
    return None


def tile_of(expr: IndexExpr, dims: Sequence[DimAttr], build: Builder, sums: SumAnalysis) -> SSAValue:
    """A sum as an i32 tile."""
    return TileWriter(build.add, sums.begin).value(expr, dims, i32)


def index_of(expr: IndexExpr, build: Builder, analysis: IndexAnalysis) -> SSAValue:
    """An expression that is the same in all lanes as an ``index``."""
    return IndexWriter(build.add, lambda value: as_index(value, build), analysis.begin).value(expr)
