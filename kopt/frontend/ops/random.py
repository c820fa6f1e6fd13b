"""torch's random numbers in device loops: by a seed that each call of the kernel draws from torch's generator.

Each operation of a kernel has numbers of its own; an element's depends on its place in the array that the tiles of the
shape walk, as `hl.rand`'s does, so that they are equal on every target and for all block sizes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

from kopt.frontend.broadcasting import Dims, cast
from kopt.frontend.indexing import load
from kopt.frontend.ops.shapes import listed, shape_dims
from kopt.frontend.random_calls import numbers, ranged, uniform, words
from kopt.frontend.registry import OPERATIONS
from kopt.frontend.state import current, unsupported
from kopt.frontend.values import DeviceTensor, as_tensor, full_tensor, is_number

_Draw = Callable[[Dims], DeviceTensor]


def _words(dims: Dims) -> list[DeviceTensor]:
    """Four words for each element, by the call's seed and the operation's number."""
    host = current().host
    seed, number = host.seed(), host.draws
    host.draws += 1
    return words((load(seed, 0), load(seed, 1) ^ number), numbers(dims))


def _uniform(dims: Dims) -> DeviceTensor:
    return uniform(_words(dims)[0])


def _normal(dims: Dims) -> DeviceTensor:
    """Box and Muller's transform of two uniform numbers, of which the first is never 0."""
    first, second = map(uniform, _words(dims)[:2])
    radius = OPERATIONS["sqrt"](-2.0 * OPERATIONS["log"](1.0 - first))
    return radius * OPERATIONS["cos"](2.0 * math.pi * second)


def _fractions(dims: Dims, dtype: torch.dtype) -> DeviceTensor:
    """Uniform numbers of a dtype, all below 1."""
    value = _uniform(dims)
    below = 1 - torch.finfo(dtype).eps / 2
    return cast(value if dtype.itemsize > 2 else OPERATIONS["clamp_max"](value, below), dtype)


def _normals(dims: Dims, dtype: torch.dtype) -> DeviceTensor:
    return cast(_normal(dims), dtype)


def _made(draw: Callable[[Dims, torch.dtype], DeviceTensor]) -> Callable[..., DeviceTensor]:
    def operation(*size: Any, dtype: torch.dtype | None = None, generator: Any = None, **kwargs: Any) -> DeviceTensor:
        _refuse_generator(generator)
        dims = tuple(shape_dims(listed(size or (kwargs["size"],))))
        return draw(dims, dtype or torch.get_default_dtype())

    return operation


def _like(draw: Callable[[Dims, torch.dtype], DeviceTensor]) -> Callable[..., DeviceTensor]:
    def operation(input: Any, *, dtype: torch.dtype | None = None, **_: Any) -> DeviceTensor:
        value = as_tensor(input)
        return draw(value.dims, dtype or value.dtype)

    return operation


def _integers(dims: Dims, bounds: Sequence[Any], dtype: torch.dtype) -> DeviceTensor:
    low, high = (0, *bounds) if len(bounds) == 1 else bounds
    return cast(ranged(_words(dims)[0], low, high), dtype)


def randint(*args: Any, dtype: torch.dtype = torch.int64, generator: Any = None, **kwargs: Any) -> DeviceTensor:
    """``randint(low, high, size)``."""
    _refuse_generator(generator)
    bounds = [*args, *(kwargs[name] for name in ("low", "high") if name in kwargs)]
    size = kwargs["size"] if "size" in kwargs else bounds.pop(len(args) - 1)
    return _integers(tuple(shape_dims(listed((size,)))), bounds, dtype)


def randint_like(input: Any, *bounds: Any, dtype: torch.dtype | None = None, **kwargs: Any) -> DeviceTensor:
    """``randint_like(x, low, high)``."""
    value = as_tensor(input)
    named = [kwargs[name] for name in ("low", "high") if name in kwargs]
    return _integers(value.dims, [*bounds, *named], dtype or value.dtype)


def dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> DeviceTensor:
    """``nn.functional.dropout``: elements that a number of theirs says are 0, the others larger by as much."""
    value = as_tensor(input)
    if not is_number(p) or not 0 <= p <= 1:
        unsupported("dropout takes a probability from 0 to 1 that is known while the kernel is imported", id="operand")
    if not p or not training:
        return value
    if p == 1:
        return full_tensor(0, value.dims, value.dtype)
    return OPERATIONS["where"](_uniform(value.dims) >= p, value * (1 / (1 - p)), 0.0)


def _refuse_generator(generator: Any) -> None:
    if generator is not None:
        unsupported("a generator draws on the host", "use hl.rand(shape, seed=…)", id="operand")


METHODS: dict[str, Callable[..., Any]] = {
    "rand_like": _like(_fractions),
    "randn_like": _like(_normals),
    "randint_like": randint_like,
    "dropout": dropout,
}
TABLE: dict[str, Callable[..., Any]] = {
    "rand": _made(_fractions),
    "randn": _made(_normals),
    "randint": randint,
    **METHODS,
}
