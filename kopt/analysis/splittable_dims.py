"""Splittable dimensions: those along which lanes come from the same lanes of what they are computed from. Pure.

Such a value can be computed part by part along that dimension, down to loads that take the whole of one of an array's.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

from xdsl.ir import Operation, SSAValue

from kopt.analysis.aliases import root
from kopt.dialects.tile import (
    ALL,
    ELEMENTWISE,
    ArangeOp,
    ArgReduceOp,
    BitcastOp,
    BroadcastOp,
    CastOp,
    DotOp,
    FullOp,
    LoadOp,
    MaskOp,
    PhiloxOp,
    ReduceOp,
    ReshapeOp,
    ScalingExtfOp,
    ScanOp,
    SelectOp,
    SplatOp,
    TileType,
    TransposeOp,
    block_axes,
    tile_type,
)
from kopt.dialects.tile.memory import memory_shape
from kopt.ir.ssa_rules import places

#: One dimension of a value.
Lanes = tuple[SSAValue, int]


def sources(value: SSAValue, dim: int) -> dict[int, int] | None:
    """The operands of a value's op that have its lanes of a dimension, with theirs; None where lanes are combined."""
    rule = _RULES.get(type(value.owner))
    return None if rule is None else rule(value.owner, dim)


def taken_whole(load: LoadOp, dim: int) -> int | None:
    """The dimension of the array that a dimension of a load's block is, all of it; None where it is none."""
    axis = block_axes(load.entries, memory_shape(load.memory.type))[dim]
    return axis.position if load.entries[axis.position] == ALL else None


def inputs(value: SSAValue, dim: int) -> list[Lanes]:
    """What the lanes of one dimension of a value are made from at once: values, with their dimensions."""
    op = value.owner
    return [(op.operands[n], place) for n, place in (sources(value, dim) or {}).items()]  # pyright: ignore


def needed(value: SSAValue, dim: int) -> Iterator[Lanes]:
    """A value and all that the lanes of one of its dimensions are made from, each once.

    Where lanes are combined it ends: `sources` of such a one is None.
    """
    todo, seen = [(value, dim)], {(value, dim)}
    while todo:
        value, dim = todo.pop()
        yield value, dim
        found = inputs(value, dim)
        todo += dict.fromkeys(part for part in found if part not in seen)
        seen.update(found)


def can_be_cut(value: SSAValue, dim: int, written: Collection[SSAValue]) -> bool:
    """Whether parts of a value along a dimension can be computed one by one, while the ``written`` arrays change."""
    return not any(
        sources(part, place) is None or isinstance(part.owner, LoadOp) and root(part.owner.memory) in written
        for part, place in needed(value, dim)
    )


# Rules.


def _alike(op: Operation, dim: int) -> dict[int, int]:
    tiles = enumerate(op.operands)
    return {n: dim for n, operand in tiles if isinstance(operand.type, TileType) and operand.type.rank}


def _none(op: Operation, dim: int) -> dict[int, int]:
    return {}


def _broadcast(op: BroadcastOp, dim: int) -> dict[int, int]:
    place = op.mapping.index(dim) if dim in op.mapping else None
    return {} if place is None or op.input_type.shape[place] == 1 else {0: place}


def _reshape(op: ReshapeOp, dim: int) -> dict[int, int] | None:
    found = [before for before, after in (places(op) or {}).items() if after == dim]
    return {0: found[0]} if found else None


def _mask(op: MaskOp, dim: int) -> dict[int, int] | None:
    return {0: dim} if op.limits[dim] is None else None


def _kept(op: ReduceOp | ArgReduceOp, dim: int) -> dict[int, int]:
    """Reductions over other dimensions."""
    dropped = op.dimensions if isinstance(op, ReduceOp) else (op.dim.data,)
    return {0: [n for n in range(tile_type(op.input).rank) if n not in dropped][dim]}


def _dot(op: DotOp, dim: int) -> dict[int, int]:
    """Rows come from the left, columns from the right, batches from both."""
    last = tile_type(op.result).rank - 1
    sides = {last: (1,), last - 1: (0,)}.get(dim, (0, 1))
    return dict.fromkeys((*sides, *range(2, len(op.operands))), dim)


def _scaling(op: ScalingExtfOp, dim: int) -> dict[int, int] | None:
    return {0: dim, 1: 0} if dim != op.dim.data else None


def _scan(op: ScanOp, dim: int) -> dict[int, int] | None:
    return {0: dim} if dim != op.dim.data else None


def _load(op: LoadOp, dim: int) -> dict[int, int] | None:
    axis = block_axes(op.entries, memory_shape(op.memory.type))[dim]
    operands = list(op.operands)
    mask = {} if op.mask is None else {operands.index(op.mask): dim}
    if axis.gather_dim is not None:
        numbers = [n for n, operand in enumerate(operands) if isinstance(operand.type, TileType) and n not in mask]
        return {**mask, **dict.fromkeys(numbers, axis.gather_dim)}
    return mask if op.entries[axis.position] == ALL else None


_RULES: dict[type, Callable[[Any, int], dict[int, int] | None]] = {
    **dict.fromkeys([*ELEMENTWISE.values(), SelectOp, CastOp, BitcastOp, PhiloxOp], _alike),
    **dict.fromkeys([FullOp, SplatOp, ArangeOp], _none),
    **dict.fromkeys([ReduceOp, ArgReduceOp], _kept),
    BroadcastOp: _broadcast,
    TransposeOp: lambda op, dim: {0: op.order[dim]},
    ReshapeOp: _reshape,
    MaskOp: _mask,
    DotOp: _dot,
    ScalingExtfOp: _scaling,
    ScanOp: _scan,
    LoadOp: _load,
}
