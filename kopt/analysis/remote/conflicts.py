"""Pairs of accesses to one memory, at least one of them a write and one a copy's, that nothing orders."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from kopt.analysis.remote.events import Block, Touch
from kopt.analysis.remote.order import Point, Run, Transfer


@dataclass(frozen=True, eq=False)
class Access:
    """A block of a rank's memory that is used from an event on, until another where that is known."""

    rank: int
    block: Block
    writes: bool
    begin: Point
    end: Point | None
    op: Operation
    transfer: Transfer | None = None


def conflicts(order: Run) -> Iterator[tuple[Access, Access]]:
    """Each pair once, the one that comes first in some run put first.

    A copy whose end is not known conflicts with nothing after it: that it has none is a hazard of its own.
    """
    for accesses in _by_memory(order).values():
        for number, one in enumerate(accesses):
            if one.transfer is not None:
                yield from _unordered(order, one, accesses, number)


def _by_memory(order: Run) -> dict[tuple[int, SSAValue, tuple[int, int]], list[Access]]:
    """Accesses by rank, ref, and the elements of the first dimension: blocks of different rows need no comparison."""
    found: dict[tuple[int, SSAValue, tuple[int, int]], list[Access]] = defaultdict(list)
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


def _accesses(order: Run) -> Iterator[Access]:
    for rank, events in enumerate(order.ranks):
        for number, event in enumerate(events):
            if isinstance(event, Touch):
                yield Access(rank, event.block, event.writes, (rank, number), (rank, number), event.op)
    for transfer in order.transfers:
        copy, start = transfer.copy, transfer.start
        yield Access(start[0], copy.source, False, start, transfer.left, copy.op, transfer)
        yield Access(copy.to, copy.target, True, start, transfer.arrived, copy.op, transfer)


def _unordered(order: Run, one: Access, accesses: list[Access], number: int) -> Iterator[tuple[Access, Access]]:
    for position, other in enumerate(accesses):
        repeated = other.transfer is not None and position <= number
        if repeated or other.transfer is one.transfer or not (one.writes or other.writes):
            continue
        if not _is_ordered(order, one, other) and one.block.overlaps(other.block):
            yield one, other


def _is_ordered(order: Run, one: Access, other: Access) -> bool:
    return _ends_before(order, one, other) or _ends_before(order, other, one)


def _ends_before(order: Run, one: Access, other: Access) -> bool:
    """Whether one access is over when the other begins."""
    return order.is_before(one.end, other.begin)
