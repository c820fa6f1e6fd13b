"""Cells of a grid run in no order: finds cells that read or write what another cell writes.

Cells that write the same value do not disturb each other, nor do they where each reads what it has written itself, nor
where computed rows name one that another cell has named: one of the values stays, as in a cell that names it twice.

Beside every buffer that a grid writes stand arrays of stamps: who wrote each element, and who read it. A stamp is the
cell's number and the operation's, so that an error can name both places. Views share their buffer's stamps.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from xdsl.ir import Operation

from kopt.diagnostics import location_of
from kopt.dialects.tile import Access
from kopt.errors import AccessError
from kopt.interpreter.storage import address, root, span


@dataclass
class _Stamps:
    """Flat stamps over a buffer's memory; 0 is nobody.

    Plain reads do not disturb each other, nor do atomic updates: of each there is the first (``reader``, ``updater``)
    and one from another cell than that (``other_reader``, ``other_updater``).
    """

    start: int
    itemsize: int
    writer: np.ndarray
    reader: np.ndarray
    other_reader: np.ndarray
    updater: np.ndarray
    other_updater: np.ndarray

    @classmethod
    def of(cls, buffer: np.ndarray) -> _Stamps:
        start, count = span(buffer)
        return cls(start, buffer.itemsize, *(np.zeros(count, np.int64) for _ in range(5)))

    def view(self, stamps: np.ndarray, array: np.ndarray) -> np.ndarray:
        """The stamps of the elements that ``array`` views."""
        first = (address(array) - self.start) // self.itemsize
        strides = [stride // self.itemsize * stamps.itemsize for stride in array.strides]
        return np.lib.stride_tricks.as_strided(stamps[first:], array.shape, strides)


@dataclass
class Monitor:
    """Watches the accesses of one grid. Only buffers in ``written`` can conflict; the others are not watched."""

    written: Iterable[np.ndarray]
    cell: int = 0
    """The cell that runs, from 1; cells that differ in ordered dimensions only are one."""
    _stamps: dict[int, _Stamps] = field(default_factory=dict)
    _ops: list[Operation] = field(default_factory=list)
    _numbers: dict[Operation, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for array in self.written:
            buffer = root(array)
            if id(buffer) not in self._stamps and array.size:
                self._stamps[id(buffer)] = _Stamps.of(buffer)

    def read(self, op: Operation, array: np.ndarray, index: tuple, active: np.ndarray | None) -> None:
        """A cell reads ``array[index]``, where ``active`` (None: everywhere)."""
        stamps = self._stamps.get(id(root(array)))
        if stamps is None or not array.size:
            return
        for kind in (stamps.writer, stamps.updater, stamps.other_updater):
            self._refuse_others(op, "reads", stamps.view(kind, array), index, active)
        first, other = stamps.view(stamps.reader, array), stamps.view(stamps.other_reader, array)
        self._mark_shared(first, other, op, index, _and(stamps.view(stamps.writer, array)[index] == 0, active))

    def write(
        self, op: Access, array: np.ndarray, index: tuple, active: np.ndarray | None, changed: np.ndarray
    ) -> None:
        """A cell writes ``array[index]``, where ``active`` (None: everywhere); ``changed`` are other values."""
        stamps = self._stamps.get(id(root(array)))
        if stamps is None or not array.size:
            return
        if not op.gathers:
            self._refuse_others(op, "writes", stamps.view(stamps.writer, array), index, _and(changed, active))
        for kind in (stamps.updater, stamps.other_updater, stamps.reader, stamps.other_reader):
            self._refuse_others(op, "writes", stamps.view(kind, array), index, active)
        view = stamps.view(stamps.writer, array)
        view[index] = self._stamp(op) if active is None else np.where(active, self._stamp(op), view[index])

    def update(self, op: Operation, array: np.ndarray, index: tuple, active: np.ndarray | None) -> None:
        """A cell updates ``array[index]`` atomically: other updates do not matter, plain accesses do."""
        stamps = self._stamps.get(id(root(array)))
        if stamps is None or not array.size:
            return
        for kind in (stamps.writer, stamps.reader, stamps.other_reader):
            self._refuse_others(op, "updates", stamps.view(kind, array), index, active)
        first, other = stamps.view(stamps.updater, array), stamps.view(stamps.other_updater, array)
        self._mark_shared(first, other, op, index, active)

    def _mark_shared(
        self, first: np.ndarray, other: np.ndarray, op: Operation, index: tuple, active: np.ndarray | None
    ) -> None:
        """Stamps accesses that many cells may make."""
        stamp, before = self._stamp(op), first[index]
        foreign = (before != 0) & self._is_foreign(before)
        other[index] = np.where(_and(foreign, active), stamp, other[index])
        first[index] = np.where(_and(before == 0, active), stamp, before)

    def _stamp(self, op: Operation) -> int:
        number = self._numbers.get(op)
        if number is None:
            number = self._numbers[op] = len(self._ops)
            self._ops.append(op)
        return (self.cell << 20) | number

    def _is_foreign(self, stamps: np.ndarray) -> np.ndarray:
        return (stamps >> 20) != self.cell

    def _refuse_others(
        self, op: Operation, does: str, view: np.ndarray, index: tuple, active: np.ndarray | None
    ) -> None:
        """Raise where another cell's stamp stands on an accessed element."""
        found = view[index]
        bad = _and((found != 0) & self._is_foreign(found), active)
        if not bad.any():
            return
        other = self._ops[int(found[bad].flat[0]) & 0xFFFFF]
        where = location_of(other)
        raise AccessError(
            f"'{op.name}' {does} what '{other.name}' of another cell of the grid accesses: cells run in no order",
            location_of(op),
            notes=[f"the other access is at {where or 'an unknown place'}"],
            id="race",
        )


def _and(mask: np.ndarray, active: np.ndarray | None) -> np.ndarray:
    return np.asarray(mask if active is None else mask & active)
