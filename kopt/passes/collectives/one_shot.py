"""One-shot kernels: every rank copies to every other at once. Few steps; each link carries what all ranks send.

After a barrier, a rank copies its own part to its place here, and starts to copy each other rank's part to its place
there; then it waits, for each, until that has left, and until what the other sends has come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from kopt.dialects.builder import named
from kopt.dialects.symm import BarrierOp
from kopt.dialects.tile import ALL, Entry, RefType
from kopt.passes.collectives.building import (
    CollectiveKernel,
    LocalCopy,
    Members,
    Place,
    RankCopy,
    loop,
    number,
    visit,
    whole,
    wrapped,
)
from kopt.passes.collectives.combining import read, reduced, write
from kopt.passes.collectives.shaping import RowParts

#: One semaphore.
SEMAPHORE = RefType([1], i32, "semaphore")
#: What a rank sends to a rank, or where rank ``n`` puts what it sends.
Places = Callable[[SSAValue], Place]


@dataclass(frozen=True)
class _Post:
    """Everybody's copies to everybody: ``target(n)`` is where rank n puts its own, and ``received`` has one for it."""

    members: Members
    target: Places
    sent: SSAValue
    received: SSAValue
    loaded: SSAValue
    half: tuple[Entry, ...] = ()

    def run(self, me: SSAValue, source: Places) -> None:
        """Sends ``source(n)`` to each rank n, and waits for what they send."""
        own = LocalCopy(source(me), self.target(me), self.loaded)
        own.start()
        with self._others(me) as other:
            self._copy(source(other), me, other).start()
        own.wait()
        with self._others(me) as other:
            self._copy(source(other), other, other).wait()

    @contextmanager
    def _others(self, me: SSAValue) -> Iterator[SSAValue]:
        with loop(self.members, "d", self.members.ranks - 1) as distance:
            beside = named(arith.AddiOp(me, number(1)).result, "ahead")
            far = named(arith.AddiOp(beside, visit(distance, "d")).result, "ahead")
            yield wrapped(far, self.members.ranks, "other")

    def _copy(self, source: Place, sender: SSAValue, rank: SSAValue) -> RankCopy:
        received = (self.received, (*self.half, sender))
        return RankCopy(source, self.target(sender), rank, (self.sent, (0,)), received, self.members.group)


def exchange(name: str, source: SSAValue, parts: RowParts, members: Members, is_personal: bool) -> SSAValue:
    """Part n of the result is what rank n has: all of it, or its part for this rank where it ``is_personal``."""
    received = RefType([members.ranks], i32, "semaphore")
    kernel = CollectiveKernel(name, [source], [parts.whole], [SEMAPHORE, SEMAPHORE, received], members)
    given, out, loaded, sent, arrived = kernel.call_refs("given", "out", "loaded", "sent", "received")
    with kernel.body() as me:
        BarrierOp(members.group, members.ranks)
        post = _Post(members, lambda rank: (out, (rank, ALL, ALL)), sent, arrived, loaded)
        post.run(me, lambda rank: (given, (rank, ALL, ALL)) if is_personal else whole(given))
    return kernel.call.outputs[0]


def reduce_at_once(
    name: str, source: SSAValue, parts: RowParts, members: Members, kind: str, is_personal: bool
) -> SSAValue:
    """The combination of what all ranks have: of all of it, or of their parts for this rank where it ``is_personal``.

    What comes is put in one of two halves of the inbox by turns. A rank that has heard from all others for a piece
    may send the piece after the next to the same half: they had read it before they sent for the piece between.
    """
    inbox = RefType([2, members.ranks, parts.piece, 128], parts.type.element_type)
    total = RefType([parts.piece, 128], parts.type.element_type)
    received = RefType([2, members.ranks], i32, "semaphore")
    kernel = CollectiveKernel(name, [source], [parts.single], [inbox, total, SEMAPHORE, SEMAPHORE, received], members)
    names = ("given", "out", "inbox", "total", "loaded", "sent", "received")
    given, out, box, result, loaded, sent, arrived = kernel.call_refs(*names)
    with kernel.body() as me:
        BarrierOp(members.group, members.ranks)
        with loop(members, "piece", parts.rows, parts.piece) as piece:
            half = wrapped(visit(piece, "turn"), 2, "half")
            target: Places = lambda rank: (box, (half, rank, ALL, ALL))  # noqa: E731
            post = _Post(members, target, sent, arrived, loaded, (half,))
            post.run(me, lambda rank: (given, (rank, piece, ALL) if is_personal else (piece, ALL)))
            values = read((box, (half, ALL, ALL, ALL)), "parts")
            write(reduced(kind, values, members.ranks), whole(result))
            LocalCopy(whole(result), (out, (piece, ALL)), loaded).run()
    return kernel.call.outputs[0]
