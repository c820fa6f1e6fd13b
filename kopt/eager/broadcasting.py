"""Dimensions meet by the loop that they are of where ranks differ, else from the right as torch has it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from kopt.eager.blocks import Axes, LoopAxis, axes_of, block
from kopt.eager.state import current


def together(values: Sequence[Any]) -> tuple[list[Any], Axes]:
    """Tensors so that torch broadcasts them, and the loops of what comes out; others pass as they are."""
    tensors = [value for value in values if isinstance(value, torch.Tensor)]
    if len(tensors) < 2:
        return list(values), axes_of(tensors[0]) if tensors else ()
    rank = max(value.ndim for value in tensors)
    joined: list[tuple[LoopAxis | None, int]] = [(None, 1)] * rank
    placed: dict[int, Any] = {}
    for value in sorted(tensors, key=lambda each: -each.ndim):
        placed[id(value)] = there = _placed(value, joined)
        joined = [_join(a, b) for a, b in zip(joined, _dims(there, rank), strict=True)]
    if any(_short(value, joined) for value in placed.values()):
        placed = {key: _padded(value, joined) for key, value in placed.items()}
    if current().powers_of_two:
        placed = {key: _narrowed(value, joined) for key, value in placed.items()}
    out = [placed.get(id(value), value) for value in values]
    return out, tuple(axis for axis, _ in joined)


def _dims(value: torch.Tensor, rank: int) -> list[tuple[LoopAxis | None, int]]:
    return [(None, 1)] * (rank - value.ndim) + list(zip(axes_of(value), value.shape, strict=True))


def _join(one: tuple[LoopAxis | None, int], other: tuple[LoopAxis | None, int]) -> tuple[LoopAxis | None, int]:
    """The dimension that two become."""
    if one[1] == 1 or other[1] == 1:
        return other if one[1] == 1 and (other[1] != 1 or one[0] is None) else one
    if one[1] == other[1]:
        return (one[0] if other[0] is None or one[0] is other[0] else other[0] if one[0] is None else None), one[1]
    if (min(one[1], other[1]), max(one[1], other[1])) in current().powers_of_two:
        return min(one, other, key=lambda dim: dim[1])
    return None, max(_full(one), _full(other))


def _full(dim: tuple[LoopAxis | None, int]) -> int:
    """A dimension's lanes, with those that the last block of a loop lacks."""
    axis, size = dim
    return axis.block_size if axis is not None and size == axis.size else size


def _placed(value: torch.Tensor, high: Sequence[tuple[LoopAxis | None, int]]) -> torch.Tensor:
    """A value of lower rank with its dimensions where their loops are."""
    places = places_by_axis(list(zip(axes_of(value), value.shape, strict=True)), high)
    if places is None or value.ndim == len(high):
        return value
    axes = axes_of(value)
    index = tuple(slice(None) if n in places else None for n in range(len(high)))
    return block(value[index], [axes[places.index(n)] if n in places else None for n in range(len(high))])


def places_by_axis(
    low: Sequence[tuple[LoopAxis | None, int]], high: Sequence[tuple[LoopAxis | None, int]]
) -> list[int] | None:
    """Where every dimension of a loop finds that loop; plain ones stand right before the next. None: not so."""
    loops = [axis for axis, _ in high]
    if not any(axis is not None and axis in loops for axis, _ in low):
        return None
    places: list[int] = []
    limit = len(high)
    for axis, size in reversed(low):
        before = loops[:limit]
        found = before.index(axis) if axis is not None and axis in before else limit - 1
        if found < 0 or (axis is not None and axis not in before):
            return None
        if high[found][1] not in (size, 1) and size != 1:
            return None
        places.insert(0, found)
        limit = found
    return places


def _narrowed(value: torch.Tensor, joined: Sequence[tuple[LoopAxis | None, int]]) -> torch.Tensor:
    """A value without lanes that are there only for the sake of a power of two."""
    axes = axes_of(value)
    for position in range(1, value.ndim + 1):
        size, wanted = value.shape[-position], joined[-position][1]
        if (wanted, size) in current().powers_of_two:
            value = block(value.narrow(-position, 0, wanted), axes)
    return value


def _short(value: torch.Tensor, joined: Sequence[tuple[LoopAxis | None, int]]) -> bool:
    dims = _dims(value, len(joined))
    return any(mine[1] not in (1, its[1]) and _full(mine) == its[1] for mine, its in zip(dims, joined, strict=True))


def _padded(value: torch.Tensor, joined: Sequence[tuple[LoopAxis | None, int]]) -> torch.Tensor:
    """The last block of a loop beside whole blocks of the same size: lanes that it lacks are 0."""
    axes, pads = list(axes_of(value)), []
    for position in reversed(range(value.ndim)):
        size, wanted = value.shape[position], joined[position - value.ndim][1]
        missing = wanted - size if size != 1 and _full((axes[position], size)) == wanted else 0
        pads += [0, missing]
        axes[position] = None if missing else axes[position]
    return block(torch.constant_pad_nd(value, pads), axes)
