"""A pipeline over blocks, step by step: ``Σ max(C, D / BW) + steps · ov``, without going through the steps.

A step computes with its blocks while those of the next come and those of the last leave. What it takes depends on two
things only: which axis turns after it, and which did before it. Axes outside of the one that turns stay; those inside
begin anew. So steps fall into as many classes as there are axes, and their numbers are products over the grid. Where
loaded numbers tell at which turns of an axis a block changes, the axis has a class for each kind of such turns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import or_

import numpy as np

from kopt.planning.trips import Number, Trips

#: Of a block that is another one whenever an axis turns, or begins anew.
_ALWAYS = (True,)


@dataclass(frozen=True)
class Moved:
    """A block that comes before a step, or leaves after it (``leaves``), where one of its ``axes`` turns.

    ``listed`` says of an axis at which of its turns the block is another, where loaded numbers tell: a matrix of a
    group stays while the group does. After the turns it says whether that is so where the axis begins anew.
    """

    size: Number
    axes: frozenset[str]
    leaves: bool = False
    listed: Mapping[str, np.ndarray] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class _Turns:
    """What moves when an axis turns: bytes that come and leave, of each kind of turn, and how often each kind is.

    ``pairs`` are the shares of two that follow each other. ``first`` and ``last`` are those of a row of turns.
    """

    come: Sequence[Number]
    leave: Sequence[Number]
    shares: Sequence[float] = (1.0,)
    pairs: Mapping[tuple[int, int], float] = field(default_factory=lambda: {(0, 0): 1.0})
    first: int = 0
    last: int = 0

    def mean(self, leaves: bool) -> Number:
        """The bytes of a turn, on average."""
        return _dot(self.shares, self.leave if leaves else self.come)


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

    def _changes(self, block: Moved, depth: int, kind: Mapping[int, bool]) -> Number:
        """Whether a block is another one after the axis at a depth turns, and those inside begin anew."""
        here = self.order[depth]
        inside = [tag for tag in self.order[depth + 1 :] if tag in block.axes]
        inner = [self.trips[tag].moves & bool(block.listed.get(tag, _ALWAYS)[-1]) for tag in inside]
        if here in block.axes:
            inner.append(self.trips[here].moves & kind.get(id(block), True))
        return reduce(or_, inner) if inner else False

    def _turns(self, depth: int) -> _Turns:
        """What moves when the axis at a depth turns."""
        listed = {
            id(block): block.listed[tag][:-1] for block in self.moved if (tag := self.order[depth]) in block.listed
        }
        table = np.stack([*listed.values()], -1) if listed else np.zeros((1, 0), bool)
        if not len(table):
            return _Turns([self._bytes(depth, False, {})], [self._bytes(depth, True, {})])
        kinds, places = np.unique(table, axis=0, return_inverse=True)
        places = places.reshape(-1)
        follow, counts = np.unique(np.stack([places[:-1], places[1:]], -1), axis=0, return_counts=True)
        pairs = {(int(a), int(b)): count / counts.sum() for (a, b), count in zip(follow, counts, strict=True)}
        known = [dict(zip(listed, map(bool, kind), strict=True)) for kind in kinds]
        come, leave = ([self._bytes(depth, leaves, kind) for kind in known] for leaves in (False, True))
        first, last = int(places[0]), int(places[-1])
        return _Turns(
            come, leave, (np.bincount(places) / len(places)).tolist(), pairs or {(first, last): 1.0}, first, last
        )

    def _bytes(self, depth: int, leaves: bool, kind: Mapping[int, bool]) -> Number:
        """The bytes that move when the axis at a depth turns."""
        blocks = [block for block in self.moved if block.leaves == leaves]
        return sum((one.size * self._changes(one, depth, kind) for one in blocks), 0)

    def bytes_in(self) -> list[Number]:
        """The bytes that come for the step after each axis turns, on average."""
        return [self._turns(depth).mean(False) for depth in range(len(self.order))]

    def bytes_out(self) -> list[Number]:
        """The bytes that leave after each axis turns, on average."""
        return [self._turns(depth).mean(True) for depth in range(len(self.order))]

    def _all_bytes(self, leaves: bool, moving: Sequence[_Turns]) -> Number:
        """Bytes that move in all: every block once, and again each time that it changes."""
        turning = [turns.mean(leaves) for turns in moving]
        return _dot(self.turns, turning) + sum((block.size for block in self.moved if block.leaves == leaves), 0)

    def run(self, compute: Callable[[int], Number], bandwidth: Number, overhead: float) -> PipelineCost:
        """The time of all steps; ``compute`` gives the seconds of a step after which the axis at a depth turns."""
        depths = range(len(self.order))
        moving = [self._turns(n) for n in depths]
        takes = [compute(n) for n in depths]

        def step(seconds: Number, size: Number) -> Number:
            return np.maximum(seconds, size / bandwidth)

        def deepest(values: Iterable[Number]) -> Number:
            return _dot(self._deepest, [*values])

        many, turns = deepest(self.trips[tag].many for tag in self.order), deepest(self.turns)
        rows = self.steps - turns
        gone = deepest(one.leave[one.last] for one in moving)
        after = [self._between(*pair) for pair in zip(takes, moving, strict=True)]
        total = many * deepest(step(take, one.come[one.first]) for take, one in zip(takes, moving, strict=True))
        total = total + step(compute(-1), gone)
        total = total + np.maximum(0, turns - many * rows) * deepest(one(step) for one in after)
        for n, here in enumerate(moving):
            for share, come, leave in zip(here.shares, here.come, here.leave, strict=True):
                last = many * step(takes[n], come + gone) + (1 - many) * step(takes[n], come + leave)
                first = deepest(
                    step(take, one.come[one.first] + leave) for take, one in zip(takes, moving, strict=True)
                )
                total = total + ~self._deepest[n] * share * self.turns[n] * (last + many * first)
        exposed = sum((block.size for block in self.moved), 0) / bandwidth
        taken = self.steps * overhead
        return PipelineCost(
            total + exposed + taken,
            self.steps,
            self._all_bytes(False, moving),
            self._all_bytes(True, moving),
            exposed,
            taken,
        )

    @staticmethod
    def _between(take: Number, turns: _Turns) -> Callable[[Callable[[Number, Number], Number]], Number]:
        """The time of a step between two turns of one axis."""
        return lambda step: sum(
            share * step(take, turns.come[then] + turns.leave[before]) for (before, then), share in turns.pairs.items()
        )


def _dot(chosen: Sequence[Number], values: Sequence[Number]) -> Number:
    return sum((one * value for one, value in zip(chosen, values, strict=True)), 0)


def _product(values: object) -> Number:
    total: Number = 1
    for value in values:  # pyright: ignore
        total = total * value
    return total
