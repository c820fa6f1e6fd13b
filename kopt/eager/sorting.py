"""Sorting in the language is stable: of equal elements the first ones come first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch


def _sort(x: Any, dim: int = -1, descending: bool = False, stable: bool = True) -> Any:
    return torch.sort(x, dim=dim, descending=descending, stable=True)


def _msort(x: Any) -> Any:
    return _sort(x, 0)[0]


def _argsort(x: Any, dim: int = -1, descending: bool = False, stable: bool = True) -> Any:
    return _sort(x, dim, descending)[1]


def _topk(x: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    values, indices = _sort(x, dim, largest)
    return torch.return_types.topk((values.narrow(dim, 0, k), indices.narrow(dim, 0, k)))


def _kthvalue(x: Any, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    values, indices = (part.narrow(dim, k - 1, 1) for part in _sort(x, dim))
    parts = (values, indices) if keepdim else (values.squeeze(dim), indices.squeeze(dim))
    return torch.return_types.kthvalue(parts)


SORTING: dict[str, Callable[..., Any]] = {
    "sort": _sort,
    "msort": _msort,
    "argsort": _argsort,
    "topk": _topk,
    "kthvalue": _kthvalue,
}
