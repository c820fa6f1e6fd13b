"""Operations that rearrange lanes: reshape, transpose, slices, concatenation."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from xdsl.dialects.builtin import i32

from kopt.dialects import tile
from kopt.dialects.tile import DimAttr, TileType
from kopt.frontend.broadcasting import broadcast, cast, common_dims, untag
from kopt.frontend.state import current, unsupported
from kopt.frontend.values import (
    BlockSize,
    DeviceTensor,
    Index,
    TileRange,
    as_tensor,
    describe,
    full_tensor,
    valid_lanes,
)

ONE = DimAttr(1)


def positive_dim(value: DeviceTensor, dim: int, extra: int = 0) -> int:
    """A dimension counted from the front. Refuses one that is not there."""
    rank = value.rank + extra
    if not isinstance(dim, int) or not -max(rank, 1) <= dim < max(rank, 1):
        unsupported(f"{describe(value)} has no dimension {dim}")
    return dim % rank if rank else 0


def shape_dims(shape: Sequence[Any]) -> list[DimAttr]:
    """Dimensions of a shape made of numbers, tiles and block sizes. A size of an open loop's block takes its tag."""
    return [size_dim(size) for size in shape]


def size_dim(size: Any) -> DimAttr:
    """The dimension that one size of a shape means."""
    tracer = current()
    if isinstance(size, TileRange):
        return size.dim
    if isinstance(size, BlockSize):
        tag = size.tag if size.tag in tracer.ranges else _open_tag(size)
        return DimAttr(int(size), tag)
    if isinstance(size, Index | DeviceTensor):
        unsupported("a size must be known while the kernel is imported", "use a tile, a block size or a number")
    return DimAttr(int(size))


def _open_tag(size: BlockSize) -> str:
    """The tag of the one open loop that walks blocks of this size, or none."""
    tracer = current()
    if size.block is None:
        return ""
    tags = [tag for tag in tracer.ranges if tracer.range_blocks.get(tag) is size.block]
    return tags[0] if len(tags) == 1 else ""


def listed(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """``f(2, 3)`` and ``f([2, 3])`` alike."""
    if len(args) == 1 and isinstance(args[0], list | tuple | torch.Size):
        return tuple(args[0])
    return args


def reshape_dims(value: DeviceTensor, dims: Sequence[DimAttr]) -> DeviceTensor:
    """The lanes under other dimensions."""
    dims = tuple(dims)
    if value.dims == dims:
        return value
    return DeviceTensor(current().emit(tile.ReshapeOp(value.ssa, TileType(dims, value.tile_type.element_type))))


def reshape(input: Any, *shape: Any, **kwargs: Any) -> DeviceTensor:
    """``reshape`` and ``view``: one dimension may be -1. Dimensions that stay as they are keep their loop."""
    value = as_tensor(input)
    sizes = listed(shape or tuple(kwargs.values()))
    if len(sizes) == 1 and isinstance(sizes[0], torch.dtype):
        from kopt.frontend.ops.elementwise import view_as

        return view_as(value, sizes[0])
    numbers = [int(size_dim(s).size.data) if not _is_free(s) else -1 for s in sizes]
    total, known = math.prod(value.tile_type.shape), math.prod(n for n in numbers if n != -1)
    if numbers.count(-1) > 1 or (known and total % known) or (-1 not in numbers and known != total):
        unsupported(f"{describe(value)} cannot be reshaped to {list(numbers)}")
    numbers = [total // known if n == -1 else n for n in numbers]
    return regroup(value, numbers)


def _is_free(size: Any) -> bool:
    return isinstance(size, int) and size == -1


def regroup(value: DeviceTensor, numbers: Sequence[int]) -> DeviceTensor:
    """Reshape: a dimension whose lanes stay one dimension keeps its tag; others are made plain first."""
    source = list(value.dims)
    kept = _kept(source, numbers)
    lost = [n for n, dim in enumerate(source) if dim.tag.data and dim.size.data != 1 and n not in kept.values()]
    value = untag(value, lost)
    return reshape_dims(value, [value.dims[kept[n]] if n in kept else DimAttr(size) for n, size in enumerate(numbers)])


def _kept(source: Sequence[DimAttr], numbers: Sequence[int]) -> dict[int, int]:
    """Result position -> source position of the dimensions that a reshape leaves alone."""
    if not math.prod(numbers):
        same = (number == dim.size.data for dim, number in zip(source, numbers, strict=False))
        return {n: n for n, _ in enumerate(itertools.takewhile(bool, same))}
    kept: dict[int, int] = {}
    i = j = 0
    while i < len(source) and j < len(numbers):
        size = source[i].size.data
        if size == numbers[j]:
            kept[j] = i
            i, j = i + 1, j + 1
        elif numbers[j] == 1:
            j += 1
        elif size == 1:
            i += 1
        else:
            i, j = _skip_group(source, numbers, i, j)
    return kept


def _skip_group(source: Sequence[DimAttr], numbers: Sequence[int], i: int, j: int) -> tuple[int, int]:
    """Past the smallest run of dimensions on both sides with as many lanes."""
    left, right = source[i].size.data, numbers[j]
    i, j = i + 1, j + 1
    while left != right:
        if left < right:
            left *= source[i].size.data
            i += 1
        else:
            right *= numbers[j]
            j += 1
    return i, j


def unsqueeze_at(value: DeviceTensor, dim: int) -> DeviceTensor:
    """One more dimension of 1."""
    dims = [*value.dims[:dim], ONE, *value.dims[dim:]]
    out = reshape_dims(value, dims)
    if value.lanes is not None:
        from dataclasses import replace

        axis = value.lanes.axis + (1 if dim <= value.lanes.axis else 0)
        out.lanes = replace(value.lanes, axis=axis, rank=value.lanes.rank + 1)
    return out


def unsqueeze(input: Any, dim: int) -> DeviceTensor:
    """``unsqueeze``."""
    value = as_tensor(input)
    return unsqueeze_at(value, positive_dim(value, dim, extra=1))


def squeeze(input: Any, *dims: Any, dim: Any = None) -> DeviceTensor:
    """Dimensions of 1 dropped: all of them, or those named."""
    value = as_tensor(input)
    named = listed(dims) if dims else range(value.rank) if dim is None else listed((dim,))
    drop = {positive_dim(value, d) for d in named if value.rank}
    return reshape_dims(value, [d for n, d in enumerate(value.dims) if n not in drop or d.size.data != 1])


def keep_dims(out: DeviceTensor, source: DeviceTensor, dims: Sequence[int]) -> DeviceTensor:
    """A reduced value with its lost dimensions as ones."""
    lost = set(dims)
    return reshape_dims(out, [ONE if n in lost else dim for n, dim in enumerate(source.dims)])


def permute(input: Any, *order: Any, dims: Any = None) -> DeviceTensor:
    """``permute``."""
    value = as_tensor(input)
    positions = [positive_dim(value, d) for d in listed(order if order else (dims,))]
    if positions == list(range(value.rank)):
        return value
    return DeviceTensor(current().emit(tile.TransposeOp(value.ssa, positions)))


def transpose(input: Any, dim0: int, dim1: int) -> DeviceTensor:
    """``transpose``."""
    value = as_tensor(input)
    order = list(range(value.rank))
    a, b = positive_dim(value, dim0), positive_dim(value, dim1)
    order[a], order[b] = order[b], order[a]
    return permute(value, order)


def t(input: Any) -> DeviceTensor:
    """The transposed matrix; vectors are their own."""
    value = as_tensor(input)
    return value if value.rank < 2 else transpose(value, 0, 1)


def expand(input: Any, *shape: Any) -> DeviceTensor:
    """``expand`` and ``broadcast_to``; -1 keeps a dimension."""
    value = as_tensor(input)
    sizes = listed(shape)
    shift = len(sizes) - value.rank
    dims = [
        value.dims[n - shift] if _is_free(s) or (n >= shift and _same(value.dims[n - shift], s)) else size_dim(s)
        for n, s in enumerate(sizes)
    ]
    return broadcast(value, tuple(dims))


def _same(dim: DimAttr, size: Any) -> bool:
    return isinstance(size, int) and dim.size.data == int(size) and size != 1


def expand_as(input: Any, other: Any) -> DeviceTensor:
    """``expand_as``."""
    return broadcast(as_tensor(input), as_tensor(other).dims)


def broadcast_tensors(*tensors: Any) -> tuple[DeviceTensor, ...]:
    """All over their common dimensions."""
    values = [as_tensor(v) for v in listed(tensors)]
    dims = common_dims(values)
    return tuple(broadcast(v, dims) for v in values)


def flatten(input: Any, start_dim: int = 0, end_dim: int = -1) -> DeviceTensor:
    """``flatten``."""
    value = as_tensor(input)
    if not value.rank:
        return reshape_dims(value, [ONE])
    first, last = positive_dim(value, start_dim), positive_dim(value, end_dim)
    sizes = value.tile_type.shape
    return regroup(value, [*sizes[:first], math.prod(sizes[first : last + 1]), *sizes[last + 1 :]])


def unflatten(input: Any, dim: int, sizes: Sequence[Any]) -> DeviceTensor:
    """``unflatten``."""
    value = as_tensor(input)
    at = positive_dim(value, dim)
    return reshape(value, [*value.shape[:at], *sizes, *value.shape[at + 1 :]])


def plain_dim(value: DeviceTensor, dim: int) -> DeviceTensor:
    """A dimension of no loop's, one of a single lane too; lanes outside its range become 0."""
    value = untag(value, [dim])
    return reshape_dims(value, [DimAttr(d.size.data) if n == dim else d for n, d in enumerate(value.dims)])


def slice_dim(value: DeviceTensor, dim: int, start: int, length: int, step: int = 1) -> DeviceTensor:
    """Some lanes of one dimension."""
    sizes = list(value.tile_type.shape)
    if start == 0 and length == sizes[dim] and step == 1:
        return value
    value = plain_dim(value, dim)
    offsets, strides = [0] * value.rank, [1] * value.rank
    offsets[dim], sizes[dim], strides[dim] = start, length, step
    return DeviceTensor(current().emit(tile.SliceOp(value.ssa, offsets, sizes, strides)))


def select(input: Any, dim: int, index: int) -> DeviceTensor:
    """One lane of a dimension, which disappears."""
    value = as_tensor(input)
    at = positive_dim(value, dim)
    size = value.tile_type.shape[at]
    out = slice_dim(value, at, index % size, 1)
    return reshape_dims(out, [d for n, d in enumerate(out.dims) if n != at])


def narrow(input: Any, dim: int, start: int, length: int) -> DeviceTensor:
    """``narrow``."""
    value = as_tensor(input)
    at = positive_dim(value, dim)
    return slice_dim(value, at, start % value.tile_type.shape[at], length)


def split(input: Any, split_size_or_sections: Any, dim: int = 0) -> tuple[DeviceTensor, ...]:
    """``split`` by a size or sizes."""
    value = as_tensor(input)
    at = positive_dim(value, dim)
    size, parts = value.tile_type.shape[at], split_size_or_sections
    if isinstance(parts, int):
        parts = [min(parts, size - start) for start in range(0, max(size, 1), parts)]
    starts = [sum(parts[:n]) for n in range(len(parts))]
    return tuple(slice_dim(value, at, start, length) for start, length in zip(starts, parts, strict=True))


def chunk(input: Any, chunks: int, dim: int = 0) -> tuple[DeviceTensor, ...]:
    """``chunk``."""
    value = as_tensor(input)
    size = value.tile_type.shape[positive_dim(value, dim)]
    return split(value, -(-size // chunks) if size else [0] * chunks, dim)


def tensor_split(input: Any, indices_or_sections: Any, dim: int = 0) -> tuple[DeviceTensor, ...]:
    """``tensor_split``."""
    value = as_tensor(input)
    size = value.tile_type.shape[positive_dim(value, dim)]
    cuts = indices_or_sections
    if isinstance(cuts, int):
        small, extra = divmod(size, cuts)
        return split(value, [small + (n < extra) for n in range(cuts)], dim)
    edges = [slice(*pair).indices(size) for pair in zip([None, *cuts], [*cuts, None], strict=True)]
    at = positive_dim(value, dim)
    return tuple(slice_dim(value, at, start, max(stop - start, 0)) for start, stop, _ in edges)


def unbind(input: Any, dim: int = 0) -> tuple[DeviceTensor, ...]:
    """``unbind``."""
    value = as_tensor(input)
    return tuple(select(value, dim, n) for n in range(value.tile_type.shape[positive_dim(value, dim)]))


def cat(tensors: Sequence[Any], dim: int = 0, **kwargs: Any) -> DeviceTensor:
    """``cat``; blocks of loops become plain, their invalid lanes 0."""
    from kopt.frontend.ops.elementwise import result_dtype

    values = [as_tensor(v) for v in tensors]
    dtype = result_dtype(tuple(values))
    at = positive_dim(values[0], kwargs.get("axis", dim))
    values = [v for v in values if v.tile_type.shape[at]] or values[:1]
    if len(values) > 1 and any(v.dims[at].tag.data in current().jagged for v in values):
        unsupported(
            "lanes of a jagged tile cannot stand beside others: their number differs from item to item",
            "combine each by itself: a.sum(1) + b.sum(1)",
        )
    values = [untag(cast(v, dtype), [at]) for v in values]
    if len(values) == 1:
        return values[0]
    rest = common_dims([slice_dim(v, at, 0, 1) for v in values])
    values = [broadcast(v, (*rest[:at], v.dims[at], *rest[at + 1 :])) for v in values]
    return DeviceTensor(current().emit(tile.ConcatOp([v.ssa for v in values], at)))


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
        value = DeviceTensor(current().emit(tile.TakeAlongOp(untag(value, [at]).ssa, order.ssa, at)))
    return value


def _backwards(lanes: DimAttr) -> DeviceTensor:
    """The numbers of a dimension's valid lanes from the last to the first."""
    last = valid_lanes(lanes.size.data, lanes.tag.data) - 1
    known = isinstance(last, int)
    numbers = DeviceTensor(current().emit(tile.ArangeOp(last if known else 0, -1, TileType([lanes], i32))))
    return numbers if known else cast(numbers + last, torch.int32)


def pad(input: Any, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> DeviceTensor:
    """``nn.functional.pad`` with a constant."""
    tensor = as_tensor(input)
    if mode != "constant" or any(n < 0 for n in pad):
        unsupported("pad adds constants only")
    for number in range(len(pad) // 2):
        at = tensor.rank - 1 - number
        before, after = (_edge(tensor, at, n, value or 0) for n in pad[2 * number : 2 * number + 2])
        tensor = cat([*before, tensor, *after], at)
    return tensor


def _edge(tensor: DeviceTensor, at: int, size: int, value: float) -> list[DeviceTensor]:
    """What a dimension is padded with: one constant, or nothing."""
    dims = (*tensor.dims[:at], DimAttr(size), *tensor.dims[at + 1 :])
    return [full_tensor(value, dims, tensor.dtype)] if size else []


def repeat(input: Any, *sizes: Any) -> DeviceTensor:
    """``repeat``: whole copies one after another."""
    value, times = as_tensor(input), listed(sizes)
    value = at_least(len(times), value)
    for at, number in enumerate(times):
        if number < 0 and value.tile_type.shape[at]:
            unsupported(f"dimension {at} of {value.tile_type.shape[at]} is repeated {number} times")
        value = cat([value] * number, at) if number > 0 else slice_dim(value, at, 0, 0)
    return value


def tile_lanes(input: Any, *sizes: Any, dims: Any = None) -> DeviceTensor:
    """``tile``: ``repeat`` where sizes may be left out at the front."""
    value, times = as_tensor(input), listed(sizes if dims is None else (dims,))
    return repeat(value, *[1] * (value.rank - len(times)), *times)


def repeat_interleave(input: Any, repeats: int, dim: int | None = None) -> DeviceTensor:
    """Each lane several times in a row."""
    value = as_tensor(input) if dim is not None else flatten(input)
    at = positive_dim(value, dim or 0)
    value = untag(value, [at])
    wide = unsqueeze_at(value, at + 1)
    wide = broadcast(wide, (*wide.dims[: at + 1], DimAttr(repeats), *wide.dims[at + 2 :]))
    sizes = value.tile_type.shape
    return regroup(wide, [*sizes[:at], sizes[at] * repeats, *sizes[at + 1 :]])


def movedim(input: Any, source: int, destination: int) -> DeviceTensor:
    """``movedim`` of one dimension."""
    value = as_tensor(input)
    order = [n for n in range(value.rank) if n != positive_dim(value, source)]
    order.insert(positive_dim(value, destination), positive_dim(value, source))
    return permute(value, order)


TABLE: dict[str, Callable[..., Any]] = {
    "reshape": reshape,
    "view": reshape,
    "view_as": lambda input, other: reshape(input, *as_tensor(other).shape),
    "reshape_as": lambda input, other: reshape(input, *as_tensor(other).shape),
    "unsqueeze": unsqueeze,
    "squeeze": squeeze,
    "permute": permute,
    "transpose": transpose,
    "t": t,
    "expand": expand,
    "broadcast_to": expand,
    "expand_as": expand_as,
    "broadcast_tensors": broadcast_tensors,
    "flatten": flatten,
    "ravel": flatten,
    "unflatten": unflatten,
    "select": select,
    "narrow": narrow,
    "split": split,
    "split_with_sizes": split,
    "chunk": chunk,
    "tensor_split": tensor_split,
    "unbind": unbind,
    "cat": cat,
    "stack": stack,
    "hstack": hstack,
    "vstack": lambda tensors: cat([at_least(2, v) for v in tensors], 0),
    "flip": flip,
    "pad": pad,
    "repeat": repeat,
    "tile": tile_lanes,
    "repeat_interleave": repeat_interleave,
    "movedim": movedim,
    "size": lambda input, dim=None: input.shape if dim is None else input.shape[dim],
    "dim": lambda input: input.ndim,
    "numel": lambda input: math.prod(input.tile_type.shape),
    "is_contiguous": lambda input: True,
}
