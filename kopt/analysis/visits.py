"""Every visit to a nest of loops, one by one, and what index arithmetic gives at each of them.

Pure. ``Visits`` has a row for each visit; index values are evaluated for all rows at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue

from kopt.analysis.bottom_up import bottom_up
from kopt.analysis.boxes import LIMIT
from kopt.dialects.tile import BeginOp, CountOp, EndOp, IdOp, ShiftOp, WholeOp
from kopt.ir.ranges import binding


class NotStatic(Exception):
    """An index depends on what is only known when the kernel runs, or there are too many visits to go through."""


def _truncated(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b))


_ARITHMETIC: dict[type[Operation], Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    arith.AddiOp: np.add,
    arith.SubiOp: np.subtract,
    arith.MuliOp: np.multiply,
    arith.MinSIOp: np.minimum,
    arith.MaxSIOp: np.maximum,
    arith.FloorDivSIOp: np.floor_divide,
    arith.DivSIOp: _truncated,
    arith.RemSIOp: np.fmod,
}
_DIVISIONS = (arith.FloorDivSIOp, arith.DivSIOp, arith.RemSIOp)


@bottom_up()
def depends_on(value: SSAValue | int) -> frozenset[SSAValue]:
    """The ranges of loops whose visits an index value or a range's block depends on, bounds of loops included."""
    if isinstance(value, int):
        return frozenset()
    op = value.owner
    if isinstance(op, arith.ConstantOp | WholeOp):
        return frozenset()
    if isinstance(op, Operation):
        if type(op) not in (*_ARITHMETIC, ShiftOp, BeginOp, EndOp, IdOp, CountOp):
            raise NotStatic
        return frozenset[SSAValue]().union(*map(depends_on, op.operands))
    try:
        bound = binding(value)
    except ValueError:
        raise NotStatic from None
    return frozenset({value}) | depends_on(bound.lower) | depends_on(bound.upper)


@dataclass
class Visits:
    """The visits to some loops: for each range the number of its block, a row a visit."""

    rows: int = 1
    ids: dict[SSAValue, np.ndarray] = field(default_factory=dict)

    def enter(self, range: SSAValue, guards: Iterable[str] = ()) -> Visits:
        """The visits inside one more loop, whose bounds may depend on the visit; ``first`` and ``last`` keep one."""
        bound = binding(range)
        walked = self.value(bound.upper) - self.value(bound.lower)
        trips = np.maximum(0, -(-walked // bound.size))
        rows = int(trips.sum())
        if rows > LIMIT:
            raise NotStatic
        outer = np.repeat(np.arange(self.rows), trips)
        numbers = np.arange(rows) - np.repeat(trips.cumsum() - trips, trips)
        kept = np.ones(rows, bool)
        for guard in guards:
            kept &= numbers == (0 if guard == "first" else trips[outer] - 1)
        ids = {known: held[outer][kept] for known, held in self.ids.items()}
        return Visits(int(kept.sum()), ids | {range: numbers[kept]})

    @bottom_up()
    def value(self, value: SSAValue | int) -> np.ndarray:
        """An index value at each visit. Raises `NotStatic`."""
        if isinstance(value, int):
            return np.full(self.rows, value, np.int64)
        op = value.owner
        if isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr):
            return np.full(self.rows, op.value.value.data, np.int64)
        if isinstance(op, BeginOp):
            return self.begin(op.range)
        if isinstance(op, EndOp):
            return self.end(op.range)
        if isinstance(op, IdOp | CountOp):
            return self._number(op)
        if isinstance(op, Operation) and (compute := _ARITHMETIC.get(type(op))) is not None:
            left, right = self.value(op.operands[0]), self.value(op.operands[1])
            if isinstance(op, _DIVISIONS) and not right.all():
                raise NotStatic
            return compute(left, right)
        raise NotStatic

    def _number(self, op: IdOp | CountOp) -> np.ndarray:
        bound = binding(op.range)
        if isinstance(op, IdOp):
            return self.ids[bound.value]
        return -(-(self.value(bound.upper) - self.value(bound.lower)) // bound.size)

    def begin(self, range: SSAValue) -> np.ndarray:
        """The first element of a range's block at each visit."""
        if isinstance(range.owner, ShiftOp):
            return self.begin(range.owner.range) + self.value(range.owner.offset)
        bound = binding(range)
        number = 0 if isinstance(bound.owner, WholeOp) else self.ids[range]
        return self.value(bound.lower) + bound.size * np.asarray(number)

    def end(self, range: SSAValue) -> np.ndarray:
        """One past the last valid element of a range's block at each visit."""
        if isinstance(range.owner, ShiftOp):
            return self.end(range.owner.range) + self.value(range.owner.offset)
        bound = binding(range)
        return np.minimum(self.begin(range) + bound.size, self.value(bound.upper))


def visits(loops: Sequence[SSAValue], guards: dict[SSAValue, list[str]]) -> Visits:
    """All visits to a nest of loops, outermost first. Raises `NotStatic`."""
    found = Visits()
    for range in loops:
        found = found.enter(range, guards.get(range, ()))
    return found
