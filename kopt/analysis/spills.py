"""Spills: the VMEM that a TPU's kernel takes for values that its vector registers do not hold.

libtpu unrolls each op over registers of 4 KiB, and schedules what is elementwise one register after the other. A whole
value is alive only where it waits for the end of a *phase*: reductions and products give what they give when they have
seen all of their operands. So the visits of a kernel are traced (`trace`), each op at its phase, and what waits
between two phases is summed up. Calibrated with libtpu 0.0.42 (``benchmarks/vmem.py``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import accumulate

from kopt.analysis.register_trace import TracedOp, trace
from kopt.dialects.tile import GridOp
from kopt.targets.chips import TpuChip
from kopt.targets.tiling import REGISTER

#: Registers, of 64, that hold what waits; the others are at work.
_WAITING = 42
#: Uses of a value widened from a narrow one up to which libtpu widens it again, and keeps the narrow one.
_WIDENED_AGAIN = 2


def spilled_bytes(grid: GridOp, chip: TpuChip) -> int:
    """Bytes of VMEM for what waits and has no register, where it is the most."""
    return max((size for _, size in spills(grid, chip)), default=0)


def spills(grid: GridOp, chip: TpuChip) -> list[tuple[int, int]]:
    """Bytes of VMEM for what waits and has no register: from each phase on where that changes."""
    return [(phase, REGISTER * max(0, waiting - _WAITING)) for phase, waiting in pressures(grid, chip)]


def pressure(grid: GridOp, chip: TpuChip) -> int:
    """The registers that all that waits would take, where it is the most."""
    return max((waiting for _, waiting in pressures(grid, chip)), default=0)


def pressures(grid: GridOp, chip: TpuChip) -> list[tuple[int, int]]:
    """The registers that all that waits would take, from each phase on where that changes."""
    found = trace(grid, chip)
    _settle(found.ops)
    changes: Counter[int] = Counter()
    for begin, end, size in (*_lives(found.ops), *found.inside, *_first_results(found.ops)):
        changes[begin] += size
        changes[end] -= size
    phases = sorted(changes)
    return list(zip(phases, accumulate(changes[phase] for phase in phases), strict=True))


def _settle(ops: list[TracedOp]) -> None:
    """Ops that can wait run when the first one asks for them."""
    for op in reversed(ops):
        if op.lazy and op.users:
            op.at = max(op.at, min(user.at for user in op.users))


def _lives(ops: list[TracedOp]) -> Iterable[tuple[int, int, int]]:
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


def _first_results(ops: list[TracedOp]) -> Iterable[tuple[int, int, int]]:
    """Reductions of lanes come out all together, those of one phase one after the other."""
    largest: dict[int, int] = {}
    for op in ops:
        if op.together:
            largest[op.at] = max(largest.get(op.at, 0), op.size)
    return ((at, at + 1, size) for at, size in largest.items())
