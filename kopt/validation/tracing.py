"""Which operation wrote an element: the run of a module with a stamp beside every element in memory."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from kopt.dialects.atomic import CasOp, RmwOp
from kopt.dialects.tile import StoreOp
from kopt.errors import KoptError
from kopt.interpreter import HANDLERS
from kopt.interpreter.access import locate
from kopt.interpreter.machine import Machine
from kopt.interpreter.memory import own_mask
from kopt.interpreter.storage import address, root, span
from kopt.validation.outcome import Conditions, Observed, shared_copies


class _Tracer(Machine):
    """Remembers for each element of memory the operation that wrote it last."""

    def __init__(self, module: ModuleOp, how: Conditions):
        super().__init__(module, HANDLERS, seed=how.seed, masked=how.masked, check_conflicts=False)
        self.reads_beyond = how.reads_beyond
        self._stamps: dict[int, tuple[np.ndarray, int, np.ndarray]] = {}
        self._ops: list[Operation] = []

    def execute(self, op: Operation) -> None:
        super().execute(op)
        if isinstance(op, StoreOp | RmwOp | CasOp):
            self._stamp(op)

    def _stamp(self, op: StoreOp | RmwOp | CasOp) -> None:
        array: np.ndarray = self[op.memory]
        if not array.size:
            return
        block = locate(self, op, array)
        active = block.active(own_mask(self, op))
        view = self._view(array)
        if op not in self._ops:
            self._ops.append(op)
        number = self._ops.index(op) + 1
        inside = True if active is None else active[block.window]
        view[block.index] = np.where(inside, number, view[block.index])

    def _view(self, array: np.ndarray) -> np.ndarray:
        """The stamps of the elements that an array views."""
        buffer = root(array)
        if id(buffer) not in self._stamps:
            first, count = span(buffer)
            self._stamps[id(buffer)] = (buffer, first, np.zeros(count, np.int64))
        _, first, stamps = self._stamps[id(buffer)]
        strides = [stride // array.itemsize * stamps.itemsize for stride in array.strides]
        start = (address(array) - first) // array.itemsize
        return np.lib.stride_tricks.as_strided(stamps[start:], array.shape, strides)

    def writer(self, array: np.ndarray, place: Sequence[int]) -> Operation | None:
        """Who wrote an element last."""
        number = int(self._view(array)[tuple(place)]) if array.size else 0
        return self._ops[number - 1] if number else None


def writer(
    module: ModuleOp, entry: str, shape: Observed, arrays: Sequence[np.ndarray], how: Conditions, number: int,
    place: Sequence[int],
) -> Operation | None:  # fmt: skip
    """The operation that wrote an element of what a caller sees; None where no store did."""
    tracer = _Tracer(module, how)
    mine = shared_copies(arrays)
    try:
        found = list(tracer.call(tracer.functions[entry], mine))
    except KoptError:
        return None
    seen = [*found[: shape.results], *(mine[position] for position in shape.written)]
    if len(found) > shape.results:
        seen = found
    return tracer.writer(seen[number], place)
