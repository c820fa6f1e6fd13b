"""How often a program comes by each line of Triton's IR, and with which lanes of its mask, where that can be computed.

Integers are computed for all programs and visits at once. An array has an axis for the programs, one for the visits of
each loop around, and the tile's own; an axis along which it does not differ has one element.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

#: The programs, and loops in one another.
_OUTER = 1 + 4
#: An array of more elements than this is unknown.
_MOST = 1 << 26
Number = Any
_CONSTANT = re.compile(r"^\s*(%\S+) = arith\.constant (?:dense<)?(-?\d+|true|false)>? : (\S+)")
_PROGRAM = re.compile(r"^\s*(%\S+) = tt\.get_(program_id|num_programs) ([xyz])\b")
_RANGE = re.compile(r"^\s*(%\S+) = tt\.make_range \{end = (\d+) : i32, start = (\d+) : i32\}")
_SPLAT = re.compile(r"^\s*(%\S+) = tt\.splat (%\S+) : i\d+ -> tensor<((?:\d+x)+)")
_EXPANDED = re.compile(r"^\s*(%\S+) = tt\.expand_dims (%\S+) \{axis = (\d+) : i32\}")
_COMPUTED = re.compile(r"^\s*(%\S+) = (?:arith\.cmpi (\w+),|(?:arith|tt)\.(\w+)) (%[^:{]+?) : (?:tensor<[\dx]+)?i\d+\b")
_LOOP = re.compile(r"(?:= |^\s*)scf\.for (\S+) = (%\S+) to (%\S+) step (%[^\s:]+)")
_IF = re.compile(r"(?:= |^\s*)scf\.if (%\S+)")
_ELSE = re.compile(r"^\s*\} else \{")
#: Of a loop or a branch; reductions end with a parenthesis.
_END = re.compile(r"^\s*\}(?!\))")
#: Where an access has its mask among its operands.
_MASK = re.compile(r"\btt\.(?:load (?:%\S+), (%[^\s,:]+)|store (?:%\S+), (?:%\S+), (%[^\s,:]+))")
#: A block of a descriptor, and where it begins.
_DESCRIBED = re.compile(
    r"\btt\.descriptor_(?:load|store) %(?P<name>[^\s\[]+)\[(?P<begin>[^\]]*)\].*?tensordesc<(?P<block>[\dx]+)x"
)
#: What leaves open how often something inside is done.
_OPEN = re.compile(r"\b(?:scf\.while|cf\.|tt\.call)")
_OPERATIONS: Mapping[str, Callable[..., Number]] = {
    "addi": np.add,
    "subi": np.subtract,
    "muli": np.multiply,
    "divsi": np.floor_divide,
    "divui": np.floor_divide,
    "remsi": np.remainder,
    "remui": np.remainder,
    "minsi": np.minimum,
    "maxsi": np.maximum,
    "andi": np.bitwise_and,
    "ori": np.bitwise_or,
    "xori": np.bitwise_xor,
    "select": np.where,
    "extsi": np.asarray,
    "extui": np.asarray,
    "trunci": np.asarray,
    "broadcast": np.asarray,
    "eq": np.equal,
    "ne": np.not_equal,
    **{f"{kind}lt": np.less for kind in "su"},
    **{f"{kind}le": np.less_equal for kind in "su"},
    **{f"{kind}gt": np.greater for kind in "su"},
    **{f"{kind}ge": np.greater_equal for kind in "su"},
}


class Line(NamedTuple):
    """``times`` is how often a program comes by on average, ``share`` what it accesses of the lanes.

    A mask leaves lanes out, and so does the end of an array whose block a descriptor brings.
    """

    text: str
    times: float
    share: float | None = 1.0


Lines = Sequence[Line]


def lines_with_trips(ttir: str, grid: Sequence[int], numbers: Mapping[str, int] | None = None) -> Lines | None:
    """The lines that are no loop's or branch's head; None where it is open how often something is done.

    ``numbers`` are those of the arguments by their names, of a descriptor its extents: ``x.shape.0``. Numbers that are
    negative are not divided, or compared without their sign, as Triton does.
    """
    reader = _Reader(grid, numbers or {})
    found: list[Line] = []
    for text in ttir.splitlines():
        if _OPEN.search(text):
            return None
        entered = reader.enters(text)
        if entered is False:
            return None
        if not entered and not reader.leaves(text):
            reader.compute(text)
            found.append(Line(text, reader.times, reader.share(text)))
    return found


class _Reader:
    """The numbers that lines compute by their names, and which visits of the loops and branches around there are."""

    def __init__(self, grid: Sequence[int], numbers: Mapping[str, int]):
        self.grid = (*grid, 1, 1)[:3]
        self.values: dict[str, Number] = {f"%{name}": _scalar(value) for name, value in numbers.items()}
        self.visits: list[Number] = [_scalar(True)]
        self.loops = 0
        self.ends: list[int] = []

    def enters(self, text: str) -> bool | None:
        """Whether a line begins a loop or a branch; False where its bounds or condition are unknown."""
        if loop := _LOOP.search(text):
            name, *bounds = loop.groups()
            if any(bound not in self.values for bound in bounds) or self.loops == _OUTER - 1:
                return False
            first, end, step = (self.values[bound] for bound in bounds)
            trips = int(np.max(-((first - end) // step), initial=0))
            self.loops += 1
            number = np.arange(max(trips, 1)).reshape([-1 if axis == self.loops else 1 for axis in range(_OUTER)])
            self.values[name] = first + step * number
            return self._within(self.values[name] < end, 1)
        if branch := _IF.search(text):
            return branch[1] in self.values and self._within(self.values[branch[1]].astype(bool), 0)
        return None

    def _within(self, visited: Number, loops: int) -> bool:
        self.visits.append(np.logical_and(self.visits[-1], visited))
        self.ends.append(loops)
        return True

    def leaves(self, text: str) -> bool:
        """Whether a line ends a loop or a branch, or goes on with its other arm."""
        if not self.ends or not _END.match(text):
            return False
        if _ELSE.match(text):
            self.visits[-1] = np.logical_and(self.visits[-2], ~self.visits[-1])
        else:
            self.visits.pop()
            self.loops -= self.ends.pop()
        return True

    @property
    def times(self) -> float:
        visits = self.visits[-1]
        return float(visits.sum() / visits.shape[0])

    def share(self, text: str) -> float | None:
        """Of the lanes of an access in the visits that there are; None where its mask or place is unknown."""
        if (described := _DESCRIBED.search(text)) and f"%{described['name']}.shape.0" in self.values:
            return self._visited(self._inside(**described.groupdict()))
        masked = _MASK.search(text)
        return self._visited(self.values.get(masked[1] or masked[2])) if masked else 1.0

    def _inside(self, name: str, begin: str, block: str) -> Number | None:
        """The share of a descriptor's block that is inside of the array."""
        share = _scalar(1)
        for dim, (at, size) in enumerate(zip(begin.split(","), map(int, block.split("x")), strict=True)):
            first = self.values.get(at.strip())
            if first is None:
                return None
            extent = self.values[f"%{name}.shape.{dim}"]
            share = share * np.clip(np.minimum(first + size, extent) - np.maximum(first, 0), 0, size) / size
        return share

    def _visited(self, share: Number | None) -> float | None:
        """The mean of what is accessed in a visit, and of which lanes."""
        if share is None:
            return None
        visits = self.visits[-1].reshape(self.visits[-1].shape + (1,) * (share.ndim - _OUTER))
        if math.prod(np.broadcast_shapes(share.shape, visits.shape)) > _MOST:
            return None
        accessed = share * visits
        lanes = math.prod(share.shape[_OUTER:])
        return float(accessed.sum() / accessed.shape[0] / lanes / self.times) if self.times else 0.0

    def compute(self, text: str) -> None:
        """Remembers the number that a line computes, where it can be told."""
        if constant := _CONSTANT.match(text):
            value = int(constant[2]) if constant[2][-1].isdigit() else constant[2] == "true"
            self.values[constant[1]] = _scalar(value, constant[3].count("x"))
        elif program := _PROGRAM.match(text):
            self.values[program[1]] = self._program(program[2], "xyz".index(program[3]))
        elif lanes := _RANGE.match(text):
            self.values[lanes[1]] = np.arange(int(lanes[3]), int(lanes[2])).reshape([1] * _OUTER + [-1])
        elif (splat := _SPLAT.match(text)) and splat[2] in self.values:
            value = self.values[splat[2]]
            self.values[splat[1]] = value.reshape(value.shape + (1,) * splat[3].count("x"))
        elif (expanded := _EXPANDED.match(text)) and expanded[2] in self.values:
            self.values[expanded[1]] = np.expand_dims(self.values[expanded[2]], _OUTER + int(expanded[3]))
        elif computed := _COMPUTED.match(text):
            self._computed(computed[1], computed[2] or computed[3], computed[4])

    def _program(self, what: str, axis: int) -> Number:
        if what == "num_programs":
            return _scalar(self.grid[axis])
        numbers = np.unravel_index(np.arange(math.prod(self.grid)), self.grid[::-1])[::-1]
        return numbers[axis].reshape([-1] + [1] * (_OUTER - 1))

    def _computed(self, name: str, operation: str, operands: str) -> None:
        values = [self.values.get(operand.strip()) for operand in operands.split(",")]
        if operation not in _OPERATIONS or any(value is None for value in values):
            return
        if math.prod(np.broadcast_shapes(*(value.shape for value in values if value is not None))) <= _MOST:
            self.values[name] = _OPERATIONS[operation](*values)


def _scalar(value: int | bool, rank: int = 0) -> Number:
    return np.asarray(value).reshape([1] * (_OUTER + rank))
