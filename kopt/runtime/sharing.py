"""Which arrays lie in the same memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kopt.specs import framework_of, spec_of

#: Steps after which the search for a shared element is given up: memory then counts as shared.
_EFFORT = 100_000


def sharing(args: Sequence[Any]) -> tuple[tuple[int, int, int], ...]:
    """Pairs of tensor arguments whose memory overlaps, with the distance in bytes: ``(first, second, distance)``."""
    spans = [(index, reach) for index, arg in enumerate(args) if (reach := span(arg)) is not None]
    return tuple(
        (i, j, start - first)
        for place, (i, (first, end)) in enumerate(spans)
        for j, (start, stop) in spans[place + 1 :]
        if start < end and first < stop
    )


def span(value: Any) -> tuple[int, int] | None:
    """The addresses of a torch or NumPy array's memory, first and past the last; None where there is none.

    JAX arrays never change, so it does not matter where they are.
    """
    place = _place(value)
    if place is None or 0 in value.shape:
        return None
    start, steps, size = place
    reach = [(extent - 1) * step for extent, step in zip(value.shape, steps, strict=True)]
    return start + sum(r for r in reach if r < 0), start + sum(r for r in reach if r > 0) + size


def _place(value: Any) -> tuple[int, Sequence[int], int] | None:
    """The address of an array's first element, and the bytes of its steps and of an element."""
    framework = framework_of(value)
    if framework == "torch" and value.device.type != "meta":
        size = value.element_size()
        return value.data_ptr(), [step * size for step in value.stride()], size
    if framework == "numpy":
        return value.__array_interface__["data"][0], value.strides, value.itemsize
    return None


def same_elements(a: Any, b: Any) -> bool:
    """Whether two arrays are one: the same elements in the same order, of the same dtype."""
    place = _place(a)
    return place is not None and place[0] == (_place(b) or (None,))[0] and spec_of(a) == spec_of(b)


def share_an_element(a: Any, b: Any) -> bool:
    """Whether two arrays have an element in common; interleaved views of one storage need not."""
    if not sharing([a, b]):
        return False
    try:
        return np.shares_memory(_addresses(a), _addresses(b), max_work=_EFFORT)  # pyright: ignore[reportArgumentType]
    except np.exceptions.TooHardError:
        return True


def _addresses(value: Any) -> np.ndarray:
    """An array at the same addresses, wherever they are: its elements are never read."""
    start, steps, size = _place(value) or (0, (), 1)

    class Memory:
        __array_interface__ = {
            "data": (start, False),
            "shape": tuple(value.shape),
            "strides": tuple(steps),
            "typestr": f"|V{size}",
            "version": 3,
        }

    return np.asarray(Memory())
