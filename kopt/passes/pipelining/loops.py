"""Fetches in a loop: the next visit's block arrives while this one's is computed with."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, i32
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.copies import Copy
from kopt.analysis.overlapping import crosses, knows_first_block
from kopt.analysis.rematerialisation import CONSTANTS, Rematerialisation
from kopt.dialects.pallas import CallOp, DmaStartOp, DmaWaitOp
from kopt.dialects.tile import (
    CountOp,
    Entry,
    ExtractOp,
    ForOp,
    GetOp,
    IdOp,
    PutOp,
    RefType,
    ShiftOp,
    SplatOp,
    TileType,
    WhenOp,
)
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.ranges import binding
from kopt.passes.pipelining.cells import number_of_cells, run_in_order
from kopt.passes.pipelining.overlapped import OverlappedCopy
from kopt.passes.pipelining.rematerialising import Other, rematerialise
from kopt.passes.retyping import all_lanes
from kopt.passes.scratch import scratch_ref


def prefetch_over_loop(copy: Copy, call: CallOp, cell: SSAValue | None) -> None:
    """Fetches a block one visit of its loop ahead.

        tile.for %k in (0, %n) {
          pallas.dma_start %x[%i, %k] to %buffer[…] …   pallas.dma_wait …   %v = tile.get %buffer[…] … }
    becomes, with a buffer of two blocks and two semaphores,
        scf.if %n > 0 { dma_start %x[%i, 0] to %buffer[0, …] }   // as soon as %n and %i are known
        tile.for %k in (0, %n) {
          %slot = %k's number mod 2
          scf.if (there is a next block) { dma_start %x[%i, %k + 1] to %buffer[1 - %slot, …] }
          dma_wait %x[%i, %k] to %buffer[%slot, …]
          %v = tile.get %buffer[%slot, …] … }

    ``cell`` is the range along which the cells of the grid follow one another on one core, if any does. The first block
    of the next cell is then on its way in the last visit of the grid's first loop, where it can be told; scratch memory
    holds whose turn it is of the two buffers, and the cells run in order.
    """
    crossed = cell is not None and crosses(copy, cell)
    _LoopPrefetch(copy, call).convert(cell if crossed else None)
    if crossed:
        run_in_order(call)


def _move_out(block: Block, outer: Block) -> None:
    """Makes constants and whole ranges of a loop's body known around it too."""
    for op in [op for op in block.ops if isinstance(op, CONSTANTS)]:
        op.detach()
        Rewriter.insert_op(op, InsertPoint.at_start(outer))


class _LoopPrefetch(OverlappedCopy):
    def __init__(self, copy: Copy, call: CallOp):
        loop = copy.start.parent_op()
        assert isinstance(loop, ForOp)
        outer = loop.parent_block()
        assert outer is not None
        self.loop, self.outer, self.call = loop, outer, call
        super().__init__(copy)
        _move_out(loop.body.block, outer)

    def convert(self, cell: SSAValue | None) -> None:
        turn = ahead = None
        known = knows_first_block(self.copy)
        if cell is not None:
            turn, ahead = self._begin_cell(cell)
        elif known:
            self._begin()
        id = self.build.add(IdOp(self.loop.range))
        slot = self.parity(id if turn is None else self.build.add(arith.AddiOp(id, turn)), "slot")
        if not known:
            start = self._start(self.entries, slot)
            self.build.insert(WhenOp("first", [self.loop.range], Region(Block([start]))))
        self._start_next(id, slot, ahead)
        wait = DmaWaitOp(*self._places(self.entries, slot))
        self.build.insert(wait)
        self.replace_get(list(wait.target_entries))
        self.erase_copy()

    # The first block.

    def _elsewhere(self, *ranges: SSAValue) -> Rematerialisation:
        return Rematerialisation(frozenset({self.loop.range, *ranges}), self.loop.body.block)

    def _begin(self) -> None:
        """In front of the loop: its first block is on its way."""
        elsewhere = self._elsewhere()
        needed = [value for entry in (*self.entries, *self.loop.bounds) for value in elsewhere.shared(entry)]
        self.early(self.outer, needed, lambda: self._start_first(self.build.index(0)))

    def _start_first(self, slot: SSAValue) -> None:
        def start() -> None:
            others = {self.loop.range: self._first_block(self.loop.bounds[0])}
            entries = rematerialise(self._elsewhere(), self.entries, others, self.build.add, "first")
            self.build.insert(self._start(entries, slot))

        self.visited(self.loop, start)

    def _first_block(self, lower: SSAValue | int) -> Other:
        """The loop's first block, in terms that hold outside of it."""
        size = binding(self.loop.range).size
        block = self.build.add(all_lanes(size, self.loop), "first")
        if lower != 0:
            block = self.build.add(ShiftOp(block, self.build.index(lower)), "first")
        return Other(block, self.build.index(0))

    # The next cell's first block.

    def _begin_cell(self, cell: SSAValue) -> tuple[SSAValue, SSAValue]:
        """In front of the loop: the first block of the first cell is on its way, and where the next cell's is is known.

        Gives whose turn it is of the two buffers, and whether there is a block to fetch for the next cell.
        """
        elsewhere = self._elsewhere(cell)
        values = [*self.entries, *self.loop.bounds]
        needed = [value for entry in values for value in (*elsewhere.shared(entry), *self._elsewhere().shared(entry))]
        made: list[SSAValue] = []
        self.early(self.outer, needed, lambda: made.extend(self._look_ahead(cell, elsewhere)))
        self.build.at = InsertPoint.before(self.op)
        return made[0], made[1]

    def _look_ahead(self, cell: SSAValue, elsewhere: Rematerialisation) -> tuple[SSAValue, SSAValue]:
        turns = scratch_ref(self.call, RefType((1,), i32, "smem"), self.array, "turn", behind=self.semaphores)
        self._in_first_cell(cell, turns)
        turn = self.build.add(ExtractOp(self.build.add(GetOp(turns, [0])), IndexType()), "turn")
        last = number_of_cells(self.build, cell, but=1)
        id = self.build.add(IdOp(cell))
        following = self.build.add(arith.AddiOp(id, self.build.index(1)))
        other = self._cell(cell, id, self.build.add(arith.MinSIOp(following, last), "next_cell"))
        [lower] = rematerialise(elsewhere, [self.loop.bounds[0]], {cell: other}, self.build.add, "next")
        others = {cell: other, self.loop.range: self._first_block(lower)}
        values = [self.loop.bounds[1], *self.entries]
        upper, *self.next_entries = rematerialise(elsewhere, values, others, self.build.add, "next_cell")
        some = self.compare(self.counted(lower, upper, binding(self.loop.range).size), "sgt", self.build.index(0))
        ahead = self.build.add(arith.AndIOp(some, self.compare(id, "slt", last)), "ahead")
        count = self.count(self.loop)
        idle = self.build.add(arith.AndIOp(self.compare(count, "sle", self.build.index(0)), ahead), "idle")
        self.guarded(idle, lambda: self.build.insert(self._start(self.next_entries, turn)))
        self.build.at = InsertPoint.after(self.loop)
        done = self.build.add(arith.AddiOp(turn, self.build.add(arith.MaxSIOp(count, self.build.index(0)))))
        self._put_turn(self.parity(done, "next_turn"), turns)
        return turn, ahead

    def _in_first_cell(self, cell: SSAValue, turns: SSAValue) -> None:
        first = WhenOp("first", [cell], Region(Block()))
        self.build.insert(first)
        outside, self.build.at = self.build.at, InsertPoint.at_end(first.body.block)
        self._put_turn(self.build.index(0), turns)
        self._start_first(self.build.index(0))
        self.build.at = outside

    def _put_turn(self, turn: SSAValue, turns: SSAValue) -> None:
        self.build.insert(PutOp(self.build.add(SplatOp(turn, TileType((), i32))), turns, [0]))

    def _cell(self, cell: SSAValue, id: SSAValue, number: SSAValue) -> Other:
        """The next cell's block of its range."""
        distance = self.build.add(arith.SubiOp(number, id))
        size = binding(cell).size
        distance = distance if size == 1 else self.build.add(arith.MuliOp(distance, self.build.index(size)))
        return Other(self.build.add(ShiftOp(cell, distance), "next"), number)

    # The next block.

    def _start_next(self, id: SSAValue, slot: SSAValue, ahead: SSAValue | None) -> None:
        """Where there is a next visit, computes there what it will read, and starts the copy; else the next cell's."""
        if IndexAnalysis().number(self.loop.range).number is not None:
            self._start_next_cell(slot, ahead)  # the only visit, if there is one: its number is known
            return
        following = self.build.add(arith.AddiOp(id, self.build.index(1)), f"next_{self._name}_number")
        more = self.compare(following, "slt", self.build.add(CountOp(self.loop.range)), "more")
        other = self.build.add(arith.SubiOp(self.build.index(1), slot), "other_slot")

        def start() -> None:
            size = self.build.index(binding(self.loop.range).size)
            others = {self.loop.range: Other(self.build.add(ShiftOp(self.loop.range, size), "next"), following)}
            scope = Rematerialisation(frozenset({self.loop.range}))
            self.build.insert(self._start(rematerialise(scope, self.entries, others, self.build.add, "next"), other))

        self.guarded(more, start)
        if ahead is not None:
            self.guarded(
                more,
                lambda: self.guarded(ahead, lambda: self.build.insert(self._start(self.next_entries, other))),
                negated=True,
            )

    def _start_next_cell(self, slot: SSAValue, ahead: SSAValue | None) -> None:
        if ahead is not None:
            other = self.build.add(arith.SubiOp(self.build.index(1), slot), "other_slot")
            self.guarded(ahead, lambda: self.build.insert(self._start(self.next_entries, other)))

    @property
    def _name(self) -> str:
        return self.loop.range.name_hint or "block"

    # Copies.

    def _start(self, entries: list[Entry], slot: SSAValue) -> Operation:
        start = DmaStartOp(*self._places(entries, slot))
        start.location = self.op.location
        return start

    def _places(self, entries: list[Entry], slot: SSAValue):
        return self.array, entries, self.buffer, self.pair_entries(self.type, slot, entries), self.semaphores, [slot]
