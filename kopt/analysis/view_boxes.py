"""Elements of a view as elements of the array that it views.

Pure. Boxes go through permutations and slices as they are, and through reshapes where they are consecutive elements;
where they cannot be followed they are left out, which is safe for what is asked of them: what is surely written.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd, prod

import numpy as np
from xdsl.ir import SSAValue

from kopt.analysis.aliases import root, view_chain
from kopt.analysis.boxes import LIMIT, Boxes, joined
from kopt.dialects.host import PermuteOp, ReshapeOp, SliceOp, ViewOp
from kopt.dialects.tile import array_type
from kopt.open_extents import is_open

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


def may_overlap(first: SSAValue, second: SSAValue) -> bool:
    """Whether two memrefs may have elements in common: not where in some dimension their numbers all differ."""
    if root(first) is not root(second):
        return False
    sources = [chain[0].source if (chain := view_chain(view)) else view for view in (first, second)]
    if sources[0] is not sources[1]:
        return True
    return not any(map(_differ, _spans(first), _spans(second)))


def _spans(view: SSAValue) -> list[range | None]:
    """For each dimension of the array behind a view the numbers among which its elements' are; None where not known."""
    chain = view_chain(view)
    shape = array_type(chain[0].source if chain else view).get_shape()
    spans: list[range | None] = [None if is_open(extent) else range(extent) for extent in shape]
    dims = list(range(len(shape)))
    for op in chain:
        if isinstance(op, PermuteOp):
            dims = [dims[n] for n in op.order]
        elif isinstance(op, SliceOp):
            for dim, (offset, size, stride) in zip(dims, op.bounds, strict=True):
                span = spans[dim]
                known = span is not None and not is_open(size)
                spans[dim] = span[offset : offset + size * stride : stride] if known else None  # pyright: ignore
        else:
            break  # what follows has some of these elements
    return spans


def _differ(first: range | None, second: range | None) -> bool:
    """Whether two ranges surely have no number in common."""
    if first is None or second is None:
        return False
    if not first or not second or first[-1] < second[0] or second[-1] < first[0]:
        return True
    return (first[0] - second[0]) % gcd(first.step, second.step) != 0


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
