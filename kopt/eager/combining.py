"""``hl.reduce``, ``hl.associative_scan`` and running sums: by functions of the kernel's own, lane after lane."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import torch

from kopt.eager.blocks import Axes, Block, axes_of, block
from kopt.eager.broadcasting import together
from kopt.eager.jagged import valid_lanes
from kopt.eager.mode import EagerMode
from kopt.eager.state import refuse
from kopt.eager.tiles import Tile


def reduce(combine_fn: Any, input_tensor: Any, dim: int | None = None, other: Any = 0, keep_dims: bool = False) -> Any:
    """``hl.reduce``: narrow floats are combined in f32."""
    values, axes, unpack = _operands(input_tensor)
    dims = list(range(values[0].ndim)) if dim is None else [dim % values[0].ndim]
    mask = valid_lanes(axes)
    wide, loops = [_wide(value) for value in values], list(axes)
    for position in reversed(dims):
        if not values[0].shape[position]:
            refuse("hl.reduce of no lanes has no value", id="shapes")
        wide, mask = _folded(combine_fn, wide, position, mask, not unpack)
        del loops[position]
    if keep_dims:
        for position in dims:
            wide = [value.unsqueeze(position) for value in wide]
            loops.insert(position, None)
    return _given(wide, values, loops, unpack)


def associative_scan(combine_fn: Any, input_tensor: Any, dim: int, reverse: bool = False, **_: Any) -> Any:
    """``hl.associative_scan``."""
    values, axes, unpack = _operands(input_tensor)
    position = dim % values[0].ndim
    mask = valid_lanes(axes)
    kept = None if mask is None else list(mask.expand(values[0].shape).unbind(position))
    lanes = [_wide(value).unbind(position) for value in values]
    out: list[list[torch.Tensor]] = []
    order = range(values[0].shape[position])
    have = None
    for number in reversed(order) if reverse else order:
        lane, here = [each[number] for each in lanes], None if kept is None else kept[number]
        found = _joined(combine_fn, out[-1], lane, (have, here), not unpack) if out else lane
        have = here if have is None or here is None else have | here
        out.append(found)
    if not out:
        return _given(values, values, axes, unpack)
    ordered = list(reversed(out)) if reverse else out
    stacked = [torch.stack([step[n] for step in ordered], position) for n in range(len(values))]
    return _given(stacked, values, axes, unpack)


def cumsum(input_tensor: Any, dim: int, reverse: bool = False) -> Block:
    """``hl.cumsum``: in the input's dtype."""
    return _running(torch.cumsum, input_tensor, dim, reverse)


def cumprod(input_tensor: Any, dim: int, reverse: bool = False) -> Block:
    """``hl.cumprod``: in the input's dtype."""
    return _running(torch.cumprod, input_tensor, dim, reverse)


def _running(function: Callable[..., Any], value: Any, dim: int, reverse: bool) -> Block:
    value = value.index if isinstance(value, Tile) else value
    mask = valid_lanes(axes_of(value))
    if mask is not None:
        value = block(torch.where(mask, value, int(function is torch.cumprod)).to(value.dtype), axes_of(value))
    ordered = value.flip(dim) if reverse else value
    result = function(ordered, dim, dtype=value.dtype)
    return block(result.flip(dim) if reverse else result, axes_of(value))


def _operands(given: Any) -> tuple[list[torch.Tensor], Axes, bool]:
    """The tensors over their common dimensions, and whether it was one tensor."""
    unpack = not isinstance(given, tuple | list)
    values = [value.index if isinstance(value, Tile) else value for value in ([given] if unpack else given)]
    if not values or not all(isinstance(value, torch.Tensor) for value in values) or not values[0].ndim:
        refuse("lanes of a tensor are combined along one of its dimensions, found a scalar or nothing", id="shapes")
    placed, axes = together(values)
    return list(torch.broadcast_tensors(*(value.as_subclass(torch.Tensor) for value in placed))), axes, unpack


def _wide(value: torch.Tensor) -> torch.Tensor:
    return value.float() if value.dtype.is_floating_point and value.dtype.itemsize < 4 else value


def _folded(
    function: Any, values: Sequence[torch.Tensor], dim: int, mask: torch.Tensor | None, tuples: bool
) -> tuple[list[torch.Tensor], torch.Tensor | None]:
    """One dimension combined; and which of what remains has any lanes."""
    lanes = [value.unbind(dim) for value in values]
    kept = None if mask is None else list(mask.expand(values[0].shape).unbind(dim))
    found, have = [each[0] for each in lanes], None if kept is None else kept[0]
    for number in range(1, len(lanes[0])):
        here = None if kept is None else kept[number]
        found = _joined(function, found, [each[number] for each in lanes], (have, here), tuples)
        have = None if have is None or here is None else have | here
    return found, have


def _joined(function: Any, left: list[torch.Tensor], right: list[torch.Tensor], there: Any, tuples: bool) -> Any:
    """Two lanes combined; where the items have only one of them, that one."""
    both = _combined(function, left, right, tuples)
    have, here = there
    if have is None or here is None:
        return both
    one = [torch.where(here, new, old) for new, old in zip(right, left, strict=True)]
    return [torch.where(here & have, b, o) for b, o in zip(both, one, strict=True)]


def _combined(function: Any, left: list[torch.Tensor], right: list[torch.Tensor], tuples: bool) -> list[torch.Tensor]:
    """The kernel's function, of two tensors, two tuples, or the tensors of both tuples one by one."""
    count, parameters = len(left), _parameters(function)
    ours, theirs = ([block(value) for value in side] for side in (left, right))
    grouped = tuples and len(parameters) != 2 * count and (count > 1 or len(parameters) == 2)
    with EagerMode():
        result = function(tuple(ours), tuple(theirs)) if grouped else function(*ours, *theirs)
    listed = list(result) if isinstance(result, tuple | list) else [result]
    return [
        torch.as_tensor(value).as_subclass(torch.Tensor).to(old.dtype) for value, old in zip(listed, left, strict=True)
    ]


def _parameters(function: Any) -> list[str]:
    """The names of a function's positional parameters; none where Python cannot tell."""
    try:
        found = inspect.signature(getattr(function, "fn", function)).parameters.values()
    except (TypeError, ValueError):
        return []
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [parameter.name for parameter in found if parameter.kind in kinds]


def _given(results: Sequence[torch.Tensor], inputs: Sequence[torch.Tensor], axes: Any, unpack: bool) -> Any:
    """Results in the inputs' dtypes, one or a tuple as the inputs were."""
    narrow = [block(result.to(source.dtype), axes) for result, source in zip(results, inputs, strict=True)]
    return narrow[0] if unpack else tuple(narrow)


COMBINING: dict[str, Callable[..., Any]] = {
    "reduce": reduce,
    "associative_scan": associative_scan,
    "cumsum": cumsum,
    "cumprod": cumprod,
}
