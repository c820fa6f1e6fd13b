"""An oracle of barriers: which elements threads meet in, found by running a launch.

It knows no index expressions. It watches which element each lane accesses since the last barrier. Lanes of one number
are one thread where two accesses have the same index list; all others are different threads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from unittest.mock import patch

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.rewriter import Rewriter

from kopt.dialects.atomic import COMMUTES, RmwOp
from kopt.dialects.tile import Access
from kopt.dialects.triton import BarrierOp
from kopt.interpreter import HANDLERS, run, triton
from kopt.interpreter.storage import address


@dataclass(frozen=True)
class _Made:
    """The elements of one access, by their addresses in memory, in the order of its lanes."""

    op: Access
    writes: bool
    addresses: np.ndarray
    lanes: np.ndarray


class _ThreadMonitor:
    """Takes the place of the interpreter's monitor; ``met`` are pairs of ops whose threads met without a barrier."""

    def __init__(self, met: set[tuple[Operation, Operation]]):
        self._met, self._since = met, list[_Made]()

    @property
    def cell(self) -> int:
        """The program that runs; programs do not wait for one another."""
        return 0

    @cell.setter
    def cell(self, number: int) -> None:
        self._since.clear()

    def barrier(self) -> None:
        """All accesses so far are made."""
        self._since.clear()

    def read(self, op: Access, array: np.ndarray, index: tuple, active: np.ndarray | None) -> None:
        """Lanes load."""
        self._make(op, False, array, index, active)

    def write(self, op: Access, array: np.ndarray, index: tuple, active: np.ndarray | None, _: np.ndarray) -> None:
        """Lanes store."""
        self._make(op, True, array, index, active)

    def update(self, op: Access, array: np.ndarray, index: tuple, active: np.ndarray | None) -> None:
        """Lanes update."""
        self._make(op, True, array, index, active)

    def _make(self, op: Access, writes: bool, array: np.ndarray, index: tuple, active: np.ndarray | None) -> None:
        made = _Made(op, writes, *_accessed(array, index, active))
        self._met.update((before.op, op) for before in self._since if _meet(before, made))
        self._since.append(made)


def _accessed(array: np.ndarray, index: tuple, active: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """The addresses of the elements of an access, sorted, and the lanes that access them."""
    base, strides = address(array), array.strides
    grid = np.indices(array.shape, sparse=True)
    places = sum((number * stride for number, stride in zip(grid, strides, strict=True)), np.int64(base))
    found = np.broadcast_to(places, array.shape)
    taken = np.asarray(found[index])
    lanes = np.arange(taken.size).reshape(taken.shape)
    if active is not None:
        chosen = np.broadcast_to(active, taken.shape)
        taken, lanes = taken[chosen], lanes[chosen]
    order = taken.ravel().argsort(kind="stable")
    return taken.ravel()[order], lanes.ravel()[order]


def _meet(before: _Made, after: _Made) -> bool:
    """Whether threads of two accesses meet in an element that one of them writes."""
    if not (before.writes or after.writes) or _commute(before.op, after.op):
        return False
    _, first, second = np.intersect1d(before.addresses, after.addresses, return_indices=True)
    if not first.size:
        return False
    alike = before.op.memory is after.op.memory and before.op.entries == after.op.entries
    return not alike or bool((before.lanes[first] != after.lanes[second]).any())


def _commute(before: Access, after: Access) -> bool:
    if not isinstance(before, RmwOp) or not isinstance(after, RmwOp):
        return False
    return before.kind == after.kind and COMMUTES[before.kind.data]


def meetings(module: ModuleOp, entry: str, args: Sequence[np.ndarray]) -> set[tuple[Operation, Operation]]:
    """The pairs of accesses whose threads meet in an element without a barrier between them."""
    met: set[tuple[Operation, Operation]] = set()
    barrier = {BarrierOp: lambda m, op: m.monitor.barrier()}
    with patch.object(triton, "Monitor", lambda written: _ThreadMonitor(met)), patch.dict(HANDLERS, barrier):
        run(module, entry, args, masked=True)
    return met


def without_each_barrier(module: ModuleOp) -> Iterator[ModuleOp]:
    """Copies of a module, each without one of its barriers."""
    for number in range(sum(isinstance(op, BarrierOp) for op in module.walk())):
        copy = module.clone()
        Rewriter.erase_op([op for op in copy.walk() if isinstance(op, BarrierOp)][number])
        yield copy
