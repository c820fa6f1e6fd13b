"""Which walk over a dimension each of its reductions is done in, and where what uses them goes. Pure.

A *level* is how many walks have to be over before a value is known: 0 of what no reduction of the dimension is needed
for, one more than its operand's of a reduction. A reduction that is mended while what it depends on changes
(`kopt.analysis.walks.rescaling`) shares the walk of that.

    %m = tile.reduce max %v       in walk 0, of level 1
    %e = tile.exp (%v - %m)       level 1
    %s = tile.reduce add %e       in walk 1, of level 2; in walk 0, of level 1 where it is mended
    tile.store %e / %s            in the last walk
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from xdsl.ir import Operation
from xdsl.traits import is_side_effect_free

from kopt.analysis.aliases import root
from kopt.analysis.powers import depends
from kopt.analysis.walks.rescaling import Rescaling, rescaling
from kopt.analysis.walks.walkable import Sink, Walkable
from kopt.dialects.tile import Access, LoadOp, ReduceOp, StoreOp
from kopt.dialects.tile.memory import WritesMemory
from kopt.walk import walk


@dataclass
class WalkVisits:
    """The walks over a dimension: the level of each op of the block, the walk of each reduction, what is mended."""

    levels: dict[Operation, int] = field(default_factory=dict)
    walk: dict[Operation, int] = field(default_factory=dict)
    mended: dict[Operation, Rescaling] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """How many walks there are."""
        return 1 + max(self.walk.values())

    def of_walk(self, number: int, found: Walkable) -> list[Sink]:
        """The ends of the dimension that a walk computes: all stores are in the last one."""
        last = number == self.count - 1
        return [s for s in found.sinks if (last if isinstance(s.op, StoreOp) else self.walk[s.op] == number)]


def visits(found: Walkable, online: bool) -> WalkVisits:
    """The walks that a dimension needs; ``online`` if reductions are to be mended where they can be."""
    plan = WalkVisits()
    sinks: dict[Operation, Sink] = {sink.op: sink for sink in found.sinks}
    ordered = _ordered(found)
    last = 0
    for op in found.block.ops:
        level = max((plan.levels.get(_here(maker, found), 0) for maker in _made_by(op)), default=0)
        if op in sinks:
            top = _top(sinks[op], level, plan, found) if online and level else None
            if top is not None:
                plan.mended[op], level = top, level - 1
            plan.walk[op] = level
            level += not isinstance(op, StoreOp)
        elif op in ordered:
            level = last = max(level, last)
        plan.levels[op] = level
    return plan


def _made_by(op: Operation) -> Iterator[Operation]:
    """The ops whose results an op uses, inside of it too."""
    for inner in walk(op):
        yield from (operand.owner for operand in inner.operands if isinstance(operand.owner, Operation))


def _here(op: Operation, found: Walkable) -> Operation:
    """The op of the block that is, or holds, an op."""
    while op.parent is not found.block and (parent := op.parent_op()) is not None:
        op = parent
    return op


def _ordered(found: Walkable) -> set[Operation]:
    """The ops outside of the walks that stay in order: they write memory, or read what is written."""
    inside = {sink.op for sink in found.sinks}
    ops = [op for op in found.block.ops if op not in inside and not is_side_effect_free(op)]
    accesses = walk(found.block, Access)
    written = {root(op.memory) for op in accesses if op.has_trait(WritesMemory)}
    return {op for op in ops if not isinstance(op, LoadOp) or root(op.memory) in written}


def _top(sink: Sink, level: int, plan: WalkVisits, found: Walkable) -> Rescaling | None:
    """What a sum is mended by, if all else that it depends on is known one walk earlier."""
    tops = [op for op, walk in plan.walk.items() if walk == level - 1 and isinstance(op, ReduceOp)]
    tops = [op for op in tops if op not in plan.mended and op.kind.data in ("max", "min")]
    late = [op for op, walk in plan.walk.items() if walk == level - 1 and not isinstance(op, StoreOp)]
    used = [op for op in late if any(depends(value, op.results[0]) for value, _ in sink.lanes)]
    if len(used) != 1 or used[0] not in tops:
        return None
    top = used[0]
    assert isinstance(top, ReduceOp)
    return rescaling(sink, top)
