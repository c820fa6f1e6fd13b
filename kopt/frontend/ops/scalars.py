"""Tensors without dimensions where a dimension is named: to torch they are vectors of one element."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from kopt.frontend.ops.shapes import ONE, reshape_dims
from kopt.frontend.values import DeviceTensor


def with_scalars(table: Mapping[str, Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
    """Operations along a dimension, which take tensors without one too and then give such."""
    return {name: _with_scalars(operation) for name, operation in table.items()}


def _with_scalars(operation: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(operation)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        if not _is_scalar_alone(args, kwargs):
            return operation(*args, **kwargs)
        return _scalars(operation(reshape_dims(args[0], [ONE]), *args[1:], **kwargs))

    return wrapped


def _is_scalar_alone(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
    """Whether the first operand has no dimensions, and there is no other whose shape matters."""
    tensors = [value for value in (*args, *kwargs.values()) if isinstance(value, DeviceTensor)]
    return len(tensors) == 1 and tensors[0] is args[0] and not tensors[0].rank if args and tensors else False


def _scalars(result: Any) -> Any:
    if isinstance(result, DeviceTensor):
        return reshape_dims(result, ())
    parts = [_scalars(part) for part in result]
    return type(result)(*parts) if hasattr(result, "_fields") else tuple(parts)
