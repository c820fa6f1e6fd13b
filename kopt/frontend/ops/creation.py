"""Tensors made in a device loop: constants and lane numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from kopt.dialects import tile
from kopt.dialects.tile import TileType
from kopt.frontend.block_size import BlockSize
from kopt.frontend.broadcasting import broadcast, cast
from kopt.frontend.distances import distance, linear
from kopt.frontend.ops.joining import stack
from kopt.frontend.ops.rules import convert
from kopt.frontend.ops.shapes import listed, shape_dims
from kopt.frontend.positions import fixed, like
from kopt.frontend.state import current, unsupported
from kopt.frontend.values import (
    DeviceTensor,
    Index,
    LaneNumbers,
    as_tensor,
    counted,
    full_tensor,
    index_ssa,
    is_device,
    is_number,
)


def full(size: Any, fill_value: Any, dtype: torch.dtype | None = None, **_: Any) -> DeviceTensor:
    """``full``: a number or a device scalar in every lane."""
    dims = tuple(shape_dims(size if isinstance(size, list | tuple | torch.Size) else [size]))
    fill_value = counted(fill_value)
    if is_number(fill_value):
        return full_tensor(fill_value, dims, dtype or _default(fill_value))
    return broadcast(convert(fill_value, dtype or _default(fill_value)), dims)


def _default(value: Any) -> torch.dtype:
    """torch's dtype of a value: numbers of loops are Python integers to it."""
    if isinstance(value, bool):
        return torch.bool
    if isinstance(value, int | Index):
        return torch.int64
    return torch.get_default_dtype() if is_number(value) else as_tensor(value).dtype


def _filled(number: int) -> Callable[..., DeviceTensor]:
    def operation(*size: Any, dtype: torch.dtype | None = None, **kwargs: Any) -> DeviceTensor:
        return full(listed(size or (kwargs["size"],)), number, dtype or torch.get_default_dtype())

    return operation


def _filled_like(number: int) -> Callable[..., DeviceTensor]:
    def operation(input: Any, *, dtype: torch.dtype | None = None, **_: Any) -> DeviceTensor:
        value = as_tensor(input)
        return like(full_tensor(number, value.dims, dtype or value.dtype), value)

    return operation


def full_like(input: Any, fill_value: Any, *, dtype: torch.dtype | None = None, **_: Any) -> DeviceTensor:
    """``full_like``."""
    value = as_tensor(input)
    return like(broadcast(convert(fill_value, dtype or value.dtype), value.dims), value)


def _new_filled(number: int) -> Callable[..., DeviceTensor]:
    def operation(input: Any, *size: Any, dtype: torch.dtype | None = None, **kwargs: Any) -> DeviceTensor:
        return full(listed(size or (kwargs["size"],)), number, dtype or input.dtype)

    return operation


def new_full(input: Any, size: Sequence[Any], fill_value: Any, *, dtype: torch.dtype | None = None, **_: Any) -> Any:
    """``new_full``."""
    return full(size, fill_value, dtype or input.dtype)


def arange(*bounds: Any, dtype: torch.dtype | None = None, step: Any = None, **kwargs: Any) -> DeviceTensor:
    """``arange`` of static length; it may begin at a device number."""
    bounds = (*bounds, *(kwargs[name] for name in ("start", "end") if name in kwargs))
    start, end = (0, bounds[0]) if len(bounds) == 1 else bounds[:2]
    step = bounds[2] if len(bounds) > 2 else 1 if step is None else step
    if not isinstance(step, int) or step < 1:
        unsupported("arange needs a positive step that is known while the kernel is imported", id="not-known-at-import")
    if is_device(start) or is_device(end):
        return _from_device(start, end, step, dtype)
    if step == 1 and not start and isinstance(end, BlockSize):
        return lane_numbers(range(end.lanes), end, dtype)
    fixed((start, end, step), "a bound of arange")
    return lane_numbers(range(int(start), int(end), step), end if step == 1 and not start else None, dtype)


def _from_device(start: Any, end: Any, step: int, dtype: torch.dtype | None) -> DeviceTensor:
    """``arange`` between device numbers: as many lanes as a block where they are that far apart and begin with it."""
    first = index_ssa(start)
    length = distance(first, index_ssa(end))
    if length is None or length < 1:
        unsupported(
            "arange has a length that is known while the kernel is imported",
            "write hl.arange(begin, begin + n) with a number n, or begin + hl.arange(n)",
            id="not-known-at-import",
        )
    count = -(-length // step)
    lanes = lane_numbers(range(0, count * step, step), _block_from(first, count), None) + Index(first)
    return cast(lanes, dtype or torch.int32)


def _block_from(start: SSAValue, count: int) -> Any:
    """The block that begins at a multiple of a number, if it has ``count`` lanes."""
    base = linear(start).base
    owner = None if base is None else base.owner
    if not isinstance(owner, tile.BeginOp) or not isinstance(type := owner.operands[0].type, tile.RangeType):
        return None
    return BlockSize(type.size, type.tag, current().range_blocks.get(type.tag)) if type.size == count else None


def lane_numbers(numbers: range, size: Any, dtype: torch.dtype | None) -> DeviceTensor:
    """The numbers of a Python range as lanes; ``size`` is the tile or block that gives the dimension, if any."""
    (dim,) = shape_dims([size if size is not None else len(numbers)])
    out = DeviceTensor(current().emit(tile.ArangeOp(numbers.start, numbers.step, TileType([dim], i32))))
    if numbers.step > 0 and numbers.start >= 0:
        out.lanes = LaneNumbers(0, 1, len(numbers), None, numbers.start, numbers.step, bool(dim.tag.data))
    return cast(out, dtype or torch.int32)


def tensor(data: Any, *, dtype: torch.dtype | None = None, **_: Any) -> DeviceTensor:
    """``tensor``: a number, or lists of numbers."""
    if isinstance(data, list | tuple):
        return stack([tensor(item, dtype=dtype) for item in data])
    data = counted(data)
    if is_number(data):
        return full_tensor(data, (), dtype or _default(data))
    return convert(data, dtype or _default(data))


def one_number(s: Any, *, dtype: torch.dtype | None = None, **_: Any) -> DeviceTensor:
    """``scalar_tensor``: a number in the default dtype, whatever it is in Python."""
    return tensor(s, dtype=dtype or torch.get_default_dtype())


_new = {"new_zeros": _new_filled(0), "new_ones": _new_filled(1), "new_empty": _new_filled(0), "new_full": new_full}
METHODS: dict[str, Callable[..., Any]] = {
    **_new,
    "zeros_like": _filled_like(0),
    "ones_like": _filled_like(1),
    "empty_like": _filled_like(0),
    "full_like": full_like,
    "new_tensor": lambda input, data, **kwargs: tensor(data, **{"dtype": input.dtype, **kwargs}),
}
TABLE: dict[str, Callable[..., Any]] = {
    "zeros": _filled(0),
    "ones": _filled(1),
    "empty": _filled(0),
    "full": full,
    "arange": arange,
    "tensor": tensor,
    "scalar_tensor": one_number,
    **METHODS,
}
