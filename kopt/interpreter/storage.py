"""The memory behind arrays: which buffer a view is of, and where its elements are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def root(array: np.ndarray) -> np.ndarray:
    """The array that owns the memory that ``array`` views."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def address(array: np.ndarray) -> int:
    """Where the first element is."""
    return array.__array_interface__["data"][0]


def span(array: np.ndarray) -> tuple[int, int]:
    """The lowest address of an array's elements, and how many elements there are from there to the highest."""
    low = address(array)
    high = low + array.itemsize
    for size, stride in zip(array.shape, array.strides, strict=True):
        low, high = low + min(0, (size - 1) * stride), high + max(0, (size - 1) * stride)
    return low, max(1, (high - low) // array.itemsize)


def addresses(array: np.ndarray, coordinates: Sequence[np.ndarray]) -> np.ndarray:
    """Where elements are; the same for elements that a view repeats."""
    offsets = [place * stride for place, stride in zip(coordinates, array.strides, strict=True)]
    return address(array) + sum(offsets, np.zeros(coordinates[0].shape, np.int64))
