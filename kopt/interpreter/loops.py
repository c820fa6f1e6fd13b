"""What loops and the ops on their ranges do. Cells of a grid run in a random order that the seed fixes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Region, SSAValue
from xdsl.traits import MemoryEffectKind, get_effects

from kopt.dialects.tile import (
    BeginOp,
    BlockSizeOp,
    CountOp,
    EndOp,
    ForOp,
    GridOp,
    IdOp,
    IndexOp,
    ShiftOp,
    ValidCountOp,
    ValidOp,
    WhenOp,
    WhileOp,
    WholeOp,
    range_type,
)
from kopt.errors import UnsupportedError
from kopt.interpreter.conflicts import Monitor
from kopt.interpreter.machine import Handler, Machine, check_visits
from kopt.interpreter.sums import Sums
from kopt.interpreter.values import Bound, TileValue
from kopt.limits import VISITS


@dataclass(frozen=True)
class LoopBlocks(Sequence[Bound]):
    """The blocks of a loop from ``lower`` to ``upper``, made when visited: loaded bounds may be any."""

    lower: int
    upper: int
    size: int

    def __len__(self) -> int:
        return max(0, -((self.lower - self.upper) // self.size))

    def __getitem__(self, number: int) -> Bound:  # pyright: ignore[reportIncompatibleMethodOverride]
        if not 0 <= number < len(self):
            raise IndexError(number)
        return Bound(self.lower + number * self.size, self.size, self.upper, number, len(self))


def _grid(m: Machine, op: GridOp) -> None:
    lowers, limits = [lower for lower, _ in op.bounds], [m.number(limit) for limit in op.limits]
    bounds = zip(op.ranges, lowers, limits, strict=True)
    axes = [m.visited(op, LoopBlocks(lower, upper, range_type(arg).size)) for arg, lower, upper in bounds]
    check_visits(math.prod(map(len, axes)), "cells", op)
    outer, m.sums = m.monitor, Sums()
    if m.check_conflicts:
        m.monitor = Monitor(written(m, op.body))
    for number, visits in enumerate(_cells(m, op, [len(axis) for axis in axes]), 1):
        for visit in visits:
            if m.monitor is not None:
                m.monitor.cell = number
            for arg, axis, place in zip(op.ranges, axes, visit, strict=True):
                m.bind(arg, axis[place])
            m.run_block(op.body.block)
    m.monitor = outer


def _cells(m: Machine, op: GridOp, counts: Sequence[int]) -> Iterator[list[tuple[int, ...]]]:
    """The cells in a random order; of each, its visits over the dimensions that go in order."""
    ordered = sorted({*op.reduction_dims, *op.ordered_dims})
    free = [n for n in range(len(counts)) if n not in ordered]
    cells = list(itertools.product(*(range(counts[n]) for n in free)))
    for number in m.random.permutation(len(cells)):
        visits = itertools.product(*(range(counts[n]) for n in ordered))
        yield [_place(free, cells[number], ordered, visit) for visit in visits]


def _place(free: list[int], cell: tuple[int, ...], ordered: list[int], visit: tuple[int, ...]) -> tuple[int, ...]:
    numbers = dict(zip(free, cell, strict=True)) | dict(zip(ordered, visit, strict=True))
    return tuple(numbers[n] for n in range(len(numbers)))


def written(m: Machine, body: Region) -> list[np.ndarray]:
    """The arrays that some op in a body writes."""
    values = {
        effect.value
        for inner in body.walk()
        if not inner.regions
        for effect in get_effects(inner) or ()
        if effect.kind == MemoryEffectKind.WRITE
    }
    memories = [value for value in values if isinstance(value, SSAValue) and isinstance(value.type, MemRefType)]
    return [m[memory] for memory in memories if m.watches(memory)]


def _for(m: Machine, op: ForOp) -> Any:
    lower, upper = map(m.number, op.bounds)
    carried = tuple(m[value] for value in op.inits)
    for bound in m.visited(op, LoopBlocks(lower, upper, range_type(op.range).size)):
        m.bind(op.range, bound)
        carried = m.run_region(op.body.block, (bound, *carried))
    return carried[0] if len(carried) == 1 else carried


def _while(m: Machine, op: WhileOp) -> Any:
    more, *carried = m[op.condition], *(m[value] for value in op.inits)
    visits = 0
    while more:
        visits += 1
        if visits > VISITS:
            raise UnsupportedError(f"the loop does not end within {VISITS} visits")
        more, *carried = m.run_region(op.body.block, carried)
    return carried[0] if len(carried) == 1 else tuple(carried)


def _when(m: Machine, op: WhenOp) -> None:
    bounds = [m[range] for range in op.ranges]
    first = op.visit.data == "first"
    if all(bound.id == (0 if first else bound.count - 1) for bound in bounds):
        m.run_region(op.body.block)


def _shift(m: Machine, op: ShiftOp) -> Bound:
    bound, offset = m[op.range], m[op.offset]
    moved = replace(bound, begin=bound.begin + offset, limit=bound.limit + offset)
    moved.__dict__["valid"] = bound.valid  # the same array: the lanes of both are one and the same
    return moved


def _whole(m: Machine, op: WholeOp) -> Bound:
    bound = Bound(0, range_type(op.result).size, op.extent.data, 0, 1)
    m.bind(op.result, bound)
    return bound


def _index(m: Machine, op: IndexOp) -> TileValue:
    bound: Bound = m[op.range]
    return TileValue(np.arange(bound.begin, bound.begin + bound.size, dtype=np.int32), bound.along(0))


def _valid(m: Machine, op: ValidOp) -> TileValue:
    bound: Bound = m[op.range]
    return TileValue(np.ones(bound.size, bool) if bound.valid is None else bound.valid, bound.along(0))


HANDLERS: dict[type, Handler] = {
    GridOp: _grid,
    ForOp: _for,
    WhenOp: _when,
    WhileOp: _while,
    BeginOp: lambda m, op: m[op.range].begin,
    EndOp: lambda m, op: m[op.range].end,
    IdOp: lambda m, op: m[op.range].id,
    CountOp: lambda m, op: m[op.range].count,
    BlockSizeOp: lambda m, op: range_type(op.range).size,
    ValidCountOp: lambda m, op: m[op.range].end - m[op.range].begin,
    IndexOp: _index,
    ValidOp: _valid,
    ShiftOp: _shift,
    WholeOp: _whole,
}
