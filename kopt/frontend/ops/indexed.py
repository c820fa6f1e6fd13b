"""Operations that pick lanes of a device value by number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kopt.dialects import tile
from kopt.dialects.tile import DimAttr
from kopt.frontend.broadcasting import broadcast, defined
from kopt.frontend.ops.shapes import ONE, positive_dim, reshape_dims
from kopt.frontend.positions import together
from kopt.frontend.state import current, unsupported
from kopt.frontend.values import DeviceTensor, as_tensor, full_tensor


def gather(input: Any, dim: int, index: Any, **_: Any) -> DeviceTensor:
    """``gather`` and ``take_along_dim``: lanes of ``dim`` by number, other dimensions as they are."""
    value, lanes = as_tensor(input), as_tensor(index)
    at = positive_dim(value, dim)
    if not value.rank:
        return broadcast(value, lanes.dims)
    if 0 in lanes.tile_type.shape:
        return full_tensor(0, lanes.dims, value.dtype)
    if lanes.rank != value.rank:
        unsupported("gather needs an index tensor of the input's rank", "add dimensions with None", id="shapes")
    value = defined(together(value, at), [at])
    value = broadcast(value, tuple(d if n == at else lanes.dims[n] for n, d in enumerate(value.dims)))
    return DeviceTensor(current().emit(tile.TakeAlongOp(value.ssa, lanes.ssa, at)))


def index_select(input: Any, dim: int, index: Any) -> DeviceTensor:
    """``index_select``: whole slices by number."""
    value, lanes = as_tensor(input), as_tensor(index)
    at = positive_dim(value, dim)
    if not value.rank:
        return value
    number = lanes.dims[0] if lanes.rank else DimAttr(1)
    lanes = reshape_dims(lanes, [number if n == at else ONE for n in range(value.rank)])
    lanes = broadcast(lanes, tuple(number if n == at else d for n, d in enumerate(value.dims)))
    return gather(value, at, lanes)


TABLE: dict[str, Callable[..., Any]] = {
    "gather": gather,
    "take_along_dim": lambda input, indices, dim: gather(input, dim, indices),
    "index_select": index_select,
}
