"""Windows while a kernel runs on a TPU: which block a step sees, when it arrives, and when it leaves.

A block that is read arrives while the step before runs, and is kept while its number stays; one that is written is
undefined when its number changes, and leaves then. So an order of steps that breaks a window shows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from xdsl.ir import SSAValue

from kopt.dialects.pallas import WindowAttr
from kopt.dialects.tile import RefType
from kopt.errors import AccessError
from kopt.interpreter.machine import Machine
from kopt.interpreter.rounding import numpy_type, poison

#: The memories whose refs are the arrays themselves.
_WHOLE = ("hbm", "any")
#: How index maps compute numbers of others.
_NUMBERS = {"min": min, "max": max}

Place = tuple[int, ...]


def undefined(type: RefType) -> np.ndarray:
    """Memory on the chip that nothing has written; semaphores and counters are 0."""
    fill = 0 if type.space.data in ("semaphore", "counter") else poison(type.element_type)
    return np.full(type.shape, fill, numpy_type(type.element_type))


class MovingWindow:
    """One array of a call, or of a pipeline, as its steps see it.

    Args: ``ref`` what the body calls the block; ``places`` the number of the block at each step, in order.
    """

    def __init__(
        self, array: np.ndarray, ref: SSAValue, window: WindowAttr, places: Sequence[Place], reads: bool, writes: bool
    ):
        assert isinstance(ref.type, RefType)
        self._array, self._ref, self._type, self._places = array, ref, ref.type, places
        self._sizes = [size or 1 for size in window.sizes]
        self._whole = window.space.data in _WHOLE
        self._reads, self._writes = reads, writes
        self._next: np.ndarray | None = None

    def enter(self, m: Machine, step: int) -> None:
        """Step ``step`` begins: its block is there, and the next one's begins to arrive."""
        if self._whole:
            m[self._ref] = self._array.reshape(self._type.shape)
            return
        if step == 0 or self._places[step] != self._places[step - 1]:
            fetched = self._next if self._next is not None else self._block(step)
            m[self._ref] = fetched.reshape(self._type.shape)
            self._next = None
        more = step + 1 < len(self._places) and self._places[step + 1] != self._places[step]
        if more and self._reads:
            self._next = self._block(step + 1)

    def leave(self, m: Machine, step: int) -> None:
        """Step ``step`` is over: what it has written leaves, unless the next one sees the same block."""
        last = step + 1 == len(self._places)
        if not self._writes or self._whole or not (last or self._places[step + 1] != self._places[step]):
            return
        inside, lanes = self._lanes(step)
        self._array[inside] = m[self._ref].reshape(self._sizes)[lanes]

    def _block(self, step: int) -> np.ndarray:
        """The block of a step: what is read has arrived, all else is undefined."""
        block = undefined(self._type).reshape(self._sizes)
        if self._reads and block.size:
            inside, lanes = self._lanes(step)
            block[lanes] = self._array[inside]
        return block

    def _lanes(self, step: int) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
        """The elements of a step's block that its array has, and the lanes of the block that they are."""
        inside, lanes = [], []
        for place, size, extent in zip(self._places[step], self._sizes, self._array.shape, strict=True):
            start = place * size
            if not 0 <= start < max(extent, 1):
                name = self._ref.name_hint or "an array"
                raise AccessError(f"the window of '{name}' sees elements {start} to {start + size} of {extent}")
            inside.append(slice(start, min(start + size, extent)))
            lanes.append(slice(0, min(size, extent - start)))
        return tuple(inside), tuple(lanes)


def place_of(window: WindowAttr, cell: Sequence[int], load: Callable[[int, Place], int], given: Sequence[int]) -> Place:
    """The number of a window's block at a cell. ``load`` reads prefetched operands; ``given`` are a pipeline's."""
    symbols = list(given)
    for number in window.numbers.data:
        parts = number.of.data.eval(list(cell), symbols)
        kind = number.kind.data
        symbols.append(load(number.operand.data, tuple(parts)) if kind == "load" else _NUMBERS[kind](parts))
    return tuple(window.index.data.eval(list(cell), symbols))
