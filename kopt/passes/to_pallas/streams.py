"""Loads of a loop by double-buffered DMAs: the next block arrives while this one is computed with."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, i32
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.dialects.pallas import CallOp, DmaStartOp, DmaWaitOp
from kopt.dialects.tile import (
    CountOp,
    Entry,
    ExtractOp,
    ForOp,
    GetOp,
    GridOp,
    IdOp,
    LoadOp,
    PutOp,
    RefType,
    ShiftOp,
    SplatOp,
    TileType,
    WhenOp,
    WholeOp,
)
from kopt.ir.ranges import binding
from kopt.passes.replacing import replacing
from kopt.passes.retyping import all_lanes
from kopt.passes.to_pallas.building import Building, pair_shape
from kopt.passes.to_pallas.elsewhere import Elsewhere, Other
from kopt.passes.to_pallas.scratch import scratch_ref


def stream_load(load: LoadOp, source: SSAValue, call: CallOp, cell: SSAValue | None) -> bool:
    """Copies the block of a load by DMA, one visit of its loop ahead.

        tile.for %k in (0, %n) { %v = tile.load %x[%i, %k] … }
    becomes, with a buffer of two blocks and two semaphores,
        scf.if %n > 0 { dma_start %x[%i, 0] to %buffer[0, …] }   // as soon as %n and %i are known
        tile.for %k in (0, %n) {
          %slot = %k's number mod 2
          scf.if (there is a next block) { dma_start %x[%i, %k + 1] to %buffer[1 - %slot, …] }
          dma_wait %x[%i, %k] to %buffer[%slot, …]
          %v = tile.get %buffer[%slot, …] … }

    ``cell`` is the range along which the cells of the grid follow one another on one core, if any does. The first block
    of the next cell is then on its way in the last visit of the grid's first loop; scratch memory holds whose turn it
    is of the two buffers. Gives whether it is.
    """
    stream = _Stream(load, source, call)
    crosses = cell is not None and stream.crosses(cell)
    stream.convert(cell if crosses else None)
    return crosses


def _move_out(block: Block, outer: Block) -> None:
    """Makes constants and whole ranges of a loop's body known around it too."""
    for op in [op for op in block.ops if isinstance(op, arith.ConstantOp | WholeOp)]:
        op.detach()
        Rewriter.insert_op(op, InsertPoint.at_start(outer))


class _Stream(Building):
    def __init__(self, load: LoadOp, source: SSAValue, call: CallOp):
        super().__init__(load)
        loop = load.parent_op()
        assert isinstance(loop, ForOp) and isinstance(load.result.type, TileType)
        self.load, self.loop, self.source, self.type, self.call = load, loop, source, load.result.type, call
        self.entries = list(load.entries)
        self.buffer = scratch_ref(call, RefType(pair_shape(self.type), self.type.element_type), source, "buffer")
        self.semaphores = scratch_ref(call, RefType((2,), self.type.element_type, "semaphore"), source, "arrived")
        outer = loop.parent_block()
        assert outer is not None
        self.outer = outer
        _move_out(loop.body.block, outer)

    def crosses(self, cell: SSAValue) -> bool:
        """Whether the first block of the next cell along a range can be fetched in this one."""
        grid = self.loop.parent_op()
        if not isinstance(grid, GridOp) or self.loop is not next(op for op in self.outer.ops if isinstance(op, ForOp)):
            return False
        return self._can_begin() and all(map(self._elsewhere(cell).can, [*self.entries, *self.loop.bounds]))

    def convert(self, cell: SSAValue | None) -> None:
        turn = ahead = None
        if cell is not None:
            turn, ahead = self._begin_cell(cell)
        elif self._can_begin():
            self._begin()
        id = self.value(IdOp(self.loop.range))
        slot = self.parity(id if turn is None else self.value(arith.AddiOp(id, turn)), "slot")
        if cell is None and not self._can_begin():
            start = self._start(self.entries, slot)
            self.add(WhenOp("first", [self.loop.range], Region(Block([start]))))
        self._start_next(id, slot, ahead)
        wait = DmaWaitOp(*self._places(self.entries, slot))
        self.add(wait)
        get = replacing(self.load, GetOp(self.buffer, wait.target_entries, self.type))
        value = self.value(get, self.load.result.name_hint)
        self.load.result.replace_all_uses_with(value)
        Rewriter.erase_op(self.load)

    # The first block.

    def _elsewhere(self, *ranges: SSAValue) -> Elsewhere:
        return Elsewhere({self.loop.range, *ranges}, self.loop.body.block)

    def _can_begin(self) -> bool:
        """Whether the place of the first block is known outside of the loop."""
        return all(map(self._elsewhere().can, self.entries))

    def _begin(self) -> None:
        """In front of the loop: its first block is on its way."""
        elsewhere = self._elsewhere()
        needed = [value for entry in (*self.entries, *self.loop.bounds) for value in elsewhere.shared(entry)]
        self.early(self.outer, needed, lambda: self._start_first(self.number(0)))

    def _start_first(self, slot: SSAValue) -> None:
        def start() -> None:
            others = {self.loop.range: self._first_block(self.loop.bounds[0])}
            self.add(self._start(self._elsewhere().compute(self.entries, others, self.value, "first"), slot))

        self.visited(self.loop, start)

    def _first_block(self, lower: SSAValue | int) -> Other:
        """The loop's first block, in terms that hold outside of it."""
        size = binding(self.loop.range).size
        block = self.value(all_lanes(size, self.loop), "first")
        if lower != 0:
            block = self.value(ShiftOp(block, self.number(lower) if isinstance(lower, int) else lower), "first")
        return Other(block, self.number(0))

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
        self.at = InsertPoint.before(self.load)
        return made[0], made[1]

    def _look_ahead(self, cell: SSAValue, elsewhere: Elsewhere) -> tuple[SSAValue, SSAValue]:
        turns = scratch_ref(self.call, RefType((1,), i32, "smem"), self.source, "turn")
        self._in_first_cell(cell, turns)
        turn = self.value(ExtractOp(self.value(GetOp(turns, [0])), IndexType()), "turn")
        last = self.number((binding(cell).trips or 1) - 1)
        id = self.value(IdOp(cell))
        following = self.value(arith.AddiOp(id, self.number(1)))
        other = self._cell(cell, id, self.value(arith.MinSIOp(following, last), "next_cell"))
        [lower] = elsewhere.compute([self.loop.bounds[0]], {cell: other}, self.value, "next")
        others = {cell: other, self.loop.range: self._first_block(lower)}
        upper, *self.next_entries = elsewhere.compute(
            [self.loop.bounds[1], *self.entries], others, self.value, "next_cell"
        )
        some = self.compare(self.counted(lower, upper, binding(self.loop.range).size), "sgt", self.number(0))
        ahead = self.value(arith.AndIOp(some, self.compare(id, "slt", last)), "ahead")
        count = self.count(self.loop)
        idle = self.value(arith.AndIOp(self.compare(count, "sle", self.number(0)), ahead), "idle")
        self.guarded(idle, lambda: self.add(self._start(self.next_entries, turn)))
        self.at = InsertPoint.after(self.loop)
        done = self.value(arith.AddiOp(turn, self.value(arith.MaxSIOp(count, self.number(0)))))
        self._put_turn(self.parity(done, "next_turn"), turns)
        return turn, ahead

    def _in_first_cell(self, cell: SSAValue, turns: SSAValue) -> None:
        first = WhenOp("first", [cell], Region(Block()))
        self.add(first)
        outside, self.at = self.at, InsertPoint.at_end(first.body.block)
        self._put_turn(self.number(0), turns)
        self._start_first(self.number(0))
        self.at = outside

    def _put_turn(self, turn: SSAValue, turns: SSAValue) -> None:
        self.add(PutOp(self.value(SplatOp(turn, TileType((), i32))), turns, [0]))

    def _cell(self, cell: SSAValue, id: SSAValue, number: SSAValue) -> Other:
        """The next cell's block of its range."""
        distance = self.value(arith.SubiOp(number, id))
        size = binding(cell).size
        distance = distance if size == 1 else self.value(arith.MuliOp(distance, self.number(size)))
        return Other(self.value(ShiftOp(cell, distance), "next"), number)

    # The next block.

    def _start_next(self, id: SSAValue, slot: SSAValue, ahead: SSAValue | None) -> None:
        """Where there is a next visit, computes there what it will read, and starts the copy; else the next cell's."""
        following = self.value(arith.AddiOp(id, self.number(1)), f"next_{self._name}_number")
        more = self.compare(following, "slt", self.value(CountOp(self.loop.range)), "more")
        other = self.value(arith.SubiOp(self.number(1), slot), "other_slot")

        def start() -> None:
            size = self.number(binding(self.loop.range).size)
            others = {self.loop.range: Other(self.value(ShiftOp(self.loop.range, size), "next"), following)}
            self.add(self._start(Elsewhere({self.loop.range}).compute(self.entries, others, self.value, "next"), other))

        self.guarded(more, start)
        if ahead is not None:
            self.guarded(
                more,
                lambda: self.guarded(ahead, lambda: self.add(self._start(self.next_entries, other))),
                negated=True,
            )

    @property
    def _name(self) -> str:
        return self.loop.range.name_hint or "block"

    # Copies.

    def _start(self, entries: list[Entry], slot: SSAValue) -> Operation:
        start = DmaStartOp(*self._places(entries, slot))
        start.location = self.load.location
        return start

    def _places(self, entries: list[Entry], slot: SSAValue):
        return self.source, entries, self.buffer, self.pair_entries(self.type, slot, entries), self.semaphores, [slot]
