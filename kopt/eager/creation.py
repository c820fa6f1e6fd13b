"""Tensors that a kernel makes in device loops: of tiles, block sizes and numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from kopt.eager.blocks import Block, block
from kopt.eager.state import current, refuse
from kopt.eager.tiles import Tile, real_size, slice_bound
from kopt.eager.values import BlockSize, Number


def poisoned(value: torch.Tensor) -> torch.Tensor:
    """New memory: NaN, or a number that nothing computes, so that reading it before it is written shows."""
    if value.device.type != "meta":
        value.fill_(_poison(value.dtype))
    return value


def _poison(dtype: torch.dtype) -> Any:
    if dtype.is_floating_point or dtype.is_complex:
        return float("nan")
    return True if dtype == torch.bool else 0x5A5A5A5A & ((1 << (8 * dtype.itemsize - 1)) - 1)


def full(shape: Any, value: Any, dtype: torch.dtype | None = None, device: Any = None) -> Block:
    """``hl.full`` and ``torch.full``: a number or a device scalar in every lane."""
    listed = shape if isinstance(shape, list | tuple) else [shape]
    dims = [real_size(size) for size in listed]
    if not current().on_device:
        refuse(
            "device values are made inside device loops", "use torch's functions before them", id="outside-device-loop"
        )
    sizes = [size for size, _ in dims]
    if isinstance(value, torch.Tensor):
        filled = value.to(dtype or value.dtype).expand(sizes).clone()
    else:
        number = int(value) if isinstance(value, Number | BlockSize) else value
        filled = torch.full(sizes, number, device=device or current().device)
        filled = filled if dtype is None else filled.to(dtype)
    return block(filled, [axis for _, axis in dims])


def hl_full(shape: Any, value: Any, dtype: torch.dtype | None = torch.float32, device: Any = None) -> Block:
    """``hl.full``."""
    return full(shape, value, dtype or torch.float32)


def hl_zeros(shape: Any, dtype: torch.dtype | None = torch.float32, device: Any = None) -> Block:
    """``hl.zeros``."""
    return full(shape, 0, dtype or torch.float32)


def arange(*bounds: Any, dtype: torch.dtype | None = None, device: Any = None, **kwargs: Any) -> Block:
    """Whole numbers in order, int32 as the numbers of tiles are; of a tile or block size, of the block under way."""
    bounds = (*bounds, *(kwargs[name] for name in ("start", "end", "step") if name in kwargs))
    if len(bounds) == 1 or (len(bounds) == 2 and type(bounds[0]) is int and bounds[0] == 0):
        size, axis = real_size(bounds[-1])
        bounds, axes = (size,), (axis,)
    else:
        axes = (_between(*bounds[:2]) if len(bounds) < 3 or int(bounds[2]) == 1 else None,)
        bounds = tuple(slice_bound(bound) for bound in bounds)
        if axes[0] is not None:
            bounds = (bounds[0], bounds[0] + axes[0].size)
    return block(torch.arange(*bounds, dtype=dtype or torch.int32, device=current().device), axes, True)


def _between(start: Any, end: Any) -> Any:
    """The loop whose block goes from ``start`` on, as ``arange(tile.begin, tile.begin + tile.block_size)`` does."""
    axis = getattr(start, "axis", None)
    same = axis is not None and int(start) == axis.begin and int(end) - int(start) in (axis.block_size, axis.size)
    return axis if same else None


def _listed(args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:
    """``f(2, 3)`` and ``f([2, 3])`` alike."""
    given = args or (kwargs.pop("size"),)
    return list(given[0]) if len(given) == 1 and isinstance(given[0], list | tuple) else list(given)


def _of(number: Any) -> Callable[..., Block]:
    def make(func: Any, args: Any, kwargs: Any) -> Block:
        return full(_listed(args, kwargs), number, kwargs.get("dtype") or torch.get_default_dtype())

    return make


def _empty(func: Any, args: Any, kwargs: Any) -> Block:
    return poisoned(_of(0)(func, args, kwargs))  # pyright: ignore[reportReturnType]


def _full(func: Any, args: Any, kwargs: Any) -> Block:
    value = args[1] if len(args) > 1 else kwargs["fill_value"]
    shape = args[0] if args else kwargs["size"]
    dtype = kwargs.get("dtype") or (torch.int64 if isinstance(value, int) and not isinstance(value, bool) else None)
    return full(shape, value, dtype)


def _arange(func: Any, args: Any, kwargs: Any) -> Block:
    if any(isinstance(bound, float) for bound in args):
        return block(func(*args, **kwargs))
    kwargs = {key: value for key, value in kwargs.items() if key not in ("device", "out", "requires_grad")}
    return arange(*args, **kwargs)


def _new(number: Any) -> Callable[..., Any]:
    """``x.new_zeros(…)``: of a value's dtype."""

    def make(func: Any, args: Any, kwargs: Any) -> Block:
        given = list(args[1:])
        value = number if number is not None else kwargs.pop("fill_value", None)
        if number is None and value is None:
            value = given.pop()
        made = full(_listed(given, kwargs), value, kwargs.get("dtype") or args[0].dtype)
        return poisoned(made) if func.__name__ == "new_empty" else made  # pyright: ignore[reportReturnType]

    return make


def _like(func: Any, args: Any, kwargs: Any) -> Block:
    value = args[0].index if isinstance(args[0], Tile) else args[0]
    number = {"device": None, **kwargs}
    number.pop("device")
    made = block(func(value, *args[1:], **number), getattr(value, "axes", None))
    return poisoned(made) if func.__name__ == "empty_like" else made  # pyright: ignore[reportReturnType]


def _literal(func: Any, args: Any, kwargs: Any) -> Block:
    data = args[0]
    if isinstance(data, torch.Tensor):
        return block(func(data, **kwargs), getattr(data, "axes", None))
    number = int(data) if isinstance(data, Number | BlockSize) else data
    return block(func(number, *args[1:], **{"device": current().device, **kwargs}))


CREATION: dict[str, Callable[..., Any]] = {
    "zeros": _of(0),
    "ones": _of(1),
    "empty": _empty,
    "full": _full,
    "arange": _arange,
    "new_zeros": _new(0),
    "new_ones": _new(1),
    "new_empty": _new(0),
    "new_full": _new(None),
    **dict.fromkeys(("zeros_like", "ones_like", "full_like", "empty_like"), _like),
    **dict.fromkeys(("tensor", "as_tensor", "scalar_tensor"), _literal),
}
