"""Ring kernels: every rank copies to the next one only, in as many steps as there are other ranks.

Reducing, a part travels the whole ring, and each rank adds its own; gathering, each rank passes on what has come.

A step of a reduction sends what has been summed, and adds this rank's part to what comes. A step of a gathering sends
what came last, and keeps what comes.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from kopt.dialects.builder import named
from kopt.dialects.symm import BarrierOp, SignalOp, WaitOp
from kopt.dialects.tile import ALL, Entry, RefType
from kopt.passes.collectives.building import (
    CollectiveKernel,
    LocalCopy,
    Members,
    RankCopy,
    before,
    loop,
    number,
    ring,
    visit,
    when,
    whole,
    wrapped,
)
from kopt.passes.collectives.combining import combined, read, scaled, write
from kopt.passes.collectives.one_shot import SEMAPHORE
from kopt.passes.collectives.shaping import RowParts
from kopt.targets.tiling import LANES


@dataclass(frozen=True)
class Neighbours:
    """This rank and the two beside it."""

    me: SSAValue
    left: SSAValue
    right: SSAValue


def neighbours(me: SSAValue, members: Members) -> Neighbours:
    """The numbers of the ranks beside this one."""
    return Neighbours(me, ring(me, -1, members.ranks, "left"), ring(me, 1, members.ranks, "right"))


def gather(name: str, source: SSAValue, parts: RowParts, members: Members) -> SSAValue:
    """All ranks' arrays, in the order of ranks."""
    received = RefType([members.ranks - 1], i32, "semaphore")
    kernel = CollectiveKernel(name, [source], [parts.whole], [SEMAPHORE, SEMAPHORE, received], members)
    given, out, loaded, sent, arrived = kernel.call_refs("given", "out", "loaded", "sent", "received")
    with kernel.body() as me:
        LocalCopy(whole(given), (out, (me, ALL, ALL)), loaded).run()
        BarrierOp(members.group, members.ranks)
        _pass_on(members, neighbours(me, members), out, (ALL, ALL), sent, arrived)
    return kernel.call.outputs[0]


def _pass_on(
    members: Members, ranks: Neighbours, out: SSAValue, rows: tuple[Entry, ...], sent: SSAValue, received: SSAValue
) -> None:
    """Sends on what is in ``out``: my own part first, then each that has come."""
    with loop(members, "step", members.ranks - 1) as range:
        step = visit(range, "step")
        part = (out, (before(ranks.me, step, 0, members.ranks, "part"), *rows))
        RankCopy(part, part, ranks.right, (sent, (0,)), (received, (step,)), members.group).run()


def reduce(name: str, source: SSAValue, parts: RowParts, members: Members, kind: str, is_gathered: bool) -> SSAValue:
    """The combination of all ranks' arrays: my part of it, or all parts where the result ``is_gathered``."""
    block = RefType([parts.piece, LANES], parts.type.element_type)
    inbox = RefType([2, parts.piece, LANES], parts.type.element_type)
    semaphores = [SEMAPHORE, SEMAPHORE, RefType([2], i32, "semaphore"), RefType([1], i32, "counter")]
    gathered = [SEMAPHORE, RefType([members.ranks - 1], i32, "semaphore")] if is_gathered else []
    scratch = [block, block, inbox, *semaphores, *gathered]
    kernel = CollectiveKernel(name, [source], [parts.whole if is_gathered else parts.single], scratch, members)
    extra = ("passed", "gathered") if is_gathered else ()
    names = ("given", "out", "sum", "mine", "inbox", "loaded", "sent", "received", "free", *extra)
    given, out, total, mine, box, loaded, sent, received, free, *rest = kernel.call_refs(*names)
    ring = _Reduction(members, parts, kind, given, total, mine, box, loaded, sent, received, free)
    with kernel.body() as me:
        ranks = neighbours(me, members)
        BarrierOp(members.group, members.ranks)
        with loop(members, "piece", parts.rows, parts.piece) as piece:
            ring.run(ranks, piece)
            if kind == "avg":
                write(scaled(kind, read(whole(total), "sum"), members.ranks), whole(total))
            result = (out, (me, piece, ALL) if is_gathered else (piece, ALL))
            LocalCopy(whole(total), result, loaded).run()
            if is_gathered:
                _pass_on(members, ranks, out, (piece, ALL), *rest)
    return kernel.call.outputs[0]


@dataclass(frozen=True)
class _Reduction:
    """The memory of a ring that reduces, piece by piece.

    What comes is put in the two places of the inbox by turns. A place may be used again when its last content was
    read there, which the receiver signals: its counter of ``free`` places stands two steps behind.
    """

    members: Members
    parts: RowParts
    kind: str
    given: SSAValue
    total: SSAValue
    mine: SSAValue
    inbox: SSAValue
    loaded: SSAValue
    sent: SSAValue
    received: SSAValue
    free: SSAValue

    def run(self, ranks: Neighbours, piece: SSAValue) -> None:
        """Leaves the combination of all ranks' piece of my part in ``total``."""
        first = ring(ranks.me, -1, self.members.ranks, "first")
        LocalCopy((self.given, (first, piece, ALL)), whole(self.total), self.loaded).run()
        turn = visit(piece, "turn")
        with loop(self.members, "step", self.members.ranks - 1) as range:
            self._step(ranks, piece, turn, visit(range, "step"))

    def _step(self, ranks: Neighbours, piece: SSAValue, turn: SSAValue, step: SSAValue) -> None:
        members, steps = self.members, self.members.ranks - 1
        use = named(arith.AddiOp(arith.MuliOp(turn, number(steps)), step).result, "use")
        slot = wrapped(use, 2, "slot")
        place = (self.inbox, (slot, ALL, ALL))
        with when("uge", use, 2):
            WaitOp(self.free, ranks.right, 0, members.group)
        copy = RankCopy(
            whole(self.total), place, ranks.right, (self.sent, (0,)), (self.received, (slot,)), members.group
        )
        copy.start()
        part = before(ranks.me, step, 2, members.ranks, "part")
        LocalCopy((self.given, (part, piece, ALL)), whole(self.mine), self.loaded).run()
        copy.wait()
        write(combined(self.kind, read(place, "came"), read(whole(self.mine), "own")), whole(self.total))
        with when("ult", use, steps * (self.parts.rows // self.parts.piece) - 2):
            SignalOp(self.free, ranks.left, 0, members.group)
