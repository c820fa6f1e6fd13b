"""Slices that begin at a number that loops compute: ``x[:, begin : begin + 64]``.

Their length is known while the kernel is imported, so they are index tensors; lanes beyond the array are masked.
"""

from __future__ import annotations

from typing import Any

from kopt.frontend.distances import distance
from kopt.frontend.ops.creation import lane_numbers
from kopt.frontend.ops.elementwise import truth
from kopt.frontend.ops.shapes import unsqueeze_at
from kopt.frontend.state import unsupported
from kopt.frontend.values import DeviceTensor, Index, TileRange, index_ssa


def moves(item: Any) -> bool:
    """Whether an index is a slice with a computed bound."""
    return isinstance(item, slice) and any(isinstance(b, Index | DeviceTensor) for b in (item.start, item.stop))


def as_lanes(items: list[Any], shape: tuple[int, ...], mask: Any) -> tuple[list[Any], Any]:
    """The index list with moving slices as index tensors, and a mask that also keeps their lanes inside the array.

    ``x[t, b : b + 8]`` of 100 columns becomes ``x[t, b + arange(8)]`` where ``b + arange(8) < 100``. Refuses lengths
    that are not known, and index tensors of several dimensions beside them.
    """
    sizes = iter(shape)
    each = [(item, None if item is None else next(sizes)) for item in items]
    out: list[Any] = []
    inside: list[tuple[int, DeviceTensor]] = []
    for item, size in each:
        if moves(item):
            lanes = run_of(item)
            inside.append((sum(map(_dimensions, out)), lanes < size))
            item = lanes
        out.append(item)
    rank = sum(map(_dimensions, out))
    for position, valid in inside:
        for _ in range(rank - position - 1):
            valid = unsqueeze_at(valid, 1)
        mask = valid if mask is None else truth(mask) & valid
    return out, mask


def run_of(item: slice) -> DeviceTensor:
    """The numbers of the lanes of a slice with computed bounds."""
    return lane_numbers(range(_length(item)), None, None) + item.start


def _dimensions(item: Any) -> int:
    """How many dimensions an index gives to the block."""
    if isinstance(item, DeviceTensor) and item.rank > 1:
        unsupported("a slice with computed bounds beside an index tensor of several dimensions")
    if isinstance(item, TileRange) or item is None or isinstance(item, slice):
        return 1
    return item.rank if isinstance(item, DeviceTensor) else 0


def _length(item: slice) -> int:
    """The number of elements between a slice's bounds."""
    length = None
    if item.start is not None and item.stop is not None and item.step in (None, 1):
        length = distance(index_ssa(item.start), index_ssa(item.stop))
    if length is None or length < 1:
        unsupported(
            "a slice with computed bounds needs a length that is known while the kernel is imported",
            "write x[begin : begin + n] with a number n, or use hl.tile(begin, end)",
        )
    return length
