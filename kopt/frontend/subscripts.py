"""Subscripts of device values: what an index list picks of a block that is already loaded or computed."""

from __future__ import annotations

from typing import Any

import torch

from kopt.dialects.tile import SliceAttr
from kopt.frontend.block_size import BlockSize
from kopt.frontend.indexing import slice_entry, written_out
from kopt.frontend.moving_slices import moves, run_of
from kopt.frontend.ops.indexed import index_select
from kopt.frontend.ops.shapes import unsqueeze_at
from kopt.frontend.ops.slicing import lane, select, slice_dim
from kopt.frontend.positions import from_front
from kopt.frontend.registry import OPERATIONS
from kopt.frontend.state import unsupported
from kopt.frontend.values import DeviceTensor, Index, TileRange, as_tensor, describe


def subscript(value: DeviceTensor, index: Any) -> DeviceTensor:
    """``value[index]`` of a device value: ``None``, ``:``, slices, numbers, tiles and one-dimensional index tensors.

    Bounds and numbers may be the device's. Each index tensor picks lanes of its own dimension, so only one is taken.
    """
    items = written_out(value.tile_type.shape, index)
    taken, rank = sum(item is not None for item in items), len(value.dims)
    if taken > rank:
        found = "no dimensions" if rank == 0 else f"{rank} dimension{'s' * (rank > 1)}"
        unsupported(
            f"{taken} index(es) for a device value of {found}", "None adds a dimension, ':' takes one", id="index"
        )
    position = 0
    for item in items:
        if item is None:
            value = unsqueeze_at(value, position)
        elif isinstance(item, slice):
            value = _slice(value, position, item)
        elif isinstance(item, int) and not isinstance(item, bool):
            value = select(value, position, int(item))
            continue
        elif isinstance(item, Index) or isinstance(item, DeviceTensor) and not item.rank:
            value = lane(index_select(value, position, item), position, 0)
            continue
        elif isinstance(item, TileRange) and item.dim == value.dims[position]:
            pass
        elif _numbers_lanes(item) and sum(map(_numbers_lanes, items)) == 1:
            value = _pick(value, position, as_tensor(item))
        else:
            unsupported(
                f"{describe(item)} cannot index a device value",
                "use None, slices, numbers and one vector of whole numbers here, or torch.gather; "
                "index the host tensor for a gather from memory",
                id="index",
            )
        position += 1
    return value


def _numbers_lanes(item: Any) -> bool:
    """Whether an index of a device value is a vector of lane numbers."""
    if isinstance(item, DeviceTensor):
        return item.rank == 1 and not item.dtype.is_floating_point and item.dtype != torch.bool
    return isinstance(item, TileRange)


def _pick(value: DeviceTensor, position: int, numbers: DeviceTensor) -> DeviceTensor:
    """Lanes of one dimension by number: a slice where the numbers are known."""
    size, lanes = value.tile_type.shape[position], numbers.lanes
    if lanes is None or lanes.range is not None or lanes.tagged:
        return index_select(value, position, numbers)
    last = lanes.start + (lanes.size - 1) * lanes.step
    if last >= size:
        unsupported(f"lane {last} is outside a block of {size} lanes", id="index")
    return slice_dim(value, position, lanes.start, lanes.size, lanes.step)


def _slice(value: DeviceTensor, position: int, item: slice) -> DeviceTensor:
    if moves(item):
        return _run(value, position, item)
    if any(isinstance(bound, int) and bound < 0 for bound in (item.start, item.stop)):
        from_front(value, position, "a slice counted from the end")
    if _ends_with_block(item, value.tile_type.tags[position]):
        return value
    entry = slice_entry(item, value.tile_type.shape[position])
    if not isinstance(entry, SliceAttr):
        return value
    return slice_dim(value, position, entry.start.data, entry.length, entry.step.data)


def _ends_with_block(item: slice, tag: str) -> bool:
    """Whether a slice ends where the block that it is of does."""
    return isinstance(item.stop, BlockSize) and item.stop.tag == tag != "" and not item.start and item.step in (None, 1)


def _run(value: DeviceTensor, position: int, item: slice) -> DeviceTensor:
    """Lanes from a computed number on; those beyond the block are 0."""
    size = value.tile_type.shape[position]
    numbers = run_of(item, size)
    taken = index_select(value, position, OPERATIONS["clamp_max"](numbers, size - 1))
    inside = numbers < size
    for _ in range(value.rank - position - 1):
        inside = unsqueeze_at(inside, inside.rank)
    return OPERATIONS["where"](inside, taken, 0)
