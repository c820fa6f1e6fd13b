"""Jagged tiles: which lanes of a block the items have, and what stands in for the others.

A block over the items and over their jagged loop has lanes beyond the end of the shorter items. They hold anything:
they are not loaded or stored, and where lanes are combined they take no part.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from kopt.eager.blocks import Axes, Block, LoopAxis, block
from kopt.eager.state import refuse

#: What changes nothing, by function: a number, or the least or the largest one of the dtype.
_NEUTRAL: dict[str, Any] = {
    **dict.fromkeys("sum nansum count_nonzero matmul mm bmm mv dot inner einsum linear addmm baddbmm norm".split(), 0),
    **dict.fromkeys(("tensordot", "vector_norm", "any"), 0),
    **dict.fromkeys(("prod", "all"), 1),
    **dict.fromkeys("max amax argmax softmax log_softmax logsumexp topk".split(), "least"),
    **dict.fromkeys(("min", "amin", "argmin", "softmin", "sort", "argsort", "kthvalue", "msort"), "largest"),
}
_REFUSED = frozenset("mean var std var_mean std_mean median nanmedian nanmean aminmax layer_norm normalize".split())


def valid_lanes(axes: Axes) -> torch.Tensor | None:
    """The lanes that the items have of a block over these loops, to broadcast against it; None for all."""
    found = None
    for position, axis in enumerate(axes):
        if axis is None or axis.lengths is None or not all(item in axes for item in axis.lengths.axes):
            continue
        mask = _lanes(axis, position, axes)
        found = mask if found is None else found & mask
    return found


def _lanes(axis: LoopAxis, position: int, axes: Axes) -> torch.Tensor:
    lengths = axis.lengths
    assert lengths is not None
    places = [axes.index(item) for item in lengths.axes]
    order = sorted(range(lengths.ndim), key=places.__getitem__)
    ends = lengths.as_subclass(torch.Tensor).permute(order)
    shape = [1] * len(axes)
    for place, size in zip(sorted(places), ends.shape, strict=True):
        shape[place] = size
    numbers = torch.arange(axis.begin, axis.end, device=ends.device)
    return numbers.reshape([-1 if n == position else 1 for n in range(len(axes))]) < ends.reshape(shape)


def without_others(name: str, args: Sequence[Any]) -> tuple[Any, ...]:
    """The arguments of a function that combines lanes, with those that the items lack neutral."""
    if name not in _NEUTRAL and name not in _REFUSED:
        return tuple(args)
    return tuple(_neutral(name, value) if isinstance(value, Block) else value for value in args)


def _neutral(name: str, value: Block) -> Block:
    mask = valid_lanes(value.axes)
    if mask is None:
        return value
    if name in _REFUSED:
        refuse(
            f"'{name}' over a jagged tile: items have different numbers of lanes",
            "divide sums by the lengths",
            id="jagged",
        )
    fill = _NEUTRAL[name]
    if fill in ("least", "largest"):
        fill = _limit(value.dtype, fill == "least")
    return block(torch.where(mask, value, torch.tensor(fill, dtype=value.dtype, device=value.device)), value.axes)


def _limit(dtype: torch.dtype, least: bool) -> Any:
    if dtype.is_floating_point:
        return float("-inf") if least else float("inf")
    if dtype == torch.bool:
        return not least
    limits = torch.iinfo(dtype)
    return limits.min if least else limits.max
