"""The arrays that the numbers of a launch are loaded from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np
from xdsl.ir import Block, SSAValue
from xdsl.ir.affine import AffineMap

from kopt.analysis.executions.numbers import Numbers, UnknownNumber
from kopt.dialects.pallas import CallOp, WindowAttr
from kopt.dialects.tile import GetOp, LoadOp, RangeType, is_gather
from kopt.dialects.tile.index_list import AllAttr, Entry, SliceAttr
from kopt.dialects.tile.memory import memory_shape

if TYPE_CHECKING:
    from kopt.analysis.executions.block import Executions

#: What an array of the host holds, where that is known.
Given = Callable[[SSAValue], np.ndarray | None]


class LoadSource(Protocol):
    """Where numbers are loaded from."""

    def read(self, op: GetOp | LoadOp, here: Executions) -> Numbers:
        """What a load gives in each execution. Raises `UnknownNumber`."""
        ...


@dataclass(frozen=True)
class ArrayMemory:
    """The memory of a grid of loads and stores: the arrays themselves."""

    given: Given

    def read(self, op: GetOp | LoadOp, here: Executions) -> Numbers:
        """What a load gives in each execution."""
        return _elements(_known(self.given, op.memory), _places(op, here))


@dataclass(frozen=True)
class CallMemory:
    """The memory of a Pallas call: arrays by their windows."""

    call: CallOp
    given: Given

    def read(self, op: GetOp | LoadOp, here: Executions) -> Numbers:
        """What a load gives in each execution."""
        refs = self.call.input_refs
        if op.memory not in refs:
            raise UnknownNumber("what the kernel has in its memory")
        operand = refs.index(op.memory)
        window, inside = self.call.windows.data[operand], iter(_places(op, here))
        numbers = map(here.of_cells, self.block_numbers(window, here.cells))
        places = [_shifted(next(inside) if size else _ONE, n * size if size else n)
                  for n, size in zip(numbers, window.sizes, strict=True)]  # fmt: skip
        return _elements(_known(self.given, self.call.inputs[operand]), places)

    def block_numbers(self, window: WindowAttr, cells: Executions) -> list[Numbers]:
        """The number of a window's block in each cell, a dimension after the other."""
        dims = [cells.visit(range).id for range in cells.block.args]
        known: list[Numbers] = []
        for number in window.numbers.data:
            of = evaluated(number.of.data, dims, known)
            known.append(_NUMBERS[number.kind.data](self, number.operand.data, of))
        return evaluated(window.index.data, dims, known)

    def _loaded(self, operand: int, places: list[Numbers]) -> Numbers:
        return _elements(_known(self.given, self.call.inputs[operand]), [_Place(place[:, None]) for place in places])


def evaluated(map: AffineMap, dims: Sequence[Numbers], symbols: Sequence[Numbers]) -> list[Numbers]:
    """The results of a map, of many dimensions and symbols at once."""
    return [np.atleast_1d(result.eval(dims, symbols)) for result in map.results]  # pyright: ignore


#: What numbers of windows are made of.
_NUMBERS: dict[str, Callable[[CallMemory, int, list[Numbers]], Numbers]] = {
    "load": CallMemory._loaded,
    "min": lambda memory, operand, of: np.minimum(*of),
    "max": lambda memory, operand, of: np.maximum(*of),
}


@dataclass(frozen=True)
class _Place:
    """The elements of one dimension, for each execution; ``kept`` where they are lanes of a block."""

    elements: np.ndarray
    kept: bool = False


_ONE = _Place(np.zeros((1, 1), int))


def _shifted(place: _Place, by: Numbers) -> _Place:
    return replace(place, elements=place.elements + by[:, None])


def _places(op: GetOp | LoadOp, here: Executions) -> list[_Place]:
    pairs = zip(op.entries, memory_shape(op.memory.type), strict=True)
    return [_place(entry, extent, here) for entry, extent in pairs]


def _place(entry: Entry, extent: int, here: Executions) -> _Place:
    match entry:
        case int():
            return _Place(np.array([[entry]]))
        case AllAttr():
            return _Place(np.arange(extent)[None], True)
        case SliceAttr():
            return _Place(np.arange(entry.start.data, entry.stop.data, entry.step.data)[None], True)
        case SSAValue() if isinstance(entry.type, RangeType):
            return _Place(here.elements(entry), True)
    if is_gather(entry):
        raise UnknownNumber("what is loaded at computed places")
    return _Place(here.number(entry)[:, None])


def _known(given: Given, array: SSAValue) -> np.ndarray:
    if (found := given(array)) is None:
        raise UnknownNumber(f"what '{_named(array)}' holds")
    return found


def _named(array: SSAValue) -> str:
    """The name of an array, or of what the host made it of."""
    while not isinstance(op := array.owner, Block) and op.operands:
        array = op.operands[0]
    return array.name_hint or "an argument"


def _elements(array: np.ndarray, places: list[_Place]) -> Numbers:
    """Blocks of an array. Elements that there are not are the nearest ones: masks leave them out."""
    kept = [number for number, place in enumerate(places) if place.kept]
    indices = []
    for number, (place, extent) in enumerate(zip(places, array.shape, strict=True)):
        lanes = [place.elements.shape[1] if number == one else 1 for one in kept]
        indices.append(np.clip(place.elements, 0, extent - 1).reshape(len(place.elements), *lanes))
    if array.dtype.kind not in "iub":
        raise UnknownNumber("what an array of floats holds")
    return np.asarray(array[tuple(indices)] if indices else array.reshape(1)).astype(np.int64)
