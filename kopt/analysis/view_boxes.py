"""Elements of a view as elements of the array that it views.

Pure. Boxes go through permutations and slices as they are, and through reshapes where they are consecutive elements;
where they cannot be followed they are left out, which is safe for what is asked of them: what is surely written.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from xdsl.ir import SSAValue

from kopt.analysis.aliases import view_chain
from kopt.analysis.boxes import LIMIT, Boxes, joined
from kopt.dialects.host import PermuteOp, ReshapeOp, SliceOp, ViewOp

#: More boxes are not taken through a reshape, which looks at each.
_RESHAPED = 4096


def in_root(view: SSAValue, boxes: Boxes) -> Boxes | None:
    """The elements of a view's root that boxes of the view are, or None where they cannot be followed."""
    for op in reversed(view_chain(view)):
        found = _in_source(op, boxes)
        if found is None:
            return None
        boxes = found
    return boxes


def _in_source(view: ViewOp, boxes: Boxes) -> Boxes | None:
    if isinstance(view, PermuteOp):
        back = sorted(range(len(view.order)), key=view.order.__getitem__)
        return Boxes(boxes.lower[:, back], boxes.upper[:, back])
    if isinstance(view, SliceOp):
        return _unsliced(view, boxes)
    if isinstance(view, ReshapeOp):
        return _reshaped(view, boxes)
    return None


def _unsliced(view: SliceOp, boxes: Boxes) -> Boxes | None:
    for dim, (_, _, stride) in enumerate(view.bounds):
        if stride > 1:
            boxes = _single(boxes, dim)
            if boxes.number > LIMIT:
                return None
    offsets, strides = (np.array([bound[n] for bound in view.bounds], np.int64) for n in (0, 2))
    return Boxes(offsets + strides * boxes.lower, offsets + strides * (boxes.upper - 1) + 1)


def _single(boxes: Boxes, dim: int) -> Boxes:
    """The boxes cut into single elements along one dimension."""
    sizes = boxes.upper[:, dim] - boxes.lower[:, dim]
    rows = np.repeat(np.arange(boxes.number), sizes)
    lower, upper = boxes.lower[rows], boxes.upper[rows]
    lower[:, dim] += np.arange(len(rows)) - np.repeat(sizes.cumsum() - sizes, sizes)
    upper[:, dim] = lower[:, dim] + 1
    return Boxes(lower, upper)


def _reshaped(view: ReshapeOp, boxes: Boxes) -> Boxes | None:
    source, target = view.source_type.get_shape(), view.result_type.get_shape()
    if boxes.number > _RESHAPED or 0 in source:
        return None
    found = [
        bounds
        for lower, upper in zip(boxes.lower.tolist(), boxes.upper.tolist(), strict=True)
        if (flat := _consecutive(lower, upper, target)) and (bounds := _box(*flat, source))
    ]
    return joined([Boxes.of(*bounds) for bounds in found]) if found else None


def _consecutive(lower: Sequence[int], upper: Sequence[int], shape: Sequence[int]) -> tuple[int, int] | None:
    """The row-major numbers of a box's elements, first and last + 1, where they are consecutive."""
    first = last = 0
    split = False
    for low, high, extent in zip(lower, upper, shape, strict=True):
        if split and (low, high) != (0, extent):
            return None
        split |= high - low > 1
        first, last = first * extent + low, last * extent + high - 1
    return first, last + 1


def _box(first: int, last: int, shape: Sequence[int]) -> list[tuple[int, int]] | None:
    """The box of consecutive elements, where they are one."""
    for dim, extent in enumerate(shape):
        inner = prod(shape[dim + 1 :])
        outer = first // (inner * extent)
        if first % inner or last % inner or (last - 1) // (inner * extent) != outer:
            continue
        places = [int(n) for n in np.unravel_index(outer, shape[:dim])] if dim else []
        begin = first // inner - outer * extent
        return [
            *((place, place + 1) for place in places),
            (begin, begin + (last - first) // inner),
            *((0, n) for n in shape[dim + 1 :]),
        ]
    return [] if not shape else None
