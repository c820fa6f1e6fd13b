"""Operations that take some lanes of a dimension: slices, select, split."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kopt.dialects import tile
from kopt.dialects.tile import DimAttr
from kopt.frontend.broadcasting import untag
from kopt.frontend.ops.shapes import positive_dim, reshape_dims
from kopt.frontend.positions import fixed, from_front, together
from kopt.frontend.state import current
from kopt.frontend.values import (
    DeviceTensor,
    as_tensor,
)


def plain_dim(value: DeviceTensor, dim: int) -> DeviceTensor:
    """A dimension of no loop's, one of a single lane too; lanes outside its range stay invalid."""
    value = untag(value, [dim])
    return reshape_dims(value, [DimAttr(d.size.data) if n == dim else d for n, d in enumerate(value.dims)])


def slice_dim(value: DeviceTensor, dim: int, start: int, length: int, step: int = 1) -> DeviceTensor:
    """Some lanes of one dimension, counted among the valid ones."""
    sizes = list(value.tile_type.shape)
    if start == 0 and length == sizes[dim] and step == 1:
        return value
    value = plain_dim(together(value, dim), dim)
    offsets, strides = [0] * value.rank, [1] * value.rank
    offsets[dim], sizes[dim], strides[dim] = start, length, step
    return DeviceTensor(current().emit(tile.SliceOp(value.ssa, offsets, sizes, strides)))


def lane(value: DeviceTensor, dim: int, number: int) -> DeviceTensor:
    """One lane of a dimension, which disappears."""
    out = slice_dim(value, dim, number, 1)
    return reshape_dims(out, [d for n, d in enumerate(out.dims) if n != dim])


def select(input: Any, dim: int, index: int) -> DeviceTensor:
    """``select``. Refuses a lane that the last block may not have."""
    value = as_tensor(input)
    at = positive_dim(value, dim)
    if index != 0:
        from_front(value, at, f"lane {index}")
    return lane(value, at, index % value.tile_type.shape[at])


def narrow(input: Any, dim: int, start: int, length: int) -> DeviceTensor:
    """``narrow``."""
    value = as_tensor(input)
    at = positive_dim(value, dim)
    from_front(value, at, f"narrow from {start}")
    fixed((start, length), "a bound")
    return slice_dim(value, at, start % value.tile_type.shape[at], length)


def split(input: Any, split_size_or_sections: Any, dim: int = 0) -> tuple[DeviceTensor, ...]:
    """``split`` by a size or sizes."""
    value = as_tensor(input)
    at = positive_dim(value, dim)
    size, parts = value.tile_type.shape[at], split_size_or_sections
    if parts not in (size, [size], (size,)):
        from_front(value, at, "the number of parts")
    fixed(parts, "a size of a part")
    if isinstance(parts, int):
        parts = [min(parts, size - start) for start in range(0, max(size, 1), parts)]
    starts = [sum(parts[:n]) for n in range(len(parts))]
    return tuple(slice_dim(value, at, start, length) for start, length in zip(starts, parts, strict=True))


def chunk(input: Any, chunks: int, dim: int = 0) -> tuple[DeviceTensor, ...]:
    """``chunk``."""
    value = as_tensor(input)
    fixed(chunks, "a number of parts")
    size = value.tile_type.shape[positive_dim(value, dim)]
    return split(value, -(-size // chunks) if size else [0] * chunks, dim)


def tensor_split(input: Any, indices_or_sections: Any, dim: int = 0) -> tuple[DeviceTensor, ...]:
    """``tensor_split``."""
    value = as_tensor(input)
    size = value.tile_type.shape[positive_dim(value, dim)]
    cuts = indices_or_sections
    fixed(cuts, "a number of parts")
    if isinstance(cuts, int):
        small, extra = divmod(size, cuts)
        return split(value, [small + (n < extra) for n in range(cuts)], dim)
    edges = [slice(*pair).indices(size) for pair in zip([None, *cuts], [*cuts, None], strict=True)]
    at = positive_dim(value, dim)
    if any(cut < 0 for cut in cuts):
        from_front(value, at, "a cut counted from the end")
    return tuple(slice_dim(value, at, start, max(stop - start, 0)) for start, stop, _ in edges)


def unbind(input: Any, dim: int = 0) -> tuple[DeviceTensor, ...]:
    """``unbind``."""
    value = as_tensor(input)
    at = positive_dim(value, dim)
    from_front(value, at, "the number of lanes")
    return tuple(select(value, dim, n) for n in range(value.tile_type.shape[at]))


TABLE: dict[str, Callable[..., Any]] = {
    "select": select,
    "narrow": narrow,
    "split": split,
    "split_with_sizes": split,
    "chunk": chunk,
    "tensor_split": tensor_split,
    "unbind": unbind,
}
