"""Vectors whose lanes become rows: each row has one of their numbers then, all along its lanes. Pure.

    %v = tile.load %x[%i] : memref<512xf32> -> !tile.tile<b0=128 x f32>
    %c = tile.broadcast %v dims [0] : !tile.tile<b0=128 x f32> to !tile.tile<b0=128 x 256 x f32>

is a spread of 128 rows. What a reduction of the last dimension makes is in its rows already.
"""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from kopt.dialects.tile import (
    LANEWISE,
    ArgReduceOp,
    BroadcastOp,
    DimAttr,
    DotOp,
    LoadOp,
    ReduceOp,
    ReshapeOp,
    TileType,
    tile_type,
)


def is_spread(op: Operation) -> bool:
    """Whether an operation makes rows of a vector's lanes."""
    if not isinstance(op, BroadcastOp | ReshapeOp):
        return False
    source, result = op.input_type, op.result_type
    if not source.rank or source.dims.data[-1] == DimAttr(1):  # not a block that may have one lane
        return False
    if isinstance(op, BroadcastOp):
        becomes_rows = op.mapping[-1] == result.rank - 2
    else:
        becomes_rows = [*result.dims.data] == [*source.dims.data, DimAttr(1)]
    return becomes_rows and _is_along_lanes(op.input)


def _is_along_lanes(value: SSAValue) -> bool:
    """Whether lanes have the last dimension of a value: what is loaded, multiplied, or computed of such values."""
    seen, left = set[SSAValue](), [value]
    while left:
        if (one := left.pop()) in seen or not isinstance(one.type, TileType):
            continue
        seen.add(one)
        op = one.owner
        if isinstance(op, LoadOp | DotOp):
            return True
        if isinstance(op, LANEWISE) or isinstance(op, ReduceOp | ArgReduceOp) and not _reduces_lanes(op):
            left += op.operands
    return False


def _reduces_lanes(op: ReduceOp | ArgReduceOp) -> bool:
    dims = op.dimensions if isinstance(op, ReduceOp) else (op.dim.data,)
    return tile_type(op.operands[0]).rank - 1 in dims
