"""``hl.rand``, ``hl.randint`` and ``hl.rand4x``: numbers that depend on a seed and on which element they are for.

An element's number is its place in the whole array that the shape's tiles walk, row by row, so that block sizes do not
matter. Bits, floats and integers are those of Helion and of Triton's ``tl.rand``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from xdsl.dialects.builtin import i32

from kopt.dialects import tile
from kopt.dialects.tile import DimAttr, TileType
from kopt.frontend.broadcasting import Dims, cast
from kopt.frontend.naming import named
from kopt.frontend.ops.shapes import listed, shape_dims
from kopt.frontend.registry import OPERATIONS
from kopt.frontend.state import current, unsupported
from kopt.frontend.values import DeviceTensor, as_tensor, describe, full_tensor, is_device

#: From 31 random bits to a float below 1: the largest scale for which none rounds up to it.
_SCALE = 4.6566127342e-10
_INT32 = 2**31


def rand(shape: Any, seed: Any, device: Any = None, offsets: Any = None) -> DeviceTensor:
    """``hl.rand``."""
    return uniform(_seeded(seed, _numbers(shape) if offsets is None else _given(offsets))[0])


def rand4x(seed: Any, offsets: Any, device: Any = None) -> tuple[DeviceTensor, ...]:
    """``hl.rand4x``."""
    return tuple(map(uniform, _seeded(seed, _given(offsets))))


def randint(shape: Any, low: Any, high: Any, seed: Any, device: Any = None) -> DeviceTensor:
    """``hl.randint``."""
    return ranged(_seeded(seed, _numbers(shape))[0], low, high)


def ranged(bits: DeviceTensor, low: Any, high: Any) -> DeviceTensor:
    """Words as integers from ``low`` up to but not including ``high``.

    ``low`` plus the remainder of the magnitude, which is held negative: that of -2**31 needs no wider type then.
    """
    for bound in (low, high):
        if not isinstance(bound, int) or isinstance(bound, bool):
            unsupported(
                f"randint needs bounds known while the kernel is imported, found {describe(bound)}", id="operand"
            )
    if low >= high:
        unsupported(f"randint needs low below high, found {low} and {high}", id="operand")
    negative, span = OPERATIONS["minimum"](bits, -bits), high - low
    return low - (OPERATIONS["fmod"](negative, span) if span <= _INT32 else negative)


def uniform(bits: DeviceTensor) -> DeviceTensor:
    """Words as floats in [0, 1)."""
    return (bits ^ (bits >> 31)).to(torch.float32) * _SCALE


def _seeded(seed: Any, offset: DeviceTensor) -> list[DeviceTensor]:
    if not current().on_device:
        unsupported(
            "random numbers by seed are made inside device loops", "use torch's on the host", id="outside-device-loop"
        )
    return words(_key(seed), offset)


def words(key: tuple[DeviceTensor, DeviceTensor], offset: DeviceTensor) -> list[DeviceTensor]:
    """The four words of each lane's number."""
    op = tile.PhiloxOp(offset.ssa, *(word.ssa for word in key))
    current().append(op)
    return [named(DeviceTensor(word), "bits") for word in op.words]


# the seed


def _key(seed: Any) -> tuple[DeviceTensor, DeviceTensor]:
    """The low and the high word of a seed, as scalars."""
    if isinstance(seed, int) and not isinstance(seed, bool):
        if not -(2**63) <= seed < 2**64:
            unsupported(f"a seed has 64 bits, found {seed}", id="operand")
        return full_tensor(int(seed), (), torch.int32), full_tensor(int(seed) >> 32, (), torch.int32)
    if isinstance(seed, torch.Tensor):
        return _host_key(current().host.meta(seed))
    value = as_tensor(seed) if is_device(seed) else None
    if value is None or any(dim.size.data != 1 for dim in value.dims) or not _counts(value.dtype):
        unsupported(f"a seed is one integer, found {describe(seed)}", id="operand")
    return _halves(value.reshape(()))


def _host_key(seed: torch.Tensor) -> tuple[DeviceTensor, DeviceTensor]:
    """Of a tensor of one element: 64 bits are taken apart on the host, since not every device has them."""
    if seed.numel() != 1 or not _counts(seed.dtype):
        unsupported(f"a seed is one integer, found {describe(seed)}", id="operand")
    host, seed = current().host, seed.reshape(())
    if seed.dtype.itemsize < 8:
        return _halves(host.load_whole(seed))
    return host.load_whole(seed.to(torch.int32)), host.load_whole((seed >> 32).to(torch.int32))


def _halves(value: DeviceTensor) -> tuple[DeviceTensor, DeviceTensor]:
    wide = value.dtype.itemsize == 8 or value.dtype == torch.uint32
    value = cast(value, torch.int64 if wide else torch.int32)
    return cast(value, torch.int32), cast(value >> (32 if wide else 31), torch.int32)


def _counts(dtype: torch.dtype) -> bool:
    return not dtype.is_floating_point and dtype != torch.bool


# the elements' numbers


def _given(offsets: Any) -> DeviceTensor:
    """Numbers that the kernel computed."""
    if not is_device(offsets) or not _counts(offsets.dtype):
        unsupported(
            f"offsets are a device tensor of integers, found {describe(offsets)}",
            "use hl.tile_index(tile)",
            id="operand",
        )
    value = as_tensor(offsets)
    narrow = value.dtype.itemsize < 4 or value.dtype == torch.int32
    return cast(value, torch.int32 if narrow else torch.int64)


def _numbers(shape: Any) -> DeviceTensor:
    return numbers(tuple(shape_dims(listed((shape,)))))


def numbers(dims: Dims) -> DeviceTensor:
    """The place of each element in the whole array that a shape's tiles and numbers span."""
    strides = _strides(dims)
    wide = sum(stride * (_end(dim) - 1) for stride, dim in zip(strides, dims, strict=True)) >= _INT32
    total = full_tensor(0, dims, torch.int32) if not dims else None
    for axis, stride in enumerate(strides):
        lanes = cast(_lanes(dims[axis]), torch.int64 if wide else torch.int32)
        term = _along(lanes if stride == 1 else lanes * stride, axis, dims)
        total = term if total is None else total + term
    return named(total, "offset")


def _strides(dims: Dims) -> list[int]:
    """How far the next element of each dimension is. Refuses where a loop's extent, needed for that, is not known."""
    strides = [1] * len(dims)
    for axis in range(len(dims) - 1, 0, -1):
        extent = _extent(dims[axis])
        if extent is None:
            unsupported(
                "elements are numbered by the extents of all dimensions but the first, and this loop's is not known",
                "pass offsets=… to hl.rand, or loop over the whole dimension",
                id="operand",
            )
        strides[axis - 1] = strides[axis] * extent
    return strides


def _extent(dim: DimAttr) -> int | None:
    tag = dim.tag.data
    if tag in current().jagged:
        return None
    return current().extents[tag] if tag else dim.size.data


def _end(dim: DimAttr) -> int:
    """One past the last number of a dimension's elements; those that a loop of unknown end counts fit 31 bits."""
    tag = dim.tag.data
    end = current().ends[tag] if tag else dim.size.data
    return _INT32 if end is None else end


def _lanes(dim: DimAttr) -> DeviceTensor:
    """The number of each lane of a dimension."""
    tag = dim.tag.data
    op = tile.IndexOp(current().ranges[tag]) if tag else tile.ArangeOp(0, 1, TileType([dim], i32))
    return DeviceTensor(current().emit(op))


def _along(value: DeviceTensor, axis: int, dims: Sequence[DimAttr]) -> DeviceTensor:
    """One dimension's lanes over all dimensions."""
    if len(dims) == 1:
        return value
    return DeviceTensor(
        current().emit(tile.BroadcastOp(value.ssa, [axis], TileType(dims, value.tile_type.element_type)))
    )


FUNCTIONS = {"rand": rand, "rand4x": rand4x, "randint": randint}
