"""The pass ``drop-empty``: nothing is computed on arrays and blocks of no elements."""

from __future__ import annotations

import math
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from kopt.diagnostics import location_of
from kopt.dialects.atomic import CasOp, RmwOp
from kopt.dialects.tile import (
    ConcatOp,
    DotOp,
    FullOp,
    GridOp,
    LoadOp,
    ReduceOp,
    StoreOp,
    TileType,
    literal_value,
    neutral,
    tile_type,
)
from kopt.errors import LoweringError
from kopt.passes.empty_carries import drop_empty_carries
from kopt.walk import walk

_Simplified = LoadOp | StoreOp | RmwOp | CasOp | ReduceOp | DotOp | ConcatOp


@dataclass(frozen=True)
class DropEmptyPass(ModulePass):
    """Removes everything of no elements from grids, so that no other pass meets a dimension of 0.

    No loop carries values without lanes, and no branch gives any. A mask leaves out all lanes that are loaded from an
    array of no elements. A reduction of nothing gives its neutral value, a dot over nothing its accumulator. Grids
    without cells and loops without visits are gone by then (``canonicalize``).

        %v = tile.load %x[%i, :] : memref<16x0xf32> -> !tile.tile<b0=16 x 0 x f32>
        %s = tile.reduce add %v [1] : !tile.tile<b0=16 x 0 x f32>
    becomes
        %s = tile.full 0.0 : !tile.tile<b0=16 x f32>

    Refuses other uses of blocks without lanes, with their place.
    """

    name = "drop-empty"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for grid in walk(op, GridOp):
            _drop(grid)


def _drop(grid: GridOp) -> None:
    if not any(map(_meets_nothing, walk(grid))):
        return
    drop_empty_carries(grid)
    for op in [op for op in walk(grid) if isinstance(op, _Simplified)]:
        _simplify(op)
    for op in reversed([op for op in walk(grid) if _lanes(op) == 0]):
        if any(result.first_use is not None for result in op.results):
            raise LoweringError(f"'{op.name}' computes on a block without lanes", location_of(op))
        Rewriter.erase_op(op)


def _meets_nothing(op: Operation) -> bool:
    """Whether an op gives or takes something of no elements."""
    return _lanes(op) == 0 or any(_is_empty(operand.type) for operand in op.operands)


def _simplify(op: _Simplified) -> None:
    if isinstance(op, LoadOp):
        if _is_empty(op.memory.type) and _size(op.result):
            _replace(op, FullOp(literal_value(op.other) if op.other is not None else 0, tile_type(op.result)))
    elif isinstance(op, StoreOp | RmwOp | CasOp):
        if _is_empty(op.memory.type) or not _size(op.operands[0]):
            for previous in op.results:
                _replace(op, FullOp(0, tile_type(previous)))
            if not op.results:
                Rewriter.erase_op(op)
    elif isinstance(op, ReduceOp):
        if not _size(op.input) and _size(op.result):
            _replace(op, FullOp(neutral(op.kind.data, tile_type(op.input).element_type), tile_type(op.result)))
    elif isinstance(op, ConcatOp):
        _join_what_there_is(op)
    elif not _size(op.lhs) and _size(op.result):
        if op.accumulator is not None:
            Rewriter.replace_op(op, [], [op.accumulator])
        else:
            _replace(op, FullOp(0, tile_type(op.result)))


def _join_what_there_is(op: ConcatOp) -> None:
    parts = [value for value in op.inputs if _size(value)]
    if 0 < len(parts) < len(op.inputs):
        _replace(op, ConcatOp(parts, op.dim.data))


def _replace(op: Operation, new: Operation) -> None:
    new.location = op.location
    for result, old in zip(new.results, op.results, strict=True):
        result.name_hint = old.name_hint
    Rewriter.replace_op(op, new)


def _lanes(op: Operation) -> int:
    """The lanes of an op's tiles; 1 where it has none."""
    return min((_size(result) for result in op.results if isinstance(result.type, TileType)), default=1)


def _size(value: SSAValue) -> int:
    return math.prod(tile_type(value).shape)


def _is_empty(type: object) -> bool:
    return isinstance(type, MemRefType) and 0 in type.get_shape()
