"""The loops of one walked dimension: one for each level of dependent reductions, the last of which stores."""

from __future__ import annotations

from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import IsTerminator

from kopt.analysis.walks.reduction_walks import WalkVisits
from kopt.analysis.walks.walkable import Walkable
from kopt.dialects.builder import Builder
from kopt.dialects.tile import ForOp, RangeType, StoreOp, YieldOp, block_axes
from kopt.dialects.tile.memory import memory_shape
from kopt.passes.parts import Parts
from kopt.passes.replacing import replacing
from kopt.passes.retyping import new_tags
from kopt.passes.walking.accumulators import ACCUMULATORS
from kopt.passes.walking.mending import Mending


def walk(found: Walkable, visits: WalkVisits, tag: str, size: int) -> list[ForOp]:
    """Puts the loops in place of the ends of a dimension; the first has the tag. `dce` drops what nothing uses then."""
    _by_level(found.block, visits)
    return [_Walk(found, visits, number, tag, size).loop for number in range(visits.count)]


def _by_level(block: Block, visits: WalkVisits) -> None:
    """Orders the ops of a block by how many walks have to be over before each."""
    ops = [op for op in block.ops if not op.has_trait(IsTerminator)]
    end = block.last_op
    assert end is not None
    if (by_level := sorted(ops, key=lambda op: visits.levels[op])) != ops:
        for op in by_level:
            op.detach()
            Rewriter.insert_op(op, InsertPoint.before(end))


class _Walk:
    """One walk over a dimension."""

    def __init__(self, found: Walkable, visits: WalkVisits, number: int, tag: str, size: int):
        self.visits, self.sinks = visits, visits.of_walk(number, found)
        self.build = Builder(self._place(found.block, number))
        reductions = [sink for sink in self.sinks if not isinstance(sink.op, StoreOp)]
        self.all = {sink.op: ACCUMULATORS[type(sink.op)](sink, self.build) for sink in reductions}
        starts = [start for one in self.all.values() for start in one.starts]
        first = self.sinks[0].op
        tags = new_tags(first)
        self.loop = ForOp(0, found.extent, starts, RangeType(tag if number == 0 else next(tags), size))
        self.loop.location = first.location
        self.loop.range.name_hint = "k"
        Rewriter.insert_op(self.loop, InsertPoint.before(self.build.op))
        self._fill()

    def _place(self, block: Block, number: int) -> Operation:
        """The first op for which this walk has to be over: a reduction of it, what uses one, or the block's end."""
        levels = self.visits.levels
        return next(op for op in block.ops if op.has_trait(IsTerminator) or levels.get(op, 0) > number)

    def _fill(self) -> None:
        """The loop's body, and what replaces the reductions."""
        parts, rest = Parts(self.loop), list(self.loop.carried)
        carried = {op: [rest.pop(0) for _ in one.starts] for op, one in self.all.items()}
        mended = [op for op in self.all if op in self.visits.mended]
        passed = {op: one.step(parts, carried[op]) for op, one in self.all.items() if op not in mended}
        for op in mended:
            top = self.visits.mended[op].top
            parts.changes(top.result, passed[top][0])
        for op in mended:
            how = self.visits.mended[op]
            mending = Mending(how, parts, carried[how.top][0], passed[how.top][0], op)
            passed[op] = self.all[op].step(parts, [mending.rescaled(carried[op][0])])
        self._store(parts)
        parts.run(YieldOp(*(value for op in self.all for value in passed[op])), self.loop)
        self._replace()

    def _store(self, parts: Parts) -> None:
        """Stores of the block, after all loads that they need."""
        stores = [(sink.op, sink) for sink in self.sinks if isinstance(sink.op, StoreOp)]
        values = [[parts.of(*lanes) for lanes in sink.lanes] for _, sink in stores]
        for (op, sink), (value, *mask) in zip(stores, values, strict=True):
            entries = parts.entries(op.entries, _position(op, sink.dims[0]))
            store = StoreOp(value, op.memory, entries, *mask, attributes=op.attributes)
            parts.run(replacing(op, store), op)
            Rewriter.erase_op(op)

    def _replace(self) -> None:
        left: list[SSAValue] = list(self.loop.results)
        results = {op: one.result([left.pop(0) for _ in one.starts], self.build) for op, one in self.all.items()}
        for op, result in results.items():
            result.name_hint = op.results[0].name_hint
            Rewriter.replace_op(op, [], [result])


def _position(op: StoreOp, dim: int) -> int:
    """The dimension of the array that a dimension of a store's block is."""
    return block_axes(op.entries, memory_shape(op.memory.type))[dim].position
