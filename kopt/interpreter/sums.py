"""Sums in f32 behind elements of less than 32 bits: an element that many cells add to is rounded once."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Attribute

from kopt.interpreter.rounding import rounded
from kopt.interpreter.storage import addresses, root, span


class Sums:
    """The f32 sums of one grid's atomic additions.

    Memory holds each sum rounded to its type, so that every read sees a value of the type. A sum counts as long as
    memory holds its rounding; where something else was written, that is what is added to.
    """

    def __init__(self) -> None:
        self._wide: dict[int, tuple[int, np.ndarray]] = {}

    def add(self, array: np.ndarray, place: tuple[np.ndarray, ...], values: np.ndarray, type: Attribute) -> np.ndarray:
        """Adds to elements of ``array``, each named once; gives what memory is to hold."""
        start, wide = self._of(root(array))
        at = (addresses(array, place) - start) // array.itemsize
        old = array[place]
        total = np.where(rounded(wide[at], type) == old, wide[at], old.astype(np.float32)) + values.astype(np.float32)
        wide[at] = total
        return rounded(total, type)

    def _of(self, buffer: np.ndarray) -> tuple[int, np.ndarray]:
        """The first address of a buffer, and a sum for each of its elements: NaN, which equals nothing, at first."""
        if id(buffer) not in self._wide:
            start, count = span(buffer)
            self._wide[id(buffer)] = start, np.full(count, np.nan, np.float32)
        return self._wide[id(buffer)]
