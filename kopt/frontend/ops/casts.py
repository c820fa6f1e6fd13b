"""Conversions, and what leaves a value as it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from kopt.dialects import tile
from kopt.frontend.broadcasting import cast
from kopt.frontend.dtypes import element_type
from kopt.frontend.state import current, unsupported
from kopt.frontend.values import DeviceTensor, as_tensor


def to(input: Any, *args: Any, dtype: torch.dtype | None = None, **_: Any) -> DeviceTensor:
    """``to`` and ``type``: the dtype among the arguments, or a number's; devices do not matter here."""
    if args and isinstance(args[0], float | bool):
        dtype = torch.bool if isinstance(args[0], bool) else torch.float64
    for value in (*args, dtype):
        if isinstance(value, torch.dtype):
            return cast(as_tensor(input), value)
        if isinstance(value, DeviceTensor | torch.Tensor):
            return cast(as_tensor(input), value.dtype)
    return as_tensor(input)


def _cast_to(dtype: torch.dtype) -> Callable[..., DeviceTensor]:
    return lambda input, *_, **__: cast(as_tensor(input), dtype)


def view_as(input: DeviceTensor, dtype: torch.dtype) -> DeviceTensor:
    """The bits as another dtype of the same width."""
    if dtype.itemsize != input.dtype.itemsize:
        unsupported(f"view from {input.dtype} to {dtype} changes the width", "use .to for a conversion", id="dtype")
    return DeviceTensor(current().emit(tile.BitcastOp(input.ssa, element_type(dtype))))


def _identity(input: Any, *_: Any, **__: Any) -> Any:
    return input


_CASTS = {
    "float": torch.float32,
    "double": torch.float64,
    "half": torch.float16,
    "bfloat16": torch.bfloat16,
    "int": torch.int32,
    "long": torch.int64,
    "short": torch.int16,
    "char": torch.int8,
    "byte": torch.uint8,
    "bool": torch.bool,
}

TABLE: dict[str, Callable[..., Any]] = {
    **{name: _cast_to(dtype) for name, dtype in _CASTS.items()},
    **dict.fromkeys(("to", "type", "type_as"), to),
    **dict.fromkeys(("contiguous", "clone", "detach", "cpu", "cuda", "item"), _identity),
    "is_floating_point": lambda input: input.dtype.is_floating_point,
    "element_size": lambda input: input.dtype.itemsize,
}
