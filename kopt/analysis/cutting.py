"""Values whose lanes along one dimension come from the same lanes of what they are computed from. Pure.

Such a value can be computed part by part along that dimension, down to loads that take the whole of one of an array's.
"""

from __future__ import annotations

from collections.abc import Collection

from xdsl.ir import Operation, SSAValue

from kopt.analysis.aliases import root
from kopt.analysis.lane_sums import moves
from kopt.dialects.tile import (
    ALL,
    BroadcastOp,
    CastOp,
    ElementwiseOp,
    FullOp,
    LoadOp,
    ReshapeOp,
    SelectOp,
    TransposeOp,
    block_axes,
    is_gather,
)
from kopt.dialects.tile.memory import memory_shape


def sources(value: SSAValue, dim: int) -> dict[int, int] | None:
    """The operands of a value's op that have its lanes of a dimension, with theirs; None where lanes are combined."""
    op = value.owner
    if isinstance(op, CastOp | ElementwiseOp | SelectOp):
        return dict.fromkeys(range(len(op.operands)), dim)
    if isinstance(op, FullOp):
        return {}
    if isinstance(op, BroadcastOp):
        place = op.mapping.index(dim) if dim in op.mapping else None
        return {} if place is None or op.input_type.shape[place] == 1 else {0: place}
    if isinstance(op, TransposeOp):
        return {0: op.order[dim]}
    if isinstance(op, ReshapeOp):
        places = [before for before, after in (moves(op) or {}).items() if after == dim]
        return {0: places[0]} if places else None
    if isinstance(op, LoadOp) and taken_whole(op, dim) is not None:
        return {} if op.mask is None else {list(op.operands).index(op.mask): dim}
    return None


def taken_whole(load: LoadOp, dim: int) -> int | None:
    """The dimension of the array that a dimension of a load's block is, all of it; None where it is none."""
    if any(map(is_gather, load.entries)):
        return None
    axis = block_axes(load.entries, memory_shape(load.memory.type))[dim]
    return axis.position if load.entries[axis.position] == ALL else None


def can_be_cut(value: SSAValue, dim: int, written: Collection[SSAValue]) -> bool:
    """Whether parts of a value along a dimension can be computed one by one, while the ``written`` arrays change."""
    todo, seen = [(value, dim)], set[tuple[SSAValue, int]]()
    while todo:
        value, dim = part = todo.pop()
        found, op = sources(value, dim), value.owner
        if found is None or isinstance(op, LoadOp) and root(op.memory) in written:
            return False
        assert isinstance(op, Operation)
        seen.add(part)
        todo += {(op.operands[n], place) for n, place in found.items()} - seen
    return True
