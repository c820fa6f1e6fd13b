"""A pipeline over blocks, step by step: ``Σ max(C, D / BW) + steps · ov``, without going through the steps.

A step computes with its blocks while those of the next come and those of the last leave. What it takes depends on two
things only: which axis turns after it, and which did before it. Axes outside of the one that turns stay; those inside
begin anew. So steps fall into as many classes as there are axes, and their numbers are products over the grid.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

import numpy as np

from kopt.planning.trips import Number, Trips


@dataclass(frozen=True)
class Moved:
    """A block that comes before a step, or leaves after it (``leaves``), where one of its ``axes`` turns."""

    size: Number
    axes: frozenset[str]
    leaves: bool = False


@dataclass(frozen=True)
class PipelineCost:
    """What a pipeline takes in all: ``exposed`` are the seconds of the first copies in and of the last out."""

    seconds: Number
    steps: Number
    bytes_in: Number
    bytes_out: Number
    exposed: Number
    overhead: Number


class Pipeline:
    """Steps over the axes ``order``, outermost first, that move blocks."""

    def __init__(self, order: Sequence[str], trips: Mapping[str, Trips], moved: Sequence[Moved]):
        self.order = order
        self.trips = trips
        self.moved = moved
        self.visits = self._visits()
        #: How often each axis turns.
        self.turns = [now - before for before, now in zip([1, *self.visits], self.visits, strict=False)]
        self._deepest = self._deepest_moving()

    @property
    def steps(self) -> Number:
        """How many steps there are."""
        return self.visits[-1] if self.visits else 1

    def _visits(self) -> list[Number]:
        """How many visits there are to each axis, those around empty ranges left out."""
        visits, count = [], 1
        for depth, tag in enumerate(self.order):
            count = count * self.trips[tag].mean
            inner = [self.trips[other] for other in self.order[depth + 1 :]]
            visits.append(count * _product(one.some for one in inner if tag in one.inside))
        return visits

    def _deepest_moving(self) -> list[Number]:
        """Whether each axis is the innermost with more than one block."""
        found, inner = [], np.asarray(False)
        for tag in reversed(self.order):
            moves = self.trips[tag].moves
            found.append(moves & ~inner)
            inner = inner | moves
        return found[::-1]

    def _changes(self, block: Moved, depth: int) -> Number:
        """Whether a block is another one after the axis at a depth turns, and those inside begin anew."""
        inner = [self.trips[tag].moves for tag in self.order[depth:] if tag in block.axes]
        return reduce(or_, inner) if inner else False

    def _bytes(self, leaves: bool) -> list[Number]:
        """The bytes that move when each axis turns."""
        blocks = [block for block in self.moved if block.leaves == leaves]
        return [sum((one.size * self._changes(one, n) for one in blocks), 0) for n in range(len(self.order))]

    def _all_bytes(self, leaves: bool, moving: Sequence[Number]) -> Number:
        """Bytes that move in all: every block once, and again each time that it changes."""
        return _dot(self.turns, moving) + sum((block.size for block in self.moved if block.leaves == leaves), 0)

    def run(self, compute: Callable[[int], Number], bandwidth: Number, overhead: float) -> PipelineCost:
        """The time of all steps; ``compute`` gives the seconds of a step after which the axis at a depth turns."""
        depths = range(len(self.order))
        comes, leaves = self._bytes(False), self._bytes(True)
        takes = [compute(n) for n in depths]
        come, leave, take = (_dot(self._deepest, one) for one in (comes, leaves, takes))
        many = _dot(self._deepest, [self.trips[tag].many for tag in self.order])
        turns = _dot(self._deepest, self.turns)
        rows = self.steps - turns

        def step(seconds: Number, size: Number) -> Number:
            return np.maximum(seconds, size / bandwidth)

        total = many * step(take, come) + step(compute(-1), leave)
        total = total + np.maximum(0, turns - many * rows) * step(take, come + leave)
        for n in depths:
            last = many * step(takes[n], comes[n] + leave) + (1 - many) * step(takes[n], comes[n] + leaves[n])
            total = total + ~self._deepest[n] * self.turns[n] * (last + many * step(take, come + leaves[n]))
        exposed = sum((block.size for block in self.moved), 0) / bandwidth
        taken = self.steps * overhead
        return PipelineCost(
            total + exposed + taken,
            self.steps,
            self._all_bytes(False, comes),
            self._all_bytes(True, leaves),
            exposed,
            taken,
        )


def _dot(chosen: Sequence[Number], values: Sequence[Number]) -> Number:
    return sum((one * value for one, value in zip(chosen, values, strict=True)), 0)


def _product(values: object) -> Number:
    total: Number = 1
    for value in values:  # pyright: ignore
        total = total * value
    return total
