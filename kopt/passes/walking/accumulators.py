"""What a walk over a dimension carries for each reduction: its result over the blocks so far.

    %s = tile.reduce add %v [1]
becomes, in a loop that carries ``%a``, 0 at first,
    %b = tile.reduce add %part [1]      %n = tile.add %a, %b      tile.yield %n
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, Operation, SSAValue

from kopt.analysis.storage import wide
from kopt.analysis.walks.walkable import Reduction, Sink
from kopt.dialects.builder import Builder
from kopt.dialects.tile import (
    COMBINING_OPS,
    ELEMENTWISE,
    ArgReduceOp,
    BeginOp,
    CastOp,
    DotOp,
    FullOp,
    ReduceOp,
    SelectOp,
    SplatOp,
    is_float,
    neutral,
    tile_type,
)
from kopt.passes.parts import Parts

_E = ELEMENTWISE


class Accumulator:
    """What is carried for one reduction: ``starts``, what a visit makes of it, what replaces the reduction."""

    def __init__(self, sink: Sink, before: Builder):
        assert isinstance(sink.op, Reduction)
        self.op, self.dims, self.before = sink.op, sink.dims, before
        self.starts = self._starts()

    def _starts(self) -> list[SSAValue]:
        raise NotImplementedError

    def step(self, parts: Parts, carried: Sequence[SSAValue]) -> list[SSAValue]:
        """What a visit passes on."""
        raise NotImplementedError

    def result(self, carried: Sequence[SSAValue], after: Builder) -> SSAValue:
        """The reduction's result, of what the last visit passed on."""
        return after.cast(carried[0], tile_type(self.op.results[0]).element_type)

    def part(self, parts: Parts) -> SSAValue:
        """A visit's lanes of the first operand."""
        return parts.of(self.op.operands[0], self.dims[0])


class Combined(Accumulator):
    """`tile.reduce`: the combination of all blocks' combinations, in 32 bits where lanes are narrower."""

    op: ReduceOp

    @property
    def kind(self) -> str:
        """How lanes are combined."""
        return self.op.kind.data

    def _starts(self) -> list[SSAValue]:
        type = tile_type(self.op.result)
        element = _computed(self.kind, type.element_type)
        return [self.before.add(FullOp(neutral(self.kind, element), type.with_element(element)))]

    def step(self, parts: Parts, carried: Sequence[SSAValue]) -> list[SSAValue]:
        """The block's combination with that of those before."""
        combined = _E[COMBINING_OPS[self.kind]]
        return [parts.add(combined(carried[0], self.block(parts, carried[0])), self.op)]

    def block(self, parts: Parts, carried: SSAValue) -> SSAValue:
        """The block's own combination."""
        found = parts.add(ReduceOp(self.kind, self.part(parts), self.op.dimensions), self.op)
        same = found.type == carried.type
        return found if same else parts.add(CastOp(found, tile_type(carried).element_type), self.op)


class Summed(Accumulator):
    """`tile.dot`: the sum of all blocks' products."""

    op: DotOp

    def _starts(self) -> list[SSAValue]:
        start = self.op.accumulator
        return [self.before.add(FullOp(0, tile_type(self.op.result))) if start is None else start]

    def step(self, parts: Parts, carried: Sequence[SSAValue]) -> list[SSAValue]:
        """The block's product, added to those before."""
        lhs, rhs = (parts.of(self.op.operands[number], self.dims[number]) for number in (0, 1))
        precision = self.op.precision and self.op.precision.data
        return [parts.add(DotOp(lhs, rhs, carried[0], precision=precision), self.op)]


class Best(Accumulator):
    """`tile.argreduce`: the first of the best lanes, its number counted from the dimension's beginning."""

    op: ArgReduceOp

    def _starts(self) -> list[SSAValue]:
        type = tile_type(self.op.result)
        element = wide(tile_type(self.op.input).element_type)
        best = FullOp(neutral(self.op.kind.data, element), type.with_element(element))
        return [self.before.add(best), self.before.add(FullOp(0, type))]

    def step(self, parts: Parts, carried: Sequence[SSAValue]) -> list[SSAValue]:
        """The block's best lane where it is better than those before, NaN being the best."""
        kind, (best, number) = self.op.kind.data, carried
        value = self._of(parts, ReduceOp(kind, self.part(parts), [self.dims[0]]))
        if value.type != best.type:
            value = self._of(parts, CastOp(value, tile_type(best).element_type))
        lane = self._of(parts, ArgReduceOp(kind, self.part(parts), self.dims[0]))
        begin = self._of(parts, SplatOp(self._of(parts, BeginOp(parts.loop.range)), tile_type(lane)))
        better = self._of(parts, _E["gt" if kind == "max" else "lt"](value, best))
        if is_float(tile_type(best).element_type):
            new, old = (self._of(parts, _E["isnan"](some)) for some in (value, best))
            first = self._of(parts, _E["and"](new, self._of(parts, _E["not"](old))))
            better = self._of(parts, _E["or"](better, first))
        place = self._of(parts, _E["add"](begin, lane))
        return [self._of(parts, SelectOp(better, value, best)), self._of(parts, SelectOp(better, place, number))]

    def result(self, carried: Sequence[SSAValue], after: Builder) -> SSAValue:
        """The lane's number."""
        return carried[1]

    def _of(self, parts: Parts, op: Operation) -> SSAValue:
        return parts.add(op, self.op)


def _computed(kind: str, element: Attribute) -> Attribute:
    """The element type in which lanes are combined one by one: sums and products of narrow floats lose no digits."""
    takes = _E[COMBINING_OPS[kind]].ROW.rule.accepts(element) and not (kind in ("add", "mul") and is_float(element))
    return element if takes else wide(element)


#: What is carried for each reduction.
ACCUMULATORS: dict[type[Operation], type[Accumulator]] = {ReduceOp: Combined, DotOp: Summed, ArgReduceOp: Best}
