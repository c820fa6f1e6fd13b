"""What a tuner may choose: knobs with their values, and points, a value of each knob."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

#: Points as arrays: of each knob the numbers of its values, an element a point.
Points = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Knob:
    """One choice: ``block_sizes[0]``, ``num_warps``; its values as configurations have them.

    ``usual`` is what it is where a configuration does not say; None where that depends on the kernel.
    """

    name: str
    values: tuple[Any, ...]
    usual: Any = None


@dataclass(frozen=True)
class Space:
    """All combinations of some knobs' values."""

    knobs: tuple[Knob, ...]

    @property
    def size(self) -> int:
        """How many points there are."""
        return prod(len(knob.values) for knob in self.knobs)

    def all(self) -> Points:
        """Every point, the last knob's value changing first."""
        columns = np.meshgrid(*(np.arange(len(knob.values)) for knob in self.knobs), indexing="ij")
        return {knob.name: column.reshape(-1) for knob, column in zip(self.knobs, columns, strict=True)}

    def points(self, found: Sequence[Sequence[int]]) -> Points:
        """Some points, from the numbers of their values."""
        table = np.asarray(found, dtype=int).reshape(len(found), len(self.knobs))
        return {knob.name: table[:, number] for number, knob in enumerate(self.knobs)}

    def values(self, points: Points, name: str) -> np.ndarray:
        """The values of a knob at points, as numbers."""
        knob = next(knob for knob in self.knobs if knob.name == name)
        return np.asarray(knob.values)[points[name]]

    def at(self, points: Points, number: int) -> dict[str, Any]:
        """One point: values by the names of knobs."""
        return {knob.name: knob.values[int(points[knob.name][number])] for knob in self.knobs}


def count(points: Points) -> int:
    """How many points there are; one where there are no knobs."""
    return max(map(len, points.values()), default=1)
