"""Which loops the dimensions of a result are of.

torch is asked: a function runs once more on tensors without data in which each loop's dimensions have a size that
nothing else has, and where that size comes out, the loop does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
from torch.utils._pytree import TreeSpec, tree_flatten, tree_unflatten

from kopt.eager.blocks import Axes, Block, LoopAxis, block

#: Functions that give elements other places although the shape may stay.
_MOVING = frozenset(
    """
    t T mT H mH transpose permute movedim moveaxis swapaxes swapdims matmul mm bmm mv dot inner outer ger einsum linear
    addmm baddbmm rmatmul chain_matmul tensordot kron rot90 view_as reshape_as
    """.split()
)
#: Functions that take a shape: dimensions that stay at either end keep their loops.
SHAPED = frozenset("reshape view expand broadcast_to unflatten view_as reshape_as expand_as flatten ravel".split())
_PRIMES = (10007, 10009, 10037, 10039, 10061, 10067, 10069, 10079, 10091, 10093)


def with_axes(name: str, func: Callable[..., Any], args: Any, kwargs: Any, result: Any) -> Any:
    """The result of a function as device values."""
    inputs = [value for value in _tensors((args, kwargs)) if isinstance(value, Block)]
    tagged = [value for value in inputs if any(value.axes)]
    if not tagged:
        return mapped(result, block)
    first = tagged[0]
    if name in SHAPED:
        return mapped(result, lambda value: block(value, _kept(first, value.shape)))
    if name not in _MOVING and all(value.axes == first.axes and value.shape == first.shape for value in inputs):
        same = lambda value: value.shape == first.shape  # noqa: E731
        if all(map(same, _tensors(result))):
            return mapped(result, lambda value: block(value, first.axes))
    found = iter(_probed(func, args, kwargs, tagged))
    return mapped(result, lambda value: block(value, next(found, None)))


def mapped(value: Any, function: Callable[[torch.Tensor], Any]) -> Any:
    """A result with its tensors replaced."""
    if isinstance(value, torch.Tensor):
        return function(value)
    if type(value) in (tuple, list):
        return type(value)(mapped(item, function) for item in value)
    if isinstance(value, tuple) and not isinstance(value, torch.Size):  # values and indices by name
        return type(value)([mapped(item, function) for item in value])
    return value


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _tensors(item)
    elif isinstance(value, dict):
        yield from _tensors(list(value.values()))


def _kept(source: Block, sizes: Sequence[int]) -> Axes:
    """The loops of dimensions that a reshape leaves alone at the front and, aligned from the right, at the end."""
    axes: list[LoopAxis | None] = [None] * len(sizes)
    pairs = [(n, n) for n in range(min(len(sizes), source.ndim))]
    for front in (pairs, [(-1 - mine, -1 - its) for mine, its in pairs]):
        for mine, its in front:
            if sizes[mine] != source.shape[its]:
                break
            axes[mine] = source.axes[its]
    return tuple(axes)


def _probed(func: Callable[..., Any], args: Any, kwargs: Any, tagged: Sequence[Block]) -> list[Axes]:
    """The loops of each tensor that a function gives; none where it does not run without data."""
    loops = list(dict.fromkeys(axis for value in tagged for axis in value.axes if axis is not None))
    if len(loops) > len(_PRIMES):
        return []
    sizes = dict(zip(loops, _PRIMES, strict=False))
    leaves, form = tree_flatten((args, kwargs))
    call = func, tuple(_without_data(leaf, sizes) for leaf in leaves), form
    try:
        shapes = _shapes(*call)
    except TypeError:  # an argument that has no hash
        shapes = _shapes.__wrapped__(*call)
    back = {size: axis for axis, size in sizes.items()}
    return [tuple(back.get(size) for size in shape) for shape in shapes]


@dataclass(frozen=True)
class _Empty:
    """A tensor without data."""

    shape: tuple[int, ...]
    dtype: torch.dtype


@dataclass(frozen=True)
class _Constant:
    """Any other argument; ``kind`` tells 1, 1.0 and True from each other."""

    kind: type
    value: Any


def _without_data(value: Any, sizes: Mapping[LoopAxis, int]) -> _Empty | _Constant:
    """An argument as `_shapes` remembers it."""
    if not isinstance(value, torch.Tensor):
        return _Constant(type(value), value)
    axes = value.axes if isinstance(value, Block) else (None,) * value.ndim
    shape = tuple(sizes.get(axis, size) for axis, size in zip(axes, value.shape, strict=True))  # pyright: ignore
    return _Empty(shape, value.dtype)


def _meta(value: _Empty | _Constant) -> Any:
    """The argument to call torch with."""
    return torch.empty(value.shape, dtype=value.dtype, device="meta") if isinstance(value, _Empty) else value.value


@lru_cache(maxsize=4096)
def _shapes(
    func: Callable[..., Any], leaves: tuple[_Empty | _Constant, ...], form: TreeSpec
) -> tuple[tuple[int, ...], ...]:
    """The shapes that a function gives, none where it does not run without data."""
    with torch._C.DisableTorchFunction():
        try:
            args, kwargs = tree_unflatten(map(_meta, leaves), form)
            result = func(*args, **kwargs)
        except Exception:
            return ()
    return tuple(tuple(value.shape) for value in _tensors(result))
