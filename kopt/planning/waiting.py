"""Values that wait, and the VMEM that a TPU's kernel takes for those of them that its vector registers do not hold.

libtpu unrolls each op over registers of 4 KiB, and schedules what is elementwise one register after the other. A whole
value is alive only where it waits for the end of a *phase*: reductions and products give what they give when they have
seen all of their operands. So the visits of a kernel are traced (`kopt.planning.register_trace`), each op at its phase,
and what waits between two phases is summed up. Calibrated with libtpu 0.0.42 (``benchmarks/vmem.py``).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate

import numpy as np

from kopt.ir.register_code import RegisterCode
from kopt.planning.register_trace import Schedule, Sizing, Trace, TracedOp, as_written, trace
from kopt.planning.trips import Number, Sizes, max_of
from kopt.targets.tiling import REGISTER

#: Registers, of 64, that hold what waits; the others are at work.
_WAITING = 42
#: Uses of a value widened from a narrow one up to which libtpu widens it again, and keeps the narrow one.
_WIDENED_AGAIN = 2


def spilled(pressure: Number) -> Number:
    """Bytes of VMEM for what waits and has no register."""
    beyond = pressure - _WAITING
    return REGISTER * (beyond * (beyond > 0))


def pressures(found: Trace) -> list[tuple[int, Number]]:
    """The registers that all that waits would take, from each phase on where that changes."""
    _settle(found.ops)
    changes: dict[int, Number] = {}
    for begin, end, size in (*_lives(found.ops), *found.inside, *_first_results(found.ops)):
        for phase, change in ((begin, size), (end, -size)):
            changes[phase] = changes.get(phase, 0) + (change if begin != end else 0)
    phases = sorted(changes)
    return list(zip(phases, accumulate(changes[phase] for phase in phases), strict=True))


def spilled_bytes(code: RegisterCode, sizes: Sizes, mxu: int, schedule: Schedule = as_written) -> Number:
    """Bytes of VMEM for what waits and has no register, where it is the most.

    Of candidates that a trace decides alike for there is one trace.
    """
    counts = [len(size) for size in sizes.values() if np.ndim(size)]
    if not counts:
        return spilled(_pressure(code, Sizing(code, sizes), mxu, schedule))
    found, left = np.zeros(max(counts), int), np.ones(max(counts), bool)
    while left.any():
        sizing = Sizing(code, sizes, int(left.argmax()))
        pressure = _pressure(code, sizing, mxu, schedule)
        found = np.where(left & sizing.same, spilled(pressure), found)
        left = left & ~np.asarray(sizing.same)
    return found


def _pressure(code: RegisterCode, sizing: Sizing, mxu: int, schedule: Schedule) -> Number:
    """The registers that all that waits would take, where it is the most."""
    return max_of(waiting for _, waiting in pressures(trace(code, sizing, mxu, schedule)))


def _settle(ops: list[TracedOp]) -> None:
    """Ops that can wait run when the first one asks for them."""
    for op in reversed(ops):
        if op.lazy and op.users:
            op.at = max(op.at, min(user.at for user in op.users))


def _lives(ops: list[TracedOp]) -> Iterable[tuple[int, int, Number]]:
    """From which phase to which each value waits, and its registers."""
    widened: dict[TracedOp, int] = {}
    for op in reversed(ops):
        end = max((user.at for user in op.users), default=op.there)
        if op.widens and len(op.users) <= _WIDENED_AGAIN:
            (source,) = op.operands
            widened[source] = max(widened.get(source, 0), end)
        elif op.reads:
            yield op.there, max(op.there, widened.get(op, 0)), op.size
        elif op.users:
            begin = min(user.at for user in op.users) - 1 if op.shared else op.there
            yield begin, max(end, widened.get(op, 0)), op.size


def _first_results(ops: list[TracedOp]) -> Iterable[tuple[int, int, Number]]:
    """Reductions of lanes come out all together, those of one phase one after the other."""
    sizes: dict[int, list[Number]] = {}
    for op in ops:
        if op.together:
            sizes.setdefault(op.at, []).append(op.size)
    return ((at, at + 1, max_of(found)) for at, found in sizes.items())
