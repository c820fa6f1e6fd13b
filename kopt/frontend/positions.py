"""Numbers of lanes as torch counts them: how many there are, and which one is which.

Blocks of loops may end with their array. Where such lanes were merged or joined, the valid ones need not stand first:
they are counted, or brought together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from xdsl.dialects.builtin import i32

from kopt.dialects import tile
from kopt.dialects.tile import DimAttr, TileType
from kopt.frontend.block_size import varies
from kopt.frontend.broadcasting import broadcast, cast
from kopt.frontend.ragged import first_lanes, form, has_holes, is_hidden, is_ragged
from kopt.frontend.state import current, unsupported
from kopt.frontend.values import DeviceTensor, describe, valid_lanes


def lane_numbers_along(value: DeviceTensor, dim: int) -> DeviceTensor:
    """The number of each lane of a dimension, over all of a value's dimensions."""
    dims = value.dims
    numbers = DeviceTensor(current().emit(tile.ArangeOp(0, 1, TileType([dims[dim].size.data], i32))))
    shape = [DimAttr(d.size.data) if n == dim else DimAttr(1) for n, d in enumerate(dims)]
    if len(dims) > 1:
        numbers = DeviceTensor(current().emit(tile.ReshapeOp(numbers.ssa, TileType(shape, i32))))
    return broadcast(numbers, dims)


def valid_tile(value: DeviceTensor) -> DeviceTensor:
    """Which lanes were made from valid lanes only, as booleans."""
    return DeviceTensor(current().emit(tile.ValidLanesOp(value.ssa)))


def like(value: DeviceTensor, other: DeviceTensor) -> DeviceTensor:
    """A value over the dimensions of another whose lanes are valid where the other's are."""
    if not any(is_hidden(other.ssa, dim) for dim in range(other.rank)):
        return value
    return DeviceTensor(current().emit(tile.SelectOp(valid_tile(other).ssa, value.ssa, value.ssa)))


def valid_count(value: DeviceTensor, dims: Sequence[int]) -> Any:
    """How many valid lanes dimensions have: a number, a device number, or a tensor over the other dimensions."""
    if not any(is_hidden(value.ssa, dim) for dim in dims):
        total: Any = 1
        for dim in (value.dims[d] for d in dims):
            lanes = valid_lanes(dim.size.data, dim.tag.data)
            total = lanes if isinstance(total, int) and total == 1 else lanes * total
        return total
    lanes = cast(valid_tile(value), torch.int32)
    return DeviceTensor(current().emit(tile.ReduceOp("add", lanes.ssa, sorted(dims))))


def ranks(value: DeviceTensor, dim: int) -> DeviceTensor:
    """How many valid lanes stand before each lane of a dimension, over all of a value's dimensions."""
    if not has_holes(value.ssa, dim):
        return like(lane_numbers_along(value, dim), value)
    lanes = cast(valid_tile(value), torch.int32)
    running = DeviceTensor(current().emit(tile.ScanOp("add", lanes.ssa, dim, False)))
    return cast(running - 1, torch.int32)


def together(value: DeviceTensor, dim: int) -> DeviceTensor:
    """The value with the valid lanes of a dimension brought to its beginning, in their order."""
    if not has_holes(value.ssa, dim):
        return value
    tracer, known = current(), form(value.ssa)
    op = tile.SortOp(like(lane_numbers_along(value, dim), value).ssa, dim)
    tracer.append(op)
    taken = tracer.emit(tile.TakeAlongOp(value.ssa, op.numbers, dim))
    tracer.forms[taken] = (*known[:dim], first_lanes(known[dim]), *known[dim + 1 :])
    return DeviceTensor(taken)


def fixed(numbers: Any, what: str) -> None:
    """Refuses a number, or some, that follow from the size of a block whose last one has fewer lanes."""
    several = numbers if isinstance(numbers, list | tuple) else [numbers]
    if any(map(varies, several)):
        unsupported(
            f"{what} that follows from the size of a block is smaller in the last one, which has fewer lanes",
            "choose a block size that divides the distance walked, or give a number",
            id="ragged-lanes",
        )


def from_front(value: DeviceTensor, dim: int, what: str) -> None:
    """Refuses what depends on how many lanes the last block has, which is not known while the kernel is imported."""
    if is_ragged(value.ssa, dim):
        unsupported(
            f"{what} of dimension {dim} of {describe(value)} depends on how many lanes the last block has",
            "choose a block size that divides the distance walked, or index the host tensor",
            id="ragged-lanes",
        )
