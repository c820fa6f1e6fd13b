"""What is known of a launch's 64-bit integers, through loops and branches: `facts_of`.

Pure. A loop's carried value has a fact that holds before the first visit and that each visit keeps. The analysis
starts with the fact of the initial value, and joins what a visit yields until nothing changes. A value to which each
visit adds never settles that way. Its interval is the initial one and, as often as the loop runs, what a visit adds.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.dialects import scf
from xdsl.ir import Block, Operation, OpResult, SSAValue

from kopt.analysis.wide_facts import Facts, Found, WideFact, fact_of, fitting, has_facts, is_wide, joined
from kopt.dialects.tile import (
    ELEMENTWISE,
    AssociativeOp,
    ForOp,
    GetOp,
    GridOp,
    PutOp,
    SelectOp,
    WhenOp,
    WhileOp,
)
from kopt.ir.trip_counts import most_visits
from kopt.walk import walk

#: Visits of a body in which its facts have to settle.
_ROUNDS = 4
Interval = tuple[int, int]


def facts_of(body: Operation, found: Found) -> Facts:
    """The facts of the integers of a body, through loops of those of 64 bits; what nothing is known of has none."""
    analysis = _WideFacts(found)
    analysis.regions(body)
    return analysis.facts


@dataclass(frozen=True)
class Carry:
    """A value that ``holder`` has at the beginning of each visit: ``start`` first, then what a visit has ``passed`` on.

    There are at most ``trips`` visits, where a number is known.
    """

    holder: SSAValue
    start: SSAValue
    passed: SSAValue
    trips: int | None


class _WideFacts:
    """Facts by value; a loop's body is gone through until they hold for all of its visits."""

    def __init__(self, found: Found):
        self.facts: dict[SSAValue, WideFact | None] = {}
        self._found = found

    def regions(self, op: Operation) -> None:
        """The facts of all that is in an op."""
        for region in op.regions:
            for block in region.blocks:
                self._block(block)

    def _block(self, block: Block) -> None:
        for op in block.ops:
            if isinstance(op, ForOp | WhileOp):
                self._loop(op)
                continue
            if isinstance(op, GridOp):
                self._grid(op)
                continue
            if isinstance(op, AssociativeOp):
                for values in (op.left, op.right, op.results):
                    self._set(values, [self.facts.get(value) for value in op.inputs])
            elif not op.regions:
                self.facts |= {value: self._fact(value) for value in op.results if has_facts(value)}
            self.regions(op)
            if isinstance(op, scf.IfOp):
                self._branches(op)

    def _fact(self, value: OpResult) -> WideFact | None:
        if isinstance(value.op, GetOp):
            return self.facts.get(value.op.memory)
        return fact_of(value, self.facts, self._found)

    def _set(self, values: tuple[SSAValue, ...], facts: list[WideFact | None]) -> None:
        self.facts |= dict(zip(values, facts, strict=True))

    def _branches(self, op: scf.IfOp) -> None:
        for number, result in enumerate(op.results):
            if is_wide(result.type):
                self.facts[result] = joined([self.facts.get(end.operands[number]) for end in _ends(op)])

    def _loop(self, loop: ForOp | WhileOp) -> None:
        trips = most_visits(loop.range) if isinstance(loop, ForOp) else None
        each = zip(loop.carried, loop.inits, loop.yielded, loop.results, strict=True)
        carried = {result: Carry(arg, init, value, trips) for arg, init, value, result in each if is_wide(arg.type)}
        self._settle(loop, list(carried.values()))
        self.facts |= {result: self.facts[carry.holder] for result, carry in carried.items()}

    def _grid(self, grid: GridOp) -> None:
        """A grid's buffers on the chip carry values from cell to cell: what the first visit puts there comes first."""
        carried = carries_in_buffers(grid)
        self.facts |= {carry.holder: None for carry in carried}
        self.regions(grid)
        if carried:
            self._settle(grid, carried)

    def _settle(self, op: Operation, carried: list[Carry]) -> None:
        """Facts of what a body carries that each visit keeps: none of any, if they do not settle."""
        assumed = {carry.holder: self.facts.get(carry.start) for carry in carried}
        for _ in range(_ROUNDS):
            self.facts |= assumed
            self.regions(op)
            kept = {carry.holder: self._after(carry) for carry in carried}
            if kept == assumed:
                return
            assumed = kept
        self.facts |= dict.fromkeys(assumed)
        self.regions(op)

    def _after(self, carry: Carry) -> WideFact | None:
        """What holds before and after a visit, if what is assumed of the carried value held before it."""
        held, new = self.facts[carry.holder], self.facts.get(carry.passed)
        both = joined([held, new])
        if both == held or held is None:
            return held
        start, step, trips = self.facts.get(carry.start), self._step(carry.passed, carry.holder), carry.trips
        if start is None or step is None or trips is None or start.kind not in ("exact", "offset"):
            return both
        kind = "exact" if start.kind == held.kind == "exact" and (new is None or new.kind != "offset") else "offset"
        return fitting(kind, start.low + trips * min(0, step[0]), start.high + trips * max(0, step[1]))

    def _step(self, value: SSAValue, carried: SSAValue) -> Interval | None:
        """Between which numbers lies what is added to a carried value to make ``value``; None if it is not a sum."""
        op = value.owner
        if value is carried or isinstance(op, GetOp) and op.memory is carried:
            return 0, 0
        if isinstance(op, SelectOp):
            return _hull(self._step(op.on_true, carried), self._step(op.on_false, carried))
        if isinstance(op, scf.IfOp):
            place = op.results.index(value)
            return _hull(*(self._step(end.operands[place], carried) for end in _ends(op)))
        if isinstance(op, ForOp):
            place = op.results.index(value)
            inner = self._step(op.yielded[place], op.carried[place])
            trips = most_visits(op.range)
            times = None if inner is None or trips is None else (trips * min(0, inner[0]), trips * max(0, inner[1]))
            return _sum(self._step(op.inits[place], carried), times)
        if isinstance(op, ELEMENTWISE["sub"]):
            by = self._interval(op.operands[1])
            return _sum(self._step(op.operands[0], carried), by and (-by[1], -by[0]))
        if isinstance(op, ELEMENTWISE["add"]):
            left, right = op.operands
            step = _sum(self._step(left, carried), self._interval(right))
            return step or _sum(self._step(right, carried), self._interval(left))
        return None

    def _interval(self, value: SSAValue) -> Interval | None:
        fact = self.facts.get(value)
        return (fact.low, fact.high) if fact is not None and fact.kind in ("exact", "offset") else None


def _ends(op: scf.IfOp) -> list[Operation]:
    """What ends the branches of an ``if`` that gives values: both have an end."""
    return [end for region in (op.true_region, op.false_region) if (end := region.block.last_op) is not None]


def _sum(left: Interval | None, right: Interval | None) -> Interval | None:
    return None if left is None or right is None else (left[0] + right[0], left[1] + right[1])


def _hull(left: Interval | None, right: Interval | None) -> Interval | None:
    return None if left is None or right is None else (min(left[0], right[0]), max(left[1], right[1]))


def carries_in_buffers(grid: GridOp) -> list[Carry]:
    """The buffers of 64-bit integers of which the first visit puts one value, and each visit one more at most."""
    puts: dict[SSAValue, list[PutOp]] = {}
    for op in walk(grid, PutOp):
        if is_wide(op.memory.type):
            puts.setdefault(op.memory, []).append(op)
    found = []
    for memory, (first, *others) in puts.items():
        when = first.parent_op()
        plain = all(isinstance(use.operation, GetOp | PutOp) for use in memory.uses)
        if not plain or len(others) != 1 or not isinstance(when, WhenOp) or when.visit.data != "first":
            continue
        if _in_a_loop(others[0], grid):
            continue
        counts = [most_visits(range) for range in when.ranges]
        known = [count for count in counts if count is not None]
        trips = prod(known) if len(known) == len(counts) else None
        found.append(Carry(memory, first.value, others[0].value, trips))
    return found


def _in_a_loop(op: Operation, grid: GridOp) -> bool:
    """Whether an op runs several times in a cell, for all we know."""
    parent = op.parent_op()
    while parent is not grid and isinstance(parent, scf.IfOp | WhenOp):
        parent = parent.parent_op()
    return parent is not grid
