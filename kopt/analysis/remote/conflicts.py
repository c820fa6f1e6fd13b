"""Pairs of accesses to one memory, at least one of them a write and one a copy's, that nothing orders."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from kopt.analysis.remote.events import RefBlock, Touch
from kopt.analysis.remote.order import Point, RankRun, Transfer


@dataclass(frozen=True, eq=False)
class RankAccess:
    """A block of a rank's memory that is used from an event on, until another where that is known."""

    rank: int
    block: RefBlock
    writes: bool
    begin: Point
    end: Point | None
    op: Operation
    transfer: Transfer | None = None


#: Accesses to one memory that are compared with each other: as many pairs take seconds.
MOST = 600


def compares_all(order: RankRun) -> bool:
    """Whether no memory has more accesses than `conflicts` compares."""
    return all(len(accesses) <= MOST for accesses in _by_memory(order).values())


def conflicts(order: RankRun) -> Iterator[tuple[RankAccess, RankAccess]]:
    """Each pair of the first accesses of each memory once, the one that comes first in some run put first.

    A copy whose end is not known conflicts with nothing after it: that it has none is a hazard of its own.
    """
    copies = (
        (one, accesses, number)
        for accesses in map(_first, _by_memory(order).values())
        for number, one in enumerate(accesses)
        if one.transfer is not None
    )
    # Two blocks of several rows meet in each of them.
    yield from dict.fromkeys(pair for copy in copies for pair in _unordered(order, *copy))


def _first(accesses: list[RankAccess]) -> list[RankAccess]:
    """Those that ranks come to first, as many as are compared."""
    if len(accesses) <= MOST:
        return accesses
    last = sorted(access.begin[1] for access in accesses)[MOST - 1]
    return [access for access in accesses if access.begin[1] <= last][:MOST]


def _by_memory(order: RankRun) -> dict[tuple[int, SSAValue, tuple[int, int]], list[RankAccess]]:
    """Accesses by rank, ref, and the elements of the first dimension: blocks of different rows need no comparison."""
    found: dict[tuple[int, SSAValue, tuple[int, int]], list[RankAccess]] = defaultdict(list)
    rows: dict[SSAValue, set[tuple[int, int]]] = defaultdict(set)
    everything = list(_accesses(order))
    for access in everything:
        rows[access.block.ref].add(access.block.box[0])
    for access in everything:
        lower, upper = access.block.box[0]
        for row in rows[access.block.ref]:
            if row[0] < upper and lower < row[1]:
                found[access.rank, access.block.ref, row].append(access)
    return found


def _accesses(order: RankRun) -> Iterator[RankAccess]:
    for rank, events in enumerate(order.ranks):
        for number, event in enumerate(events):
            if isinstance(event, Touch):
                yield RankAccess(rank, event.block, event.writes, (rank, number), (rank, number), event.op)
    for transfer in order.transfers:
        copy, start = transfer.copy, transfer.start
        yield RankAccess(start[0], copy.source, False, start, transfer.left, copy.op, transfer)
        yield RankAccess(copy.to, copy.target, True, start, transfer.arrived, copy.op, transfer)


def _unordered(
    order: RankRun, one: RankAccess, accesses: list[RankAccess], number: int
) -> Iterator[tuple[RankAccess, RankAccess]]:
    for position, other in enumerate(accesses):
        repeated = other.transfer is not None and position <= number
        if repeated or other.transfer is one.transfer or not (one.writes or other.writes):
            continue
        if not _is_ordered(order, one, other) and one.block.overlaps(other.block):
            yield one, other


def _is_ordered(order: RankRun, one: RankAccess, other: RankAccess) -> bool:
    return _ends_before(order, one, other) or _ends_before(order, other, one)


def _ends_before(order: RankRun, one: RankAccess, other: RankAccess) -> bool:
    """Whether one access is over when the other begins."""
    return order.is_before(one.end, other.begin)
