"""Sets of array elements as boxes, and how often boxes hold each element.

Pure. A box is an interval in each dimension. Where boxes begin and end cuts each dimension into a few pieces; all
elements of one combination of pieces are in the same boxes, so counting is done on pieces, not on elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np

#: More boxes, or more combinations of pieces, are not looked at.
LIMIT = 1 << 20


@dataclass(frozen=True)
class Boxes:
    """Boxes of one rank, a row each: the elements ``lower[n] <= index < upper[n]``."""

    lower: np.ndarray
    upper: np.ndarray

    @staticmethod
    def of(*bounds: tuple[int, int]) -> Boxes:
        """One box, from its interval in each dimension."""
        pairs = np.array(bounds, np.int64).reshape(1, len(bounds), 2)
        return Boxes(pairs[:, :, 0], pairs[:, :, 1])

    @property
    def number(self) -> int:
        """How many there are."""
        return len(self.lower)

    @property
    def rank(self) -> int:
        """The dimensions of each."""
        return self.lower.shape[1]

    def within(self, shape: Sequence[int]) -> Boxes:
        """The parts inside an array, where there are any."""
        lower, upper = np.maximum(self.lower, 0), np.minimum(self.upper, np.asarray(shape, np.int64))
        kept = (lower < upper).all(axis=1)
        return Boxes(lower[kept], upper[kept])


def joined(parts: Sequence[Boxes]) -> Boxes:
    """All boxes of several sets of one rank."""
    return Boxes(np.concatenate([part.lower for part in parts]), np.concatenate([part.upper for part in parts]))


def times(first: Boxes, second: Boxes) -> Boxes | None:
    """Every box of one set by every box of another, the first's dimensions before the second's; None if too many."""
    if first.number * second.number > LIMIT:
        return None

    def both(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.hstack([np.repeat(a, len(b), axis=0), np.tile(b, (len(a), 1))])

    return Boxes(both(first.lower, second.lower), both(first.upper, second.upper))


@dataclass(frozen=True)
class Count:
    """The fewest and the most boxes that any one element is in; ``gap`` is an element in the fewest."""

    fewest: int
    most: int
    gap: tuple[int, ...] = ()


def count(boxes: Boxes, shape: Sequence[int]) -> Count | None:
    """How often boxes hold the elements of an array; None where there are too many pieces to count."""
    if 0 in shape:
        return Count(1, 1)
    boxes = boxes.within(shape)
    cuts = [
        np.unique(np.concatenate([[0, extent], boxes.lower[:, dim], boxes.upper[:, dim]]))
        for dim, extent in enumerate(shape)
    ]
    pieces = [len(cut) for cut in cuts]
    if prod(pieces) > 4 * LIMIT or boxes.number << boxes.rank > 16 * LIMIT:
        return None
    held = _steps(boxes, cuts, pieces)
    for dim in range(len(shape)):
        held = held.cumsum(axis=dim)
    held = held[tuple(slice(0, size - 1) for size in pieces)]
    least = np.unravel_index(int(held.argmin()), held.shape)
    gap = tuple(int(cut[number]) for cut, number in zip(cuts, least, strict=True))
    return Count(int(held.min()), int(held.max()), gap)


def _steps(boxes: Boxes, cuts: Sequence[np.ndarray], pieces: Sequence[int]) -> np.ndarray:
    """What summing along every dimension makes the count: 1 at each corner where a box begins, -1 where it ends."""
    total = np.zeros(prod(pieces), np.int64)
    corners = [
        (np.searchsorted(cut, boxes.lower[:, dim]), np.searchsorted(cut, boxes.upper[:, dim]))
        for dim, cut in enumerate(cuts)
    ]
    for ends in product((0, 1), repeat=len(cuts)):
        numbers = np.zeros(boxes.number, np.int64)
        for size, corner, end in zip(pieces, corners, ends, strict=True):
            numbers = numbers * size + corner[end]
        total += (-1) ** sum(ends) * np.bincount(numbers, minlength=total.size)
    return total.reshape(pieces)
