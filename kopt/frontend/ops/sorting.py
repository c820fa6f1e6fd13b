"""Sorting along a dimension: values and the places that they had."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from kopt.dialects import tile
from kopt.frontend.block_size import BlockSize
from kopt.frontend.broadcasting import cast
from kopt.frontend.dtypes import compute_dtype
from kopt.frontend.ops.reductions import ValuesIndices
from kopt.frontend.ops.shapes import positive_dim, unsqueeze_at
from kopt.frontend.ops.slicing import lane, slice_dim
from kopt.frontend.positions import fixed, together
from kopt.frontend.state import current, unsupported
from kopt.frontend.values import DeviceTensor, as_tensor


def sort(input: Any, dim: Any = -1, descending: bool = False, stable: bool | None = None) -> ValuesIndices:
    """``sort``, always stable; ``torch.sort(x, stable=…)`` too."""
    value = as_tensor(input)
    at = positive_dim(value, dim)
    value = together(value, at)
    wide = cast(value, torch.int32 if value.dtype == torch.bool else compute_dtype(value.dtype))
    op = tile.SortOp(wide.ssa, at, descending)
    current().append(op)
    return ValuesIndices(cast(DeviceTensor(op.sorted), value.dtype), cast(DeviceTensor(op.numbers), torch.int64))


def topk(input: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> ValuesIndices:
    """``topk``, always sorted; of equals the first ones."""
    value = as_tensor(input)
    at = positive_dim(value, dim)
    lanes = value.tile_type.shape[at]
    if isinstance(k, BlockSize) and k.tag and k.tag == value.tile_type.tags[at]:
        k.note()
        k = k.lanes
    fixed(k, "a number of lanes")
    if not isinstance(k, int) or not 0 <= int(k) <= lanes:
        unsupported(
            f"topk of {k} needs a number known while the kernel is imported, at most the {lanes} lanes",
            id="not-known-at-import",
        )
    ordered = sort(value, at, largest)
    return ValuesIndices(*(slice_dim(part, at, 0, int(k)) for part in ordered))


def kthvalue(input: Any, k: int, dim: int = -1, keepdim: bool = False) -> ValuesIndices:
    """``kthvalue``, counted from 1."""
    value = as_tensor(input)
    at = positive_dim(value, dim)
    fixed(k, "the number of a place")
    parts = [lane(part, at, k - 1) for part in sort(value, at)]
    return ValuesIndices(*(unsqueeze_at(part, at) if keepdim else part for part in parts))


TABLE: dict[str, Callable[..., Any]] = {
    "sort": sort,
    "argsort": lambda input, dim=-1, descending=False, stable=False: sort(input, dim, descending).indices,
    "msort": lambda input: sort(input, 0).values,
    "topk": topk,
    "kthvalue": kthvalue,
}
