"""Numbers of elements as ``index`` values and as tiles."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, i32
from xdsl.ir import SSAValue

from kopt.analysis.lane_sums import LaneSum
from kopt.dialects.tile import BeginOp, BroadcastOp, DimAttr, ExtractOp, IndexOp, RangeType, SplatOp, TileType
from kopt.passes.mosaic.building import Builder, type_of
from kopt.passes.scatters.building import Builder as TileBuilder


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


def tile_of(form: LaneSum, dims: Sequence[DimAttr], build: TileBuilder) -> SSAValue:
    """A sum of lanes as an i32 tile."""
    type = TileType(dims, i32)
    parts = [_part(atom, places, factor, type, build) for (atom, places), factor in form.terms.items()]
    if form.const or not parts:
        parts.append(build.add(SplatOp(build.index(form.const), type)))
    total = parts[0]
    for part in parts[1:]:
        total = build.compute("add", total, part)
    return total


def _part(atom: SSAValue, places: Sequence[int], factor: int, type: TileType, build: TileBuilder) -> SSAValue:
    """An atom, as often as it is added, along all dimensions."""
    if isinstance(atom.type, IndexType):
        atom = build.add(SplatOp(atom, TileType([], i32)))
    if isinstance(atom.type, RangeType):
        atom = build.add(IndexOp(atom))
    wide = [dim for dim in type_of(atom).dims.data if dim != DimAttr(1)]
    atom = build.reshape(build.cast(atom, i32), wide)
    if factor != 1:
        atom = build.with_number("mul", atom, factor)
    return atom if type_of(atom) == type else build.add(BroadcastOp(atom, places, type))
