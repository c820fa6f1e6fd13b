"""What a rank does, event by event."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

#: First element and limit of each dimension.
Box = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class RefBlock:
    """Elements of a ref of one rank's kernel."""

    ref: SSAValue
    box: Box

    def overlaps(self, other: RefBlock) -> bool:
        """Whether two blocks of one ref have elements in common."""
        return all(a < d and c < b for (a, b), (c, d) in zip(self.box, other.box, strict=True))

    @property
    def name(self) -> str:
        """What to call its memory in a message."""
        return f"'{self.ref.name_hint}'" if self.ref.name_hint else "an array"


@dataclass(frozen=True)
class Flag:
    """One semaphore or counter of a rank: the ref, and the number of its element in each dimension."""

    ref: SSAValue
    position: tuple[int, ...]


@dataclass(frozen=True)
class Event:
    """Base of the events: ``op`` is where it stands."""

    op: Operation


@dataclass(frozen=True)
class Touch(Event):
    """Reads a block, or writes it."""

    block: RefBlock
    writes: bool


@dataclass(frozen=True)
class StartCopy(Event):
    """Starts a copy to a rank, this one too; ``sent`` is a flag here, ``received`` one there. ``size`` in bits."""

    source: RefBlock
    target: RefBlock
    to: int
    sent: Flag | None
    received: Flag
    size: int


@dataclass(frozen=True)
class Await(Event):
    """Waits until a copy has signalled a flag of this rank."""

    flag: Flag
    size: int


@dataclass(frozen=True)
class Signal(Event):
    """Adds one to a flag of a rank."""

    flag: Flag
    to: int


@dataclass(frozen=True)
class AwaitSignal(Event):
    """Waits for one, and takes it away."""

    flag: Flag


@dataclass(frozen=True)
class Arrive(Event):
    """Comes to a barrier."""


@dataclass(frozen=True)
class Pass(Event):
    """Goes on: all ranks have come."""


@dataclass(frozen=True)
class Enter(Event):
    """The kernel starts: its memory is its own from now on."""


@dataclass(frozen=True)
class Leave(Event):
    """The kernel ends: its memory may be another's from now on."""
