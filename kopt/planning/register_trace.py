"""A trace of a TPU's kernel: each op of each visit that is written out, at the phase at which it can run.

Sizes are numbers, or arrays with one number for each candidate: what a trace does by sizes it asks its `Sizing`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from kopt.ir.register_code import Nest, RegisterCode, RegisterShape, RegisterStep, Values, Visited, Within
from kopt.planning.trips import Number, Sizes, max_of, value
from kopt.targets.tiling import LANES, REGISTER, register_bytes

#: Lanes of the sums that a product keeps in registers while it takes the other parts of what it sums over.
_SUMMED = 256
#: Times that a product of 32-bit floats keeps its rows, in narrow pieces, for more columns than it takes at once.
_PASSES = 4
#: Parts of its sums that a product takes without keeping any.
_PARTS = 2


@dataclass(eq=False)
class TracedOp:
    """An op at one visit: the registers of its value, and the phase ``at`` which it runs.

    Its value is ``there`` at once, or one phase later (``ends`` a phase). A ``lazy`` op can wait until it is asked
    for: it reads memory, or computes cheaply with what does. What ``reads`` memory may do so again. ``widens`` marks
    casts from narrow elements, ``shared`` what is the same for many rows, ``together`` what comes out all at once.
    """

    size: Number
    at: int
    operands: tuple[TracedOp, ...] = ()
    ends: bool = False
    lazy: bool = False
    reads: bool = False
    widens: bool = False
    shared: bool = False
    together: bool = False
    users: list[TracedOp] = field(default_factory=list, init=False)

    @property
    def there(self) -> int:
        """The phase at which its value is there."""
        return self.at + self.ends


@dataclass
class Trace:
    """The ``ops``, and what products keep ``inside``: from which phase to which, and how many registers."""

    ops: list[TracedOp] = field(default_factory=list)
    inside: list[tuple[int, int, Number]] = field(default_factory=list)


class WrittenVisits(NamedTuple):
    """How a loop runs: visits that are written out in one, whether these are all, and what carries its values."""

    count: int = 1
    all: bool = False
    in_scratch: bool = False


class Sizing:
    """The shapes of a code at sizes. Of several candidates one decides; ``same`` are those that it decides for."""

    def __init__(self, code: RegisterCode, sizes: Sizes, candidate: int = 0):
        self.same: Number = True
        self._code, self._sizes, self._candidate = code, sizes, candidate
        self._lanes: dict[int, list[Number]] = {}
        self._registers: dict[int, Number] = {}

    def lanes(self, shape: int) -> list[Number]:
        """The lanes of a shape."""
        if shape not in self._lanes:
            self._lanes[shape] = [value(size, self._sizes) for size in self._code.shapes[shape].dims]
        return self._lanes[shape]

    def registers(self, shape: int) -> Number:
        """The registers that a value of a shape takes."""
        if shape not in self._registers:
            self._registers[shape] = registers(self.lanes(shape), self._code.shapes[shape].bits)
        return self._registers[shape]

    def shape(self, shape: int) -> RegisterShape:
        """A shape, as far as its sizes are chosen."""
        return self._code.shapes[shape]

    def holds(self, condition: Number) -> bool:
        """Whether something holds."""
        return bool(self.number(condition))

    def number(self, found: Number) -> Number:
        """The number of the candidate that decides."""
        if np.ndim(found) == 0:
            return found
        decided = found[self._candidate % len(found)]
        self.same = self.same & (found == decided)
        return decided


#: How a loop of a cell runs.
Schedule = Callable[[Nest, Sizing], WrittenVisits]


def as_written(nest: Nest, sizing: Sizing) -> WrittenVisits:
    """How the loops of a kernel run: one that is written out as a whole is no loop."""
    every = nest.trips is not None and nest.unroll >= nest.trips
    return WrittenVisits(nest.trips if every and nest.trips is not None else nest.unroll, every)


def trace(code: RegisterCode, sizing: Sizing, mxu: int, schedule: Schedule = as_written) -> Trace:
    """The ops of one cell, whose products take ``mxu`` of what they sum over at once."""
    tracer = _Tracer(sizing, mxu, schedule)
    tracer.steps(code.steps)
    return tracer.found


def registers(lanes: Sequence[Number], bits: int = 32) -> Number:
    """The registers that a value of so many lanes takes; a scalar takes none."""
    return -(-register_bytes(lanes, bits) // REGISTER) if lanes else 0


class _Tracer:
    """Takes steps in their order. No op is before the ``fence``: the last loop or condition that stays one."""

    def __init__(self, sizing: Sizing, mxu: int, schedule: Schedule):
        self.found = Trace()
        self._sizing, self._mxu, self._schedule = sizing, mxu, schedule
        self._of: dict[int, TracedOp] = {}
        #: What was computed before: loads of the same place since the last store, casts of the same value.
        self._known: dict[Hashable, TracedOp] = {}
        self._stores = 0
        #: The number of the visit that is traced, by the loop's range.
        self._visit: dict[int, int] = {}
        self._fence = self._last = self._product = 0

    def steps(self, steps: Iterable[RegisterStep]) -> None:
        """The steps of a cell or of a region."""
        for step in steps:
            _RULES[step.kind](self, step)

    def _add(self, size: Number, operands: Sequence[TracedOp] = (), **kind: bool) -> TracedOp:
        traced = TracedOp(size, max((one.there for one in operands), default=0), tuple(operands), **kind)
        traced.at = max(traced.at, self._fence)
        for one in operands:
            one.users.append(traced)
        self._last = max(self._last, traced.there)
        self.found.ops.append(traced)
        return traced

    def _traced(self, values: Values) -> list[TracedOp]:
        return [self._of[number] for number in values if number is not None and number in self._of]

    def _set(self, number: int, traced: TracedOp | None) -> None:
        if traced is None:
            self._of.pop(number, None)
        else:
            self._of[number] = traced

    def _size(self, step: RegisterStep) -> Number:
        return self._sizing.registers(step.shapes[0])

    # Ops.

    def _numbers(self, step: RegisterStep) -> None:
        self._of[step.results[0]] = self._add(self._size(step), lazy=True, shared=True)

    def _read(self, step: RegisterStep) -> None:
        key = (self._stores, *map(self._place, step.key))
        if key not in self._known:
            operands = self._traced(step.operands)
            lazy = all(one.lazy for one in operands)
            self._known[key] = self._add(self._size(step), operands, lazy=lazy, reads=lazy)
        self._of[step.results[0]] = self._known[key]

    def _place(self, part: Hashable) -> Hashable:
        """A part of a place at this visit."""
        if isinstance(part, Visited):
            return part.bounds, self._sizing.shape(part.lanes), self._visit[part.range]
        return (part.value, *map(self._visit.get, part.ranges)) if isinstance(part, Within) else part

    def _write(self, step: RegisterStep) -> None:
        self._add(0, self._traced(step.operands))
        self._stores += 1

    def _cast(self, step: RegisterStep) -> None:
        source, size = next(iter(self._traced(step.operands)), None), self._size(step)
        key = ("cast", source, step.key)
        if source is not None and key not in self._known:
            widens = self._sizing.holds(source.size < size)
            self._known[key] = self._add(size, [source], lazy=source.lazy, widens=widens)
        self._set(step.results[0], self._known.get(key))

    def _compute(self, step: RegisterStep) -> None:
        """What is elementwise, or moves lanes: it can wait where all that has half of its size can."""
        operands, size = self._traced(step.operands), self._most(step.shapes)
        if operands:
            kept = (one for one in operands if not one.lazy)
            lazy = not step.flag and not any(self._sizing.holds(2 * one.size >= size) for one in kept)
            traced = self._add(size, operands, lazy=lazy)
            for result in step.results:
                self._of[result] = traced

    def _most(self, shapes: Sequence[int]) -> Number:
        found = [self._sizing.registers(shape) for shape in shapes]
        return found[0] if len(found) == 1 else max_of(found)

    def _combine(self, step: RegisterStep) -> None:
        traced = self._add(self._size(step), self._traced(step.operands), ends=True, together=step.flag)
        self._set(step.results[0], traced)

    def _take(self, step: RegisterStep) -> None:
        """The numbers of all lanes are compared with those that are asked for."""
        traced = self._add(self._size(step), self._traced(step.operands), ends=True, together=True)
        (taken,) = self._sizing.lanes(step.shapes[1])
        self.found.inside.append((traced.at, traced.at + 1, -(-taken // LANES)))
        self._of[step.results[0]] = traced

    def _dot(self, step: RegisterStep) -> None:
        """Products come one after the other."""
        factors, sums = self._traced(step.operands[:2]), self._traced(step.operands[2:])
        traced = self._add(self._size(step), factors, ends=True)
        traced.at = max(traced.at, self._product)
        self._product = traced.there
        self._last = max(self._last, traced.there)
        self.found.inside.append((traced.at, traced.there, self._kept(step)))
        self._of[step.results[0]] = self._add(traced.size, [traced, *sums]) if sums else traced

    def _kept(self, step: RegisterStep) -> Number:
        """Registers that a product keeps: sums between its parts, and operands that each of these asks for again."""
        _, left, right = step.shapes
        (rows, summed), columns = self._sizing.lanes(left)[-2:], self._sizing.lanes(right)[-1]
        parts, wide = -(-summed // self._mxu), columns >= 2 * self._mxu
        sums = registers((rows, least(columns, _SUMMED)))
        if step.flag:
            return sums + self._sizing.registers(left) * (1 + (_PASSES - 1) * wide)
        again = (parts > _PARTS) & wide & ((self._mxu < _SUMMED) | (parts % 4 == 0))
        kept = sums * (parts > _PARTS)
        for number, shape, asked in zip(step.operands, (left, right), (again, False), strict=False):
            computed = bool(traced := self._traced((number,))) and not traced[0].lazy
            kept = kept + self._sizing.registers(shape) * ((computed & (parts > 1)) | asked)
        return kept

    # Regions.

    def _for(self, step: RegisterStep) -> None:
        """A loop that is written out as a whole is no loop; of others as many visits as are written out."""
        nest = step.nest
        assert nest is not None
        visits = self._schedule(nest, self._sizing)
        if visits.all:
            for carried, init in zip(nest.given, step.operands, strict=True):
                self._set(carried, None if init is None else self._of.get(init))
            self._visits(step, nest, visits.count)
        elif visits.in_scratch:
            self._carried_in_scratch(step, nest)
        else:
            before = self._begin_region(nest)
            self._visits(step, nest, visits.count)
            self._end_region(before, self._traced(nest.passed))

    def _visits(self, step: RegisterStep, nest: Nest, count: int) -> None:
        """Visits one after the other, and what the last one passes on."""
        for number in range(count):
            self._visit[nest.range] = number
            self.steps(nest.steps)
            self._add(0, self._traced(nest.passed))
            passed = [None if one is None else self._of.get(one) for one in nest.passed]
            for carried, traced in zip(nest.given, passed, strict=True):
                self._set(carried, traced)
        for result, carried in zip(step.results, nest.given, strict=True):
            self._set(result, self._of.get(carried))

    def _carried_in_scratch(self, step: RegisterStep, nest: Nest) -> None:
        """Each visit reads what it is handed, and writes what it hands on; so does what is before and after."""
        self._hand_on(step.operands)
        before = self._begin_region(nest, reads=True)
        self._visit[nest.range] = 0
        self.steps(nest.steps)
        self._hand_on(nest.passed)
        self._end_region(before, [])
        self._arguments(step.results, nest.shapes, reads=True)

    def _hand_on(self, values: Values) -> None:
        for one in self._traced(values):
            self._add(0, [one])

    def _apart(self, step: RegisterStep) -> None:
        """Loops whose visits nothing tells, and what runs under a condition."""
        nest = step.nest
        assert nest is not None
        before = self._begin_region(nest)
        self.steps(nest.steps)
        self._end_region(before, [])
        self._arguments(step.results, [(shape,) for shape in step.shapes])

    def _begin_region(self, nest: Nest, reads: bool = False) -> int:
        """Code of its own, with what it is given; how many ops were before it."""
        self._fence = self._last + 1
        self._stores += 1
        before = len(self.found.ops)
        self._arguments(nest.given, nest.shapes, reads)
        return before

    def _arguments(self, values: Sequence[int], shapes: Sequence[Sequence[int]], reads: bool = False) -> None:
        for number, shape in zip(values, shapes, strict=True):
            if shape:
                self._of[number] = self._add(self._sizing.registers(shape[0]), lazy=reads, reads=reads)

    def _end_region(self, before: int, passed: Sequence[TracedOp]) -> None:
        """What a region takes from outside lives to its end, for it may run again."""
        inside = dict.fromkeys(self.found.ops[before:])
        outer = dict.fromkeys(one for traced in inside for one in traced.operands if one not in inside)
        last = self._add(0, [*outer, *passed])
        last.at = self._last
        self._fence = self._last + 1
        self._stores += 1


_RULES: dict[str, Callable[[_Tracer, RegisterStep], None]] = {
    "cast": _Tracer._cast,
    "combine": _Tracer._combine,
    "compute": _Tracer._compute,
    "loop": _Tracer._for,
    "numbers": _Tracer._numbers,
    "product": _Tracer._dot,
    "read": _Tracer._read,
    "region": _Tracer._apart,
    "take": _Tracer._take,
    "write": _Tracer._write,
}


def least(one: Number, other: Number) -> Number:
    """The smaller one of two numbers, of each candidate."""
    return min(one, other) if isinstance(one, int) and isinstance(other, int) else np.minimum(one, other)
