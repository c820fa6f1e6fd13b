"""What memory on the chip and copies to and from it do: a copy is done when it starts."""

from __future__ import annotations

import numpy as np

from kopt.dialects.pallas import DmaStartOp, DmaWaitOp, ScratchOp
from kopt.dialects.tile import RefType
from kopt.dialects.tile.index_list import AllAttr, Entry, SliceAttr
from kopt.interpreter.machine import Handler, Machine
from kopt.interpreter.rounding import numpy_type, poison
from kopt.interpreter.values import Bound


def _scratch(m: Machine, op: ScratchOp) -> np.ndarray:
    type = op.result.type
    assert isinstance(type, RefType)
    return np.full(type.shape, poison(type.element_type), numpy_type(type.element_type))


def _start(m: Machine, op: DmaStartOp) -> None:
    source = m[op.source][tuple(_place(m, entry) for entry in op.source_entries)]
    m[op.target][tuple(_place(m, entry) for entry in op.target_entries)] = source


def _place(m: Machine, entry: Entry) -> slice | int:
    if isinstance(entry, SliceAttr):
        return slice(entry.start.data, entry.stop.data, entry.step.data)
    if isinstance(entry, AllAttr):
        return slice(None)
    held = entry if isinstance(entry, int) else m[entry]
    return slice(held.begin, held.begin + held.size) if isinstance(held, Bound) else int(held)


def _wait(m: Machine, op: DmaWaitOp) -> None:
    pass


HANDLERS: dict[type, Handler] = {ScratchOp: _scratch, DmaStartOp: _start, DmaWaitOp: _wait}
