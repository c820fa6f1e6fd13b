"""What is known to come before what, when all ranks run: vector clocks.

A wait of a flag goes on when as many signals have come as it and the waits before it have taken. Which they were is
known where no other can have come by then; a wait of which that is not known, a *weak* one, orders nothing. So a flag
that several copies share is no help until as many have been waited for as can have signalled it. Signals of one rank
that are no copies come in their order, so there the number alone tells how far that rank has got.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from kopt.analysis.remote.events import Arrive, Await, AwaitSignal, Event, Flag, Pass, Signal, StartCopy

#: A rank, and the number of one of its events.
Point = tuple[int, int]


@dataclass(eq=False)
class Transfer:
    """A copy that was started: where, and the waits that make sure that it has left and arrived."""

    copy: StartCopy
    start: Point
    left: Point | None = None
    arrived: Point | None = None


@dataclass
class _Line:
    """The signals of one rank's flag in the order of the run, and the waits that took them."""

    signals: list[tuple[Point, Transfer | None, bool]] = field(default_factory=list)
    waits: list[Point] = field(default_factory=list)
    known: int = 0


def run(ranks: Sequence[Sequence[Event]]) -> RankRun:
    """A run of all ranks in which no wait orders more than is known."""
    weak: frozenset[Point] = frozenset()
    while True:
        found = RankRun(ranks, weak)
        confused = weak | set(found.confused())
        if confused == weak:
            return found
        weak = confused


class RankRun:
    """One run of all ranks: each event's clock, the transfers, and the ranks that wait for ever."""

    def __init__(self, ranks: Sequence[Sequence[Event]], weak: frozenset[Point]):
        self.ranks = ranks
        self._weak = weak
        self.transfers: list[Transfer] = []
        self.clocks: list[list[tuple[int, ...]]] = [[] for _ in ranks]
        self._arrivals: list[list[tuple[int, ...]]] = [[] for _ in ranks]
        self._lines: dict[tuple[int, Flag], _Line] = {}
        self._run()

    @property
    def stuck(self) -> list[Point]:
        """The event at which each rank that did not end waits."""
        pairs = zip(self.ranks, self.clocks, strict=True)
        return [(rank, len(clocks)) for rank, (events, clocks) in enumerate(pairs) if len(clocks) < len(events)]

    def event(self, point: Point) -> Event:
        """The event at a point."""
        return self.ranks[point[0]][point[1]]

    def is_before(self, one: Point | None, other: Point) -> bool:
        """Whether one event has happened whenever the other has."""
        return one is not None and self.clocks[other[0]][other[1]][one[0]] >= one[1]

    def left_over(self) -> Iterator[Point]:
        """Signals that nobody waits for."""
        for line in self._lines.values():
            yield from (point for point, *_ in line.signals[len(line.waits) :])

    def confused(self) -> Iterator[Point]:
        """Waits that other signals might satisfy than those that came in this run."""
        for line in self._lines.values():
            if not _in_order(line.signals):
                yield from reversed([*self._confused(line)])

    def _confused(self, line: _Line) -> Iterator[Point]:
        """Those of one flag, the last first: signals behind a wait are seen once, by the first of each rank's."""
        later: dict[int, Point] = {}  # those after it come later than whatever it comes later than
        for count, (point, *_) in reversed([*enumerate(line.signals, 1)]):
            wait = line.waits[count - 1] if count <= len(line.waits) else None
            if wait is not None and not all(self.is_before(wait, other) for other in later.values()):
                yield wait
            later[point[0]] = point

    def mixed(self) -> Iterator[Point]:
        """Waits for a size that is not the size of what may be signalled meanwhile."""
        for line in self._lines.values():
            first = 0
            for count, wait in enumerate(line.waits, 1):
                event = self.event(wait)
                last = len(line.signals) if wait in self._weak else count
                sizes = {transfer.copy.size for _, transfer, _ in line.signals[first:last] if transfer is not None}
                if isinstance(event, Await) and sizes != {event.size}:
                    yield wait
                first = first if wait in self._weak else count

    def _run(self) -> None:
        moved = True
        while moved:
            moved = False
            for rank in range(len(self.ranks)):
                while self._step(rank):
                    moved = True

    def _step(self, rank: int) -> bool:
        number = len(self.clocks[rank])
        if number == len(self.ranks[rank]):
            return False
        point, event = (rank, number), self.ranks[rank][number]
        seen = self._seen(point, event)
        if seen is None:
            return False
        clock = [max(numbers) for numbers in zip(*seen, strict=True)]
        clock[rank] = number
        self.clocks[rank].append(tuple(clock))
        if isinstance(event, Arrive):
            self._arrivals[rank].append(self.clocks[rank][-1])
        self._signal(point, event)
        return True

    def _seen(self, point: Point, event: Event) -> list[tuple[int, ...]] | None:
        """The clocks of what an event follows, or None where it cannot happen yet."""
        rank, number = point
        own = self.clocks[rank][number - 1] if number else (-1,) * len(self.ranks)
        if isinstance(event, Await | AwaitSignal):
            return self._taken(point, event, own)
        if isinstance(event, Pass):
            count = len(self._arrivals[rank])
            if any(len(clocks) < count for clocks in self._arrivals):
                return None
            return [own, *(clocks[count - 1] for clocks in self._arrivals if count)]
        return [own]

    def _taken(self, point: Point, event: Await | AwaitSignal, own: tuple[int, ...]) -> list[tuple[int, ...]] | None:
        line = self._line(point[0], event.flag)
        if len(line.signals) == len(line.waits):
            return None
        line.waits.append(point)
        if point in self._weak:
            return [own]
        taken = line.signals[line.known : len(line.waits)]
        line.known = len(line.waits)
        for _, transfer, is_sent in taken:
            if transfer is not None:
                transfer.left = point if is_sent or transfer.copy.sent is None else transfer.left
                transfer.arrived = transfer.arrived if is_sent else point
        return [own, *(self.clocks[rank][number] for (rank, number), *_ in taken)]

    def _signal(self, point: Point, event: Event) -> None:
        if isinstance(event, Signal):
            self._line(event.to, event.flag).signals.append((point, None, False))
        elif isinstance(event, StartCopy):
            transfer = Transfer(event, point)
            self.transfers.append(transfer)
            self._line(event.to, event.received).signals.append((point, transfer, False))
            if event.sent is not None:
                self._line(point[0], event.sent).signals.append((point, transfer, True))

    def _line(self, rank: int, flag: Flag) -> _Line:
        return self._lines.setdefault((rank, flag), _Line())


def _in_order(signals: Sequence[tuple[Point, Transfer | None, bool]]) -> bool:
    """Whether all are one rank's, and no copies."""
    return len({point[0] for point, *_ in signals}) <= 1 and all(transfer is None for _, transfer, _ in signals)
