"""Operations that put lanes beside others: concatenation, padding, copies; and lanes in reverse."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from xdsl.dialects.builtin import i32

from kopt.dialects import tile
from kopt.dialects.tile import DimAttr, TileType
from kopt.frontend.broadcasting import broadcast, cast, common_dims, defined, untag
from kopt.frontend.ops.rules import result_dtype
from kopt.frontend.ops.shapes import (
    ONE,
    broadcast_tensors,
    flatten,
    listed,
    positive_dim,
    regroup,
    reshape_dims,
    unsqueeze_at,
)
from kopt.frontend.ops.slicing import plain_dim, slice_dim
from kopt.frontend.positions import fixed, like
from kopt.frontend.state import current, unsupported
from kopt.frontend.values import (
    DeviceTensor,
    as_tensor,
    full_tensor,
    known_lanes,
)


def cat(tensors: Sequence[Any], dim: int = 0, **kwargs: Any) -> DeviceTensor:
    """``cat``; blocks of loops become plain, their invalid lanes stay so, between valid ones."""
    values = [as_tensor(v) for v in tensors]
    dtype = result_dtype(tuple(values))
    at = positive_dim(values[0], kwargs.get("axis", dim))
    values = [v for v in values if v.tile_type.shape[at]] or values[:1]
    if len(values) > 1 and any(v.dims[at].tag.data in current().jagged for v in values):
        unsupported(
            "lanes of a jagged tile cannot stand beside others: their number differs from item to item",
            "combine each by itself: a.sum(1) + b.sum(1)",
            id="jagged",
        )
    values = [cast(v, dtype) for v in values]
    if len(values) == 1:
        return values[0]
    values = [untag(v, [at]) for v in values]
    rest = common_dims([without_dim(v, at) for v in values])
    values = [broadcast(v, (*rest[:at], v.dims[at], *rest[at:])) for v in values]
    return DeviceTensor(current().emit(tile.ConcatOp([v.ssa for v in values], at)))


def without_dim(value: DeviceTensor, dim: int) -> DeviceTensor:
    """Some lane of a dimension, which disappears: what is left are the other dimensions. Of no lanes that is 0."""
    if not value.tile_type.shape[dim]:
        return full_tensor(0, tuple(d for n, d in enumerate(value.dims) if n != dim), value.dtype)
    sizes = [1 if n == dim else size for n, size in enumerate(value.tile_type.shape)]
    lanes = tile.SliceOp(plain_dim(value, dim).ssa, [0] * value.rank, sizes, [1] * value.rank)
    cut = DeviceTensor(current().emit(lanes))
    return reshape_dims(cut, [d for n, d in enumerate(cut.dims) if n != dim])


def stack(tensors: Sequence[Any], dim: int = 0) -> DeviceTensor:
    """``stack``."""
    values = broadcast_tensors(*tensors)
    at = positive_dim(values[0], dim, extra=1)
    return cat([unsqueeze_at(v, at) for v in values], at)


def at_least(rank: int, input: Any) -> DeviceTensor:
    """A value with dimensions of 1 before its own, so that it has ``rank`` of them."""
    value = as_tensor(input)
    return reshape_dims(value, [*[ONE] * (rank - value.rank), *value.dims])


def hstack(tensors: Sequence[Any]) -> DeviceTensor:
    """``hstack``: along the second dimension, vectors along their only one."""
    values = [at_least(1, v) for v in tensors]
    return cat(values, 0 if values[0].rank == 1 else 1)


def flip(input: Any, dims: Any, *more: int) -> DeviceTensor:
    """``flip``: lanes in reverse, those of a block from its last valid one."""
    value = as_tensor(input)
    for dim in listed((dims, *more)):
        at = positive_dim(value, dim)
        lanes = value.dims[at]
        order = reshape_dims(_backwards(lanes), [lanes if n == at else ONE for n in range(value.rank)])
        order = broadcast(order, value.dims)
        value = DeviceTensor(current().emit(tile.TakeAlongOp(defined(value, [at]).ssa, order.ssa, at)))
    return value


def _backwards(lanes: DimAttr) -> DeviceTensor:
    """The numbers of a dimension's valid lanes from the last to the first."""
    last = known_lanes(lanes.size.data, lanes.tag.data) - 1
    known = isinstance(last, int)
    numbers = DeviceTensor(current().emit(tile.ArangeOp(last if known else 0, -1, TileType([lanes], i32))))
    return numbers if known else cast(numbers + last, torch.int32)


def pad(input: Any, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> DeviceTensor:
    """``nn.functional.pad`` with a constant."""
    tensor = as_tensor(input)
    if mode != "constant" or any(n < 0 for n in pad):
        unsupported("pad adds constants only")
    fixed(pad, "a width of padding")
    for number in range(len(pad) // 2):
        at = tensor.rank - 1 - number
        before, after = (_edge(tensor, at, n, value or 0) for n in pad[2 * number : 2 * number + 2])
        tensor = cat([*before, tensor, *after], at)
    return tensor


def _edge(tensor: DeviceTensor, at: int, size: int, value: float) -> list[DeviceTensor]:
    """What a dimension is padded with: one constant, valid beside the tensor's valid lanes, or nothing."""
    dims = (*tensor.dims[:at], DimAttr(size), *tensor.dims[at + 1 :])
    if not size:
        return []
    full = full_tensor(value, dims, tensor.dtype)
    if not tensor.tile_type.shape[at]:
        return [full]
    return [like(full, broadcast(slice_dim(tensor, at, 0, 1), dims))]


def repeat(input: Any, *sizes: Any) -> DeviceTensor:
    """``repeat``: whole copies one after another."""
    value, times = as_tensor(input), listed(sizes)
    fixed(times, "a number of copies")
    value = at_least(len(times), value)
    for at, number in enumerate(times):
        if number < 0 and value.tile_type.shape[at]:
            unsupported(f"dimension {at} of {value.tile_type.shape[at]} is repeated {number} times", id="shapes")
        value = cat([value] * number, at) if number > 0 else slice_dim(value, at, 0, 0)
    return value


def tile_lanes(input: Any, *sizes: Any, dims: Any = None) -> DeviceTensor:
    """``tile``: ``repeat`` where sizes may be left out at the front."""
    value, times = as_tensor(input), listed(sizes if dims is None else (dims,))
    return repeat(value, *[1] * (value.rank - len(times)), *times)


def repeat_interleave(input: Any, repeats: int, dim: int | None = None) -> DeviceTensor:
    """Each lane several times in a row."""
    fixed(repeats, "a number of copies")
    value = as_tensor(input) if dim is not None else flatten(input)
    at = positive_dim(value, dim or 0)
    wide = unsqueeze_at(value, at + 1)
    wide = broadcast(wide, (*wide.dims[: at + 1], DimAttr(repeats), *wide.dims[at + 2 :]))
    sizes = value.tile_type.shape
    return regroup(wide, [*sizes[:at], sizes[at] * repeats, *sizes[at + 1 :]])


TABLE: dict[str, Callable[..., Any]] = {
    "cat": cat,
    "stack": stack,
    "hstack": hstack,
    "vstack": lambda tensors: cat([at_least(2, v) for v in tensors], 0),
    "flip": flip,
    "pad": pad,
    "repeat": repeat,
    "tile": tile_lanes,
    "repeat_interleave": repeat_interleave,
}
