"""Lanes of a block picked by their numbers: each must be one that the block has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from kopt.errors import AccessError


def _check(name: str, value: Any, dim: int, numbers: Any) -> None:
    """Raises `AccessError` for the number of a lane that there is not."""
    size, dim = (value.shape[dim], dim % value.ndim) if value.ndim else (1, 0)
    plain = numbers.as_subclass(torch.Tensor)
    if (outside := plain[(plain < 0) | (plain >= size)]).numel():
        raise AccessError(f"'{name}' picks lane {int(outside[0])} of dimension {dim}, which has {size}")


def _gather(input: Any, dim: int, index: Any, sparse_grad: bool = False) -> Any:
    _check("torch.gather", input, dim, index)
    return torch.gather(input, dim, index)


def _index_select(input: Any, dim: int, index: Any) -> Any:
    _check("torch.index_select", input, dim, index)
    return torch.index_select(input, dim, index)


def _take_along_dim(input: Any, indices: Any, dim: int | None = None) -> Any:
    if dim is None:
        input, indices, dim = input.reshape(-1), indices.reshape(-1), 0
    _check("torch.take_along_dim", input, dim, indices)
    return torch.take_along_dim(input, indices, dim)


PICKING: dict[str, Callable[..., Any]] = {
    "gather": _gather,
    "index_select": _index_select,
    "take_along_dim": _take_along_dim,
}
