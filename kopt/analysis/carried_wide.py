"""What is known of a launch's 64-bit integers, through loops and branches: `facts_of`.

Pure. A loop's carried value has a fact that holds before the first visit and that each visit keeps. The analysis
starts with the fact of the initial value, and joins what a visit yields until nothing changes. A value to which each
visit adds never settles that way. Its interval is the initial one and, as often as the loop runs, what a visit adds.
"""

from __future__ import annotations

from xdsl.dialects import scf
from xdsl.ir import Block, Operation, SSAValue

from kopt.analysis.wide_facts import Facts, Found, WideFact, fact_of, fitting, is_wide, joined
from kopt.dialects.tile import ELEMENTWISE, AssociativeOp, ForOp, SelectOp, TileType, WhileOp
from kopt.dialects.tile.bodies import Carrying
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.ranges import binding, visits

#: Visits of a body in which its facts have to settle.
_ROUNDS = 4
Interval = tuple[int, int]


def facts_of(body: Operation, found: Found) -> Facts:
    """The fact of each 64-bit value in a body; what nothing is known of has none."""
    analysis = _WideFacts(found)
    analysis.regions(body)
    return analysis.facts


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
            if isinstance(op, AssociativeOp):
                for values in (op.left, op.right, op.results):
                    self._set(values, [self.facts.get(value) for value in op.inputs])
            elif not op.regions:
                wide = [value for value in op.results if is_wide(value.type) and isinstance(value.type, TileType)]
                self.facts |= {value: fact_of(op, self.facts, self._found) for value in wide}
            self.regions(op)
            if isinstance(op, scf.IfOp):
                self._branches(op)

    def _set(self, values: tuple[SSAValue, ...], facts: list[WideFact | None]) -> None:
        self.facts |= dict(zip(values, facts, strict=True))

    def _branches(self, op: scf.IfOp) -> None:
        for number, result in enumerate(op.results):
            if is_wide(result.type):
                self.facts[result] = joined([self.facts.get(end.operands[number]) for end in _ends(op)])

    def _loop(self, loop: ForOp | WhileOp) -> None:
        carried = [each for each in zip(loop.carried, loop.inits, loop.yielded, strict=True) if is_wide(each[0].type)]
        assumed = {arg: self.facts.get(init) for arg, init, _ in carried}
        for _ in range(_ROUNDS):
            self.facts |= assumed
            self.regions(loop)
            kept = {arg: self._after(loop, arg, init, value) for arg, init, value in carried}
            if kept == assumed:
                break
            assumed = kept
        else:
            assumed = dict.fromkeys(assumed)
            self.facts |= assumed
            self.regions(loop)
        results = dict(zip(loop.carried, loop.results, strict=True))
        self.facts |= {results[arg]: fact for arg, fact in assumed.items()}

    def _after(self, loop: Carrying, arg: SSAValue, init: SSAValue, value: SSAValue) -> WideFact | None:
        """What holds before and after a visit, if what is assumed of the carried value held before it."""
        held, new = self.facts[arg], self.facts.get(value)
        both = joined([held, new])
        if both == held or held is None:
            return held
        start, step, trips = self.facts.get(init), self._step(value, arg), _most_trips(loop)
        if start is None or step is None or trips is None or start.kind not in ("exact", "offset"):
            return both
        kind = "exact" if start.kind == held.kind == "exact" and (new is None or new.kind != "offset") else "offset"
        return fitting(kind, start.low + trips * min(0, step[0]), start.high + trips * max(0, step[1]))

    def _step(self, value: SSAValue, carried: SSAValue) -> Interval | None:
        """Between which numbers lies what is added to a carried value to make ``value``; None if it is not a sum."""
        if value is carried:
            return 0, 0
        op = value.owner
        if isinstance(op, SelectOp):
            return _hull(self._step(op.on_true, carried), self._step(op.on_false, carried))
        if isinstance(op, scf.IfOp):
            place = op.results.index(value)
            return _hull(*(self._step(end.operands[place], carried) for end in _ends(op)))
        if isinstance(op, ForOp):
            place = op.results.index(value)
            inner = self._step(op.yielded[place], op.carried[place])
            trips = _most_trips(op)
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


def _most_trips(loop: Carrying) -> int | None:
    """A number of visits that a loop does not exceed, where one is known."""
    if not isinstance(loop, ForOp):
        return None
    if (known := visits(loop.range)) is not None:
        return max(0, known)
    analysis = IndexAnalysis()
    lower, upper = (bound if isinstance(bound, int) else None for bound in loop.bounds)
    first = lower if lower is not None else analysis.range(loop.bounds[0]).low
    last = upper if upper is not None else analysis.range(loop.bounds[1]).high
    return None if first is None or last is None else max(0, -(-(last - first) // binding(loop.range).size))
