"""Makes the ops of a copy that steps overlap: in two buffers by turns, started in one step, awaited in another."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from xdsl.dialects import arith, scf
from xdsl.ir import Block, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.copies import Copy
from kopt.dialects.builder import Builder
from kopt.dialects.tile import ALL, BeginOp, Entry, ForOp, GetOp, RefType, ShiftOp, TileType
from kopt.ir.ranges import binding, visits
from kopt.passes.replacing import replacing
from kopt.passes.retyping import all_lanes
from kopt.passes.scratch import scratch_name


def pair_shape(type: TileType) -> tuple[int, ...]:
    """The shape of a buffer of two blocks. Of one dimension they lie end to end: rows of a matrix cannot be copied."""
    return (2 * type.shape[0],) if type.rank == 1 else (2, *type.shape)


class OverlappedCopy:
    """A copy in two buffers, with two semaphores. Its ops have its place in the source, wherever ``build`` inserts."""

    def __init__(self, copy: Copy):
        self.copy, self.op = copy, copy.start
        self.build = Builder(copy.start)
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
        value = self.build.add(replacing(get, GetOp(self.buffer, entries, self.type)), get.result.name_hint)
        get.result.replace_all_uses_with(value)

    def parity(self, value: SSAValue, hint: str) -> SSAValue:
        """0 or 1: which of two buffers."""
        return self.build.add(arith.AndIOp(value, self.build.index(1)), hint)

    def compare(self, a: SSAValue, predicate: str, b: SSAValue, hint: str | None = None) -> SSAValue:
        """A predicate of two numbers."""
        return self.build.add(arith.CmpiOp(a, b, predicate), hint)

    def pair_entries(self, type: TileType, slot: SSAValue, entries: Sequence[Entry] = ()) -> list[Entry]:
        """Where one of two blocks lies in the buffer of both (see `pair_shape`); an access's, with its ``entries``."""
        if type.rank != 1:
            return [slot, *[ALL] * type.rank]
        size = type.shape[0]
        first = self.build.add(arith.MuliOp(slot, self.build.index(size)))
        if not entries:
            whole = self.build.add(all_lanes(size, self.op), "block")
            return [self.build.add(ShiftOp(whole, first), "block")]
        (own,) = entries
        assert isinstance(own, SSAValue)
        # A shift of the access's own range, whose tag its lanes have.
        return [
            self.build.add(ShiftOp(own, self.build.add(arith.SubiOp(first, self.build.add(BeginOp(own))))), "block")
        ]

    def count(self, loop: ForOp) -> SSAValue:
        """How many visits a loop makes; negative numbers stand for none."""
        trips = visits(loop.range)
        return self.counted(*loop.bounds, binding(loop.range).size) if trips is None else self.build.index(trips)

    def counted(self, lower: SSAValue | int, upper: SSAValue | int, size: int) -> SSAValue:
        """How many blocks there are between two bounds."""
        if lower == 0 and size == 1 and isinstance(upper, SSAValue):
            return upper
        first, end = map(self.build.index, (lower, upper))
        distance = end if lower == 0 else self.build.add(arith.SubiOp(end, first))
        return self.build.add(arith.CeilDivSIOp(distance, self.build.index(size)))

    def visited(self, loop: ForOp, body: Callable[[], object]) -> None:
        """What ``body`` makes, where a loop makes a visit."""
        trips = visits(loop.range)
        if trips is None:
            self.guarded(self.compare(self.count(loop), "sgt", self.build.index(0), "some"), body)
        elif trips > 0:
            body()

    def guarded(self, condition: SSAValue | None, body: Callable[[], object], negated: bool = False) -> None:
        """What ``body`` makes, where a condition holds, or does not; without one everywhere."""
        if condition is None:
            body()
            return
        otherwise = Region(Block([scf.YieldOp()])) if negated else None
        branch = scf.IfOp(condition, [], Region(Block([scf.YieldOp()])), otherwise)
        self.build.insert(branch)
        region = branch.false_region if negated else branch.true_region
        self.inside(region.block, body)

    def inside(self, block: Block, body: Callable[[], object]) -> None:
        """What ``body`` makes, at the start of a block."""
        outside, self.build.at = self.build.at, InsertPoint.at_start(block)
        body()
        self.build.at = outside

    def early(self, block: Block, values: Collection[SSAValue], body: Callable[[], object]) -> None:
        """What ``body`` makes, in a block as soon as all of some values are known."""
        owners = {value.owner for value in values}
        last = next((op for op in reversed(list(block.ops)) if op in owners), None)
        outside, self.build.at = self.build.at, InsertPoint.at_start(block) if last is None else InsertPoint.after(last)
        body()
        self.build.at = outside
