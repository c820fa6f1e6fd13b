"""Makes the ops of copies around one access."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.dialects.tile import ALL, BeginOp, Entry, ForOp, ShiftOp, TileType
from kopt.ir.ranges import binding, visits
from kopt.passes.retyping import all_lanes


def pair_shape(type: TileType) -> tuple[int, ...]:
    """The shape of a buffer of two blocks. Of one dimension they lie end to end: rows of a matrix cannot be copied."""
    return (2 * type.shape[0],) if type.rank == 1 else (2, *type.shape)


class Building:
    """Inserts ops where ``at`` is, at the place of an op in the source."""

    def __init__(self, op: Operation):
        self.op = op
        self.at = InsertPoint.before(op)

    def add(self, op: Operation) -> None:
        """Inserts an op."""
        op.location = self.op.location
        Rewriter.insert_op(op, self.at)

    def value(self, op: Operation, hint: str | None = None) -> SSAValue:
        """Inserts an op; gives its result."""
        self.add(op)
        op.results[0].name_hint = op.results[0].name_hint or hint
        return op.results[0]

    def number(self, value: int) -> SSAValue:
        """A constant."""
        return self.value(arith.ConstantOp(IntegerAttr(value, IndexType())))

    def parity(self, value: SSAValue, hint: str) -> SSAValue:
        """0 or 1: which of two buffers."""
        return self.value(arith.AndIOp(value, self.number(1)), hint)

    def compare(self, a: SSAValue, predicate: str, b: SSAValue, hint: str | None = None) -> SSAValue:
        """A predicate of two numbers."""
        return self.value(arith.CmpiOp(a, b, predicate), hint)

    def pair_entries(self, type: TileType, slot: SSAValue, entries: Sequence[Entry] = ()) -> list[Entry]:
        """Where one of two blocks lies in the buffer of both (see `pair_shape`); an access's, with its ``entries``."""
        if type.rank != 1:
            return [slot, *[ALL] * type.rank]
        size = type.shape[0]
        first = self.value(arith.MuliOp(slot, self.number(size)))
        if not entries:
            whole = self.value(all_lanes(size, self.op), "block")
            return [self.value(ShiftOp(whole, first), "block")]
        (own,) = entries
        assert isinstance(own, SSAValue)
        # A shift of the access's own range, whose tag its lanes have.
        return [self.value(ShiftOp(own, self.value(arith.SubiOp(first, self.value(BeginOp(own))))), "block")]

    def count(self, loop: ForOp) -> SSAValue:
        """How many visits a loop makes; negative numbers stand for none."""
        trips = visits(loop.range)
        return self.counted(*loop.bounds, binding(loop.range).size) if trips is None else self.number(trips)

    def counted(self, lower: SSAValue | int, upper: SSAValue | int, size: int) -> SSAValue:
        """How many blocks there are between two bounds."""
        if lower == 0 and size == 1 and isinstance(upper, SSAValue):
            return upper
        first, end = (self.number(bound) if isinstance(bound, int) else bound for bound in (lower, upper))
        distance = end if lower == 0 else self.value(arith.SubiOp(end, first))
        return self.value(arith.CeilDivSIOp(distance, self.number(size)))

    def visited(self, loop: ForOp, body: Callable[[], None]) -> None:
        """What ``body`` makes, where a loop makes a visit."""
        trips = visits(loop.range)
        if trips is None:
            self.guarded(self.compare(self.count(loop), "sgt", self.number(0), "some"), body)
        elif trips > 0:
            body()

    def guarded(self, condition: SSAValue | None, body: Callable[[], None], negated: bool = False) -> None:
        """What ``body`` makes, where a condition holds, or does not; without one everywhere."""
        if condition is None:
            body()
            return
        otherwise = Region(Block([scf.YieldOp()])) if negated else None
        branch = scf.IfOp(condition, [], Region(Block([scf.YieldOp()])), otherwise)
        self.add(branch)
        region = branch.false_region if negated else branch.true_region
        self.inside(region.block, body)

    def inside(self, block: Block, body: Callable[[], None]) -> None:
        """What ``body`` makes, at the start of a block."""
        outside, self.at = self.at, InsertPoint.at_start(block)
        body()
        self.at = outside

    def early(self, block: Block, values: Collection[SSAValue], body: Callable[[], None]) -> None:
        """What ``body`` makes, in a block as soon as all of some values are known."""
        owners = {value.owner for value in values}
        last = next((op for op in reversed(list(block.ops)) if op in owners), None)
        outside, self.at = self.at, InsertPoint.at_start(block) if last is None else InsertPoint.after(last)
        body()
        self.at = outside
