"""The plan of one launch: what is decided, and nothing that follows from it.

A plan has buffers, the accesses that each of them serves, schedules of loops, and the order of the grid. Index maps,
layouts and bytes are derived from it. It is text in the IR, on `tile.grid` (see `kopt.plans.text`):

    plan {order [h, i] parallel [h, i] assume [%idx in 0 to 32000] warps 8
      @q = %q window(h, i) x2
      @k = %k resident(h) x2
      @o = %o window(h, i) x2
    }

There each access names its buffer, ``via @q``, and each loop has its schedule.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

#: What stands behind a word: a number, a choice, axes (and a distance) in parentheses, or nothing, which is ``()``.
Value = int | str | tuple[str | int, ...]
Options = tuple[tuple[str, Value], ...]


@dataclass(frozen=True)
class Buffer:
    """Where blocks of an operand stand while they are used: ``@name = %operand kind(axes) xdepth …``.

    ``axes`` are those that its contents move with. ``source`` is the buffer that rows or elements are picked from,
    ``target`` the one that they are brought into, ``address`` the one that holds their numbers. ``options`` are the
    further words of its kind (`kopt.plans.kinds`), such as ``outstanding 64``, ``evict last``, ``accumulate(k)``.
    """

    name: str
    operand: str
    kind: str
    axes: tuple[str, ...] = ()
    depth: int = 1
    source: str | None = None
    target: str | None = None
    address: str | None = None
    options: Options = ()


@dataclass(frozen=True)
class LoopSchedule:
    """How a loop runs: ``kind`` is ``grid``, ``resident``, ``prefetch``, ``emit_pipeline`` or ``walk``."""

    kind: str
    unroll: int = 1
    peel: tuple[str, ...] = ()
    options: Options = ()


@dataclass(frozen=True)
class Walk:
    """That a whole dimension of an operand is walked in blocks: ``axis`` is the first loop's, which is not there yet.

    ``how`` is ``passes``, a walk for each reduction that depends on another, or ``online``: sums that can be rescaled
    share the walk of the maximum that they depend on.
    """

    operand: str
    dim: int
    axis: str
    size: int
    how: str = "online"


@dataclass(frozen=True)
class Assumption:
    """That loaded numbers of an operand are from ``low`` to below ``high``; the plan is right only where they are."""

    operand: str
    low: int
    high: int


@dataclass(frozen=True, repr=False)
class Plan:
    """The decisions of a launch. ``order`` has every axis of the grid, hoisted loops included, outermost first.

    ``via`` names the buffer of each access by its id. ``options`` are the launch's own: ``warps 8``, ``stages 3``.
    ``walks`` makes loops of dimensions that the kernel takes whole.
    ``views`` are what the host does to an operand before the launch, or after it: ``permute``, ``pad``, …
    ``own``: kopt made all of it, and nobody pinned anything; text does not have it.
    """

    order: tuple[str, ...]
    parallel: frozenset[str]
    buffers: tuple[Buffer, ...]
    via: Mapping[str, str]
    loops: Mapping[str, LoopSchedule] = field(default_factory=dict)
    options: Options = ()
    assume: tuple[Assumption, ...] = ()
    walks: tuple[Walk, ...] = ()
    views: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    own: bool = field(default=False, compare=False)

    def __repr__(self) -> str:
        """In short: the order, and where each buffer is; `plan_text` has all of it."""
        parts = [f"order [{', '.join(self.order)}]", *map(_short, self.buffers)]
        return f"<kopt plan {'; '.join(parts)}>"

    def without(self, accesses: Collection[str]) -> Plan:
        """The same without some accesses, and without the buffers that serve these alone."""
        if self.via.keys().isdisjoint(accesses):
            return self
        via = {access: name for access, name in self.via.items() if access not in accesses}
        gone = {self.via[access] for access in accesses if access in self.via} - {*via.values()}
        return replace(self, via=via, buffers=tuple(buffer for buffer in self.buffers if buffer.name not in gone))

    def buffer(self, access: str) -> Buffer:
        """The buffer of an access."""
        name = self.via[access]
        return next(buffer for buffer in self.buffers if buffer.name == name)


def _short(buffer: Buffer) -> str:
    axes = f"({', '.join(buffer.axes)})" if buffer.axes else ""
    depth = f" x{buffer.depth}" if buffer.depth != 1 else ""
    return f"@{buffer.name} {buffer.kind}{axes}{depth}"
