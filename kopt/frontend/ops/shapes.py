"""Operations that give lanes other dimensions: reshape, transpose, expand."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from kopt.dialects import tile
from kopt.dialects.tile import DimAttr, TileType
from kopt.frontend.block_size import BlockSize
from kopt.frontend.broadcasting import broadcast, common_dims, note_merged
from kopt.frontend.lane_counts import count, is_known, lanes_of_block, length_of_lanes, open_tag
from kopt.frontend.lengths import Length, agreed, always, computed
from kopt.frontend.ops.casts import view_as
from kopt.frontend.positions import together
from kopt.frontend.ragged import Form, is_ragged, reshaped
from kopt.frontend.state import current, unsupported
from kopt.frontend.values import DeviceTensor, Index, TileRange, as_tensor, describe

ONE = DimAttr(1)


def positive_dim(value: DeviceTensor, dim: int, extra: int = 0) -> int:
    """A dimension counted from the front. Refuses one that is not there."""
    rank = value.rank + extra
    if dim is None:
        unsupported("which dimension is not said", "say it: dim=-1 is the last one", id="shapes")
    if not isinstance(dim, int) or not -max(rank, 1) <= dim < max(rank, 1):
        unsupported(f"{describe(value)} has no dimension {dim}", id="shapes")
    return dim % rank if rank else 0


def shape_dims(shape: Sequence[Any]) -> list[DimAttr]:
    """Dimensions of a shape made of numbers, tiles and block sizes. A size of an open loop's block takes its tag."""
    return [size_dim(size) for size in shape]


def size_dim(size: Any) -> DimAttr:
    """The dimension that one size of a shape means."""
    if isinstance(size, TileRange):
        return size.dim
    if isinstance(size, BlockSize):
        tag = open_tag(size)
        if not tag and agreed(computed(int, size.length())) != [size.lanes]:
            unsupported(
                "the last block has fewer lanes than this size says, and no dimension of a loop tells which",
                "use torch.zeros_like, torch.ones_like or torch.full_like of a value with that dimension",
                "or choose a block size that divides the distance walked",
                id="ragged-lanes",
            )
        size.note(read=not tag)
        return DimAttr(size.lanes, tag)
    if isinstance(size, Index | DeviceTensor):
        unsupported(
            "a size must be known while the kernel is imported",
            "use a tile, a block size or a number",
            id="not-known-at-import",
        )
    return DimAttr(int(size))


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
        return view_as(value, sizes[0])
    if sum(map(_is_free, sizes)) > 1 or any(isinstance(size, Index | DeviceTensor) for size in sizes):
        unsupported(
            f"{describe(value)} cannot be reshaped to sizes that are not known while the kernel is imported",
            id="not-known-at-import",
        )
    numbers = [-1 if _is_free(size) else _lanes_in(size) for size in sizes]
    total, known = math.prod(value.tile_type.shape), math.prod(n for n in numbers if n != -1)
    fits = (known > 0 and total % known == 0) if -1 in numbers else known == total
    if not fits:
        unsupported(f"{describe(value)} cannot be reshaped to {list(numbers)}", id="shapes")
    wanted = {n: _wanted(size) for n, size in enumerate(sizes) if not _is_free(size)}
    return regroup(value, [total // known if n == -1 else n for n in numbers], wanted)


def _is_free(size: Any) -> bool:
    return isinstance(size, int) and not isinstance(size, BlockSize) and size == -1


def _lanes_in(size: Any) -> int:
    """The number that one size of a new shape is."""
    if isinstance(size, BlockSize):
        size.note(read=not open_tag(size))
        return size.lanes
    return size_dim(size).size.data


def _wanted(size: Any) -> Length | int:
    """How many lanes it says that there are, in every block."""
    if isinstance(size, TileRange):
        return lanes_of_block(size.tag, size.dim.size.data)
    return size.length() if isinstance(size, BlockSize) else int(size)


def regroup(
    value: DeviceTensor, numbers: Sequence[int], wanted: Mapping[int, Length | int] | None = None
) -> DeviceTensor:
    """Reshape: a dimension whose lanes stay one dimension keeps its tag; the lanes of others stay valid or not.

    ``wanted`` are the lanes that dimensions must have in every block; the others follow.
    """
    value = _splittable(value, numbers)
    found = reshaped(value.ssa, numbers)
    if found is None or not _has_as_many(value, found[0], {} if 0 in numbers else wanted or {}):
        unsupported(
            f"{describe(value)} has fewer lanes in the last block, which [{', '.join(map(str, numbers))}] would mix",
            "let the dimension that holds the block's lanes be the outermost of those that it is merged with, "
            "and give its size as tile.block_size or -1",
            "or choose a block size that divides the distance walked",
            id="ragged-lanes",
        )
    kept = found[1]
    note_merged(value, [n for n in range(value.rank) if n not in kept.values()])
    return reshape_dims(value, [value.dims[kept[n]] if n in kept else DimAttr(size) for n, size in enumerate(numbers)])


def _has_as_many(value: DeviceTensor, places, wanted: Mapping[int, Length | int]) -> bool:
    """Whether the dimensions have as many lanes as they must, in every block."""
    return _are_there(value, places, wanted) and _divides(value, wanted, places)


def _splittable(value: DeviceTensor, numbers: Sequence[int]) -> DeviceTensor:
    """Dimensions that are split have their valid lanes first."""
    if reshaped(value.ssa, numbers) is None:
        for dim in range(value.rank):
            value = together(value, dim)
    return value


def _are_there(value: DeviceTensor, found: Form, wanted: Mapping[int, Length | int]) -> bool:
    """Whether dimensions have the lanes in every block that their sizes say: torch counts those that are there."""
    return all(
        always(operator.eq, length_of_lanes(found[n], (value.ssa, "reshaped", n)), length)
        for n, length in wanted.items()
        if any(atom.ragged for atom in found[n]) or isinstance(length, Length)
    )


def _divides(value: DeviceTensor, wanted: Mapping[int, Length | int], found: Form) -> bool:
    """Whether the last block has as many elements as its sizes say, as far as that is known."""
    elements = count(value.ssa)
    if not elements.blocks or not wanted:
        return True
    places = [length_of_lanes(lanes, (value.ssa, "reshaped", n)) for n, lanes in enumerate(found)]
    sizes = list(wanted.values()) if len(wanted) == len(found) else places
    known = len(wanted) == len(found) or all(map(is_known, elements.blocks))
    return not known or always(lambda total, *sizes: total == math.prod(sizes), elements, *sizes)


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


def _is_one_when_short(value: DeviceTensor, dim: int, size: Any) -> bool:
    """Whether torch would repeat the only lane of a last block, to a number that is the size of the others."""
    return (
        isinstance(size, int)
        and not isinstance(size, BlockSize)
        and size == value.dims[dim].size.data != 1
        and (is_ragged(value.ssa, dim))
    )


def expand(input: Any, *shape: Any) -> DeviceTensor:
    """``expand`` and ``broadcast_to``; -1 keeps a dimension."""
    value = as_tensor(input)
    sizes = listed(shape)
    shift = len(sizes) - value.rank
    if any(_is_one_when_short(value, n - shift, size) for n, size in enumerate(sizes) if n >= shift):
        unsupported(
            f"{describe(value)} has fewer lanes in the last block than the sizes that it goes to",
            "give -1 or the tile for a dimension that stays as it is",
            id="ragged-lanes",
        )
    dims = [
        value.dims[n - shift] if _is_free(s) or (n >= shift and _same(value.dims[n - shift], s)) else size_dim(s)
        for n, s in enumerate(sizes)
    ]
    return broadcast(value, tuple(dims))


def _same(dim: DimAttr, size: Any) -> bool:
    if isinstance(size, BlockSize) and size.tag:
        return size.tag == dim.tag.data
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
    "movedim": movedim,
    "size": lambda input, dim=None: input.shape if dim is None else input.shape[dim],
    "dim": lambda input: input.ndim,
    "numel": lambda input: input.shape.numel(),
    "is_contiguous": lambda input: True,
}
