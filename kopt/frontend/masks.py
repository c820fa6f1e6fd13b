"""Masks as indices of stores: ``x[mask] = value`` writes where the mask is true.

How many elements a mask selects is known to its data alone, so a block of them has no shape: loads and updates refuse.
"""

from __future__ import annotations

from typing import Any

import torch

from kopt.frontend.ops.rules import truth
from kopt.frontend.ops.shapes import unsqueeze_at
from kopt.frontend.state import current, unsupported
from kopt.frontend.values import DeviceTensor, TileRange, as_tensor, is_number


def is_mask(item: Any) -> bool:
    """Whether an index is a tensor of booleans."""
    return isinstance(item, torch.Tensor | DeviceTensor) and item.dtype == torch.bool


def without_masks(items: list[Any]) -> list[Any]:
    """An index list that must select a number of elements that is known now."""
    if any(map(is_mask, items)):
        unsupported(
            "how many elements a mask selects is known to its data alone",
            "use torch.where(mask, x, other), or hl.load and hl.store with extra_mask",
            id="mask-index",
        )
    return items


def selected(where: Any, items: list[Any], first: int, shape: tuple[int, ...]) -> DeviceTensor:
    """The mask ``where`` over the block that ``items`` address; it covers the dimensions from item ``first`` on."""
    covered = len(where.shape)
    dimension = sum(item is not None for item in items[:first])
    mask = current().host.load_whole(where) if isinstance(where, torch.Tensor) else where
    plain = all(not dim.tag.data for dim in mask.dims)
    if not plain or tuple(mask.tile_type.shape) != shape[dimension : dimension + covered]:
        found = " x ".join(map(str, mask.dims))
        unsupported(
            f"a mask of shape [{found}] selects from dimensions {list(shape[dimension : dimension + covered])}",
            id="mask-index",
        )
    if any(isinstance(item, torch.Tensor | DeviceTensor) and len(item.shape) for item in items):
        unsupported("a mask beside another mask or an index tensor", "use hl.store with extra_mask", id="mask-index")
    for _ in range(_after(items, first, covered)):
        mask = unsqueeze_at(mask, mask.rank)
    return mask


def spread_value(value: Any, items: list[Any], first: int, covered: int) -> Any:
    """The value of a masked store over the block that ``items`` address: it is the same for all selected elements."""
    if is_number(value):
        return value
    tensor = as_tensor(value)
    position = tensor.rank - 1 - _after(items, first, covered)
    if position >= 0 and tensor.tile_type.shape[position] != 1:
        unsupported(
            "a store by a mask writes one value to all elements that the mask selects",
            "use x[:] = torch.where(mask[:], value, x[:])",
            id="mask-index",
        )
    for _ in range(covered - 1 if position >= 0 else 0):
        tensor = unsqueeze_at(tensor, position)
    return tensor


def both(mask: Any, other: DeviceTensor) -> Any:
    """Where two masks are true, of which the first may be missing."""
    return other if mask is None else truth(mask) & other


def _after(items: list[Any], first: int, covered: int) -> int:
    """How many dimensions of the block stand behind those of the mask."""
    return sum(item is None or isinstance(item, slice | TileRange) for item in items[first + covered :])
