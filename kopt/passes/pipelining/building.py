"""Makes the ops of a copy that steps overlap: in two buffers by turns, started in one step, awaited in another."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.copies import Copy
from kopt.dialects.tile import ALL, BeginOp, Entry, ForOp, GetOp, RefType, ShiftOp, TileType
from kopt.ir.ranges import binding, visits
from kopt.passes.replacing import replacing
from kopt.passes.retyping import all_lanes
from kopt.passes.scratch import scratch_name


def pair_shape(type: TileType) -> tuple[int, ...]:
    """The shape of a buffer of two blocks. Of one dimension they lie end to end: rows of a matrix cannot be copied."""
    return (2 * type.shape[0],) if type.rank == 1 else (2, *type.shape)


class Building:
    """Inserts ops where ``at`` is, at a copy's place in the source. The copy gets two buffers and two semaphores."""

    def __init__(self, copy: Copy):
        self.copy, self.op = copy, copy.start
        self.at = InsertPoint.before(copy.start)
        self.array, self.entries, self.type = copy.array, list(copy.entries), copy.type
        self.buffer = self._pair(copy.buffer, pair_shape(self.type), "buffer")
        self.semaphores = self._pair(copy.start.semaphore, (2,), "arrived" if copy.is_fetch else "sent")

    def _pair(self, ref: SSAValue, shape: tuple[int, ...], what: str) -> SSAValue:
        assert isinstance(ref.type, RefType)
        pair = Rewriter.replace_value_with_new_type(ref, RefType(shape, ref.type.element_type, ref.type.space.data))
        pair.name_hint = scratch_name(self.array, what)
        return pair

    def erase_copy(self) -> None:
        """Erases the copy that was started and waited for at once."""
        if isinstance(self.copy.access, GetOp):
            assert self.copy.access.result.first_use is None
        for op in self.copy.ops:
            Rewriter.erase_op(op)

    def replace_get(self, entries: list[Entry]) -> None:
        """Lets the value of a fetch be that of one of the two buffers."""
        get = self.copy.access
        assert isinstance(get, GetOp)
        value = self.value(replacing(get, GetOp(self.buffer, entries, self.type)), get.result.name_hint)
        get.result.replace_all_uses_with(value)

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
