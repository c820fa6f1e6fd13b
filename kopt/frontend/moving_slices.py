"""Slices that begin at a number that loops compute: ``x[:, begin : begin + 64]``, ``x[row :: 4]``.

Their length is known while the kernel is imported, so they are index tensors; lanes beyond the array are masked.
"""

from __future__ import annotations

from typing import Any

from xdsl.ir import SSAValue

from kopt.dialects.tile import BeginOp, RangeType
from kopt.frontend.distances import distance, linear
from kopt.frontend.ops.creation import lane_numbers
from kopt.frontend.ops.rules import truth
from kopt.frontend.ops.shapes import unsqueeze_at
from kopt.frontend.state import current, unsupported
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
            lanes = run_of(item, size)
            inside.append((sum(map(_dimensions, out)), lanes < size))
            item = lanes
        out.append(item)
    rank = sum(map(_dimensions, out))
    for position, valid in inside:
        for _ in range(rank - position - 1):
            valid = unsqueeze_at(valid, 1)
        mask = valid if mask is None else truth(mask) & valid
    return out, mask


def run_of(item: slice, size: Any) -> DeviceTensor:
    """The numbers of the lanes of a slice with computed bounds, in a dimension of so many elements."""
    step = 1 if item.step is None else item.step
    if not isinstance(step, int) or step < 1:
        unsupported(
            "a slice with computed bounds needs a step that is a positive number", "use hl.arange(n) * step", id="index"
        )
    return lane_numbers(range(0, _length(item, step, size) * step, step), None, None) + item.start


def _dimensions(item: Any) -> int:
    """How many dimensions an index gives to the block."""
    if isinstance(item, DeviceTensor) and item.rank > 1:
        unsupported("a slice with computed bounds beside an index tensor of several dimensions", id="index")
    if isinstance(item, TileRange) or item is None or isinstance(item, slice):
        return 1
    return item.rank if isinstance(item, DeviceTensor) else 0


def _length(item: slice, step: int, size: int) -> int:
    """The number of elements of a slice."""
    if item.stop is None:
        length = _length_to(size, item.start, step)
    else:
        length = None if item.start is None else distance(index_ssa(item.start), index_ssa(item.stop))
        length = None if length is None else -(-length // step)
    if length is None or length < 1:
        unsupported(
            "a slice with computed bounds needs a length that is known while the kernel is imported",
            "write x[begin : begin + n] with a number n, or use hl.tile(begin, end)",
            id="not-known-at-import",
        )
    return length


def _length_to(size: int, start: Any, step: int) -> int | None:
    """How many elements there are from ``start`` to the end, where that is as many for all visits of the loops."""
    bounds = _bounds(index_ssa(start))
    if bounds is None or bounds[0] < 0:
        return None
    most, least = (-(-(size - bound) // step) for bound in bounds)
    return most if most == least else None


def _bounds(value: SSAValue) -> tuple[int, int] | None:
    """The smallest and the largest number that an index may be, where it is a sum of where loops' blocks begin."""
    form = linear(value)
    low = high = form.constant
    for key, count in form.terms.items():
        begins = _begins(form.bases[key])
        if begins is None:
            return None
        low += min(count * begins[0], count * begins[-1])
        high += max(count * begins[0], count * begins[-1])
    return low, high


def _begins(value: SSAValue) -> range | None:
    """Where the blocks of a loop begin, of one of which a value is the begin; None where they are not numbers."""
    owner, tracer = value.owner, current()
    if not isinstance(owner, BeginOp) or not isinstance(owner.range.type, RangeType):
        return None
    tag, lanes = owner.range.type.tag, owner.range.type.size
    extent, end = tracer.extents.get(tag), tracer.ends.get(tag)
    if owner.range is not tracer.ranges.get(tag) or not extent or end is None:
        return None
    return range(end - extent, end, lanes)
