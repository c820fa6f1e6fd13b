"""The accesses to a kernel's memory that nothing orders, and what can happen then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.ir import Block, Operation, SSAValue

from kopt.analysis.remote.conflicts import MOST, RankAccess, compares_all, conflicts
from kopt.analysis.remote.events import Arrive, AwaitSignal, Event, Pass, Signal, StartCopy
from kopt.analysis.remote.order import Point, RankRun, Transfer, run
from kopt.analysis.remote.unroll import NotKnown, unroll
from kopt.dialects import symm
from kopt.dialects.pallas import CallOp
from kopt.dialects.tile import RefType
from kopt.walk import walk

_SEND_NOTE = "symm.remote_copy_wait send of every copy, before the kernel ends"
_RECEIVE_NOTE = "symm.remote_copy_wait receive of every copy, on a semaphore that no other copy signals meanwhile"


@dataclass(frozen=True)
class Hazard:
    """What can happen at an op, on ranks of a number, and what would prevent it."""

    op: Operation
    message: str
    note: str


#: Each event has a clock of all ranks.
_RANKS = 256


def hazards(call: CallOp, limit: int) -> Iterator[Hazard]:
    """Everything that can go wrong between the ranks of a kernel, in some order of its events.

    Raises `NotKnown` where the order depends on what is in memory, has more than ``limit`` events, or more than `MOST`
    accesses to one memory, of which the first are looked at.
    """
    barriers = walk(call, symm.BarrierOp)
    first = walk(call, symm.RemoteCopyOp, symm.SignalOp, symm.WaitOp)[0]
    ranks = barriers[0].ranks if barriers else None
    if barriers and ranks is None:
        raise NotKnown(barriers[0], "its barrier is with some ranks, and how many there are is not known")
    if ranks is None:
        message = "ranks write each other's memory with no barrier before: a rank that has not begun this kernel"
        message += " still uses that memory for something else"
        yield Hazard(first, message, "symm.barrier, or hl.remote_barrier, before the first copy or signal")
        return
    if len({op.properties["group"] for op in walk(call) if "group" in op.properties}) > 1:
        raise NotKnown(first, "it names several groups")
    count = ranks.value.data
    if count > _RANKS:
        raise NotKnown(first, f"it has more than {_RANKS} ranks")
    events = [unroll(call, rank, limit // count) for rank in range(count)]
    if beyond := [*_beyond(events)]:
        yield from beyond
        return
    order = run(events)
    if order.stuck:
        yield from _stuck(order)
    else:
        yield from _unordered(order)
        if not compares_all(order):
            raise NotKnown(first, f"one memory is accessed more than {MOST} times, and only the first are compared")


def _beyond(ranks: Sequence[Sequence[Event]]) -> Iterator[Hazard]:
    """Copies and signals to ranks that there are not."""
    for rank, events in enumerate(ranks):
        for event in events:
            if isinstance(event, StartCopy | Signal) and not 0 <= event.to < len(ranks):
                message = f"'{event.op.name}' of rank {rank} is to rank {event.to} of {len(ranks)}"
                yield Hazard(event.op, message, f"ranks are numbered from 0 to {len(ranks) - 1}")


def _stuck(order: RankRun) -> Iterator[Hazard]:
    rank, number = order.stuck[0]
    event = order.event((rank, number))
    if isinstance(event, Pass | Arrive):
        message = f"rank {rank} waits at a barrier for a rank that ends, or waits, without coming to it"
        yield Hazard(event.op, message, "every rank comes to every barrier")
    else:
        what = "a signal" if isinstance(event, AwaitSignal) else "a copy"
        yield Hazard(event.op, f"rank {rank} waits for {what} that never comes", "as many are sent as are waited for")


def _unordered(order: RankRun) -> Iterator[Hazard]:
    for transfer in order.transfers:
        yield from _at_entry(order, transfer)
    for point in order.mixed():
        message = f"rank {point[0]} waits for a block of another size than what is sent"
        yield Hazard(order.event(point).op, message, "a semaphore counts bytes: blocks of one size share it")
    # What a kernel reads and writes itself says more than which copies meet.
    for one, other in sorted(conflicts(order), key=lambda pair: pair[1].transfer is not None):
        yield _conflict(order, one, other)
    for transfer in order.transfers:
        yield from _at_exit(order, transfer)
    for point in order.left_over():
        message = f"a signal of rank {point[0]} is never waited for: the next kernel's count would begin with it"
        yield Hazard(order.event(point).op, message, "as many are waited for as are sent")
    yield from _barrier_reused(order)


def _at_entry(order: RankRun, transfer: Transfer) -> Iterator[Hazard]:
    rank, to = transfer.start[0], transfer.copy.to
    if to != rank and _is_window(transfer.copy.target.ref):
        message = f"rank {rank} writes {transfer.copy.target.name} of rank {to}, a window that moves with its grid"
        yield Hazard(transfer.copy.op, message, "copy to scratch memory, or to an array in HBM")
    if to != rank and not order.is_before((to, 0), transfer.start):
        message = f"rank {rank} may write {transfer.copy.target.name} of rank {to} before that has begun the kernel:"
        message += " it still uses the memory for something else"
        yield Hazard(transfer.copy.op, message, "an entry barrier is missing: symm.barrier before the first copy")


def _is_window(ref: SSAValue) -> bool:
    call = ref.owner.parent_op() if isinstance(ref.owner, Block) else None
    if not isinstance(call, CallOp) or ref not in (*call.input_refs, *call.output_refs):
        return False
    assert isinstance(ref.type, RefType)
    return ref.type.space.data not in ("hbm", "any")


def _at_exit(order: RankRun, transfer: Transfer) -> Iterator[Hazard]:
    rank, to, op = transfer.start[0], transfer.copy.to, transfer.copy.op
    source, target = transfer.copy.source.name, transfer.copy.target.name
    if transfer.left is None:
        message = f"rank {rank} may end while its copy of {source} still leaves: what comes after is sent instead"
        yield Hazard(op, message, _SEND_NOTE)
    if transfer.arrived is None:
        message = f"rank {to} may end before the copy of rank {rank} has arrived in {target}:"
        message += " it would be written into the memory of what comes after"
        yield Hazard(op, message, _RECEIVE_NOTE)


def _conflict(order: RankRun, one: RankAccess, other: RankAccess) -> Hazard:
    """Two accesses of which at least one is a copy's, put first."""
    copy, touch = (one, other) if one.transfer is not None else (other, one)
    assert copy.transfer is not None
    name, rank, sender = copy.block.name, copy.rank, copy.transfer.start[0]
    if touch.transfer is not None:
        message = f"two copies may be in {name} of rank {rank} at a time: one of rank {sender}, one of rank"
        message += f" {touch.transfer.start[0]}"
        return Hazard(touch.op, message, "the second waits until the first has arrived and is no longer needed")
    does = "writes" if touch.writes else "reads"
    if not copy.writes:
        message = f"rank {rank} writes {name} while it may still be sent: what is sent is some of both"
        return Hazard(touch.op, message, "symm.remote_copy_wait send before the source is written again")
    if order.is_before(copy.begin, touch.begin) or not _has_content(order, touch):
        message = f"rank {rank} {does} {name}, and the copy of rank {sender} may not have arrived"
        return Hazard(touch.op, message, _RECEIVE_NOTE)
    message = f"rank {sender} may overwrite {name} of rank {rank} before that {does} it:"
    message += f" nothing tells rank {sender} that it has"
    return Hazard(copy.op, message, "symm.signal after the last use, and symm.wait for it before the next copy")


def _has_content(order: RankRun, touch: RankAccess) -> bool:
    """Whether a copy has arrived where it is read: if so, it is what was meant."""
    return any(
        transfer.copy.to == touch.rank
        and transfer.copy.target.ref is touch.block.ref
        and transfer.copy.target.overlaps(touch.block)
        and order.is_before(transfer.arrived, touch.begin)
        for transfer in order.transfers
    )


def _barrier_reused(order: RankRun) -> Iterator[Hazard]:
    """A rank that ends may come to the next kernel's barrier: all must be through this one's, which it must know."""
    ends = {rank: (rank, len(events) - 1) for rank, events in enumerate(order.ranks)}
    for rank, events in enumerate(order.ranks):
        passed = [(rank, number) for number, event in enumerate(events) if isinstance(event, Pass)]
        for other, end in ends.items():
            if passed and not order.is_before(passed[-1], end):
                yield _reuse_of_barrier(order, other, passed[-1])
                return


def _reuse_of_barrier(order: RankRun, rank: int, passed: Point) -> Hazard:
    message = f"rank {rank} may end, and signal the next kernel's barrier, while rank {passed[0]} still waits at this"
    message += " one: it would go on too early"
    return Hazard(order.event(passed).op, message, "before it ends, each rank waits for a copy or signal of every rank")
