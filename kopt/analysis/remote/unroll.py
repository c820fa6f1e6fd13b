"""A kernel's events on one rank: its loops run, its conditions decided, its indices as numbers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import scf
from xdsl.dialects.builtin import FixedBitwidthType
from xdsl.ir import Block, Operation, SSAValue

from kopt.analysis.remote.events import (
    Arrive,
    Await,
    AwaitSignal,
    Enter,
    Event,
    Flag,
    Leave,
    Pass,
    RefBlock,
    Signal,
    StartCopy,
    Touch,
)
from kopt.analysis.remote.scalars import FIXED, SCALARS, Known, begin, evaluate, limit
from kopt.dialects import symm
from kopt.dialects.pallas import CallOp, DmaOp, DmaStartOp
from kopt.dialects.tile import AllAttr, Entry, ForOp, GetOp, GridOp, PutOp, RangeType, RefType, SliceAttr, WhenOp
from kopt.ir.ranges import binding
from kopt.walk import walk

#: Ops that order ranks or move memory: what they do must be known.
_DECISIVE = (DmaOp, symm.RemoteCopyOp, symm.RemoteCopyStartOp, symm.RemoteCopyWaitOp, symm.SignalOp, symm.WaitOp,
             symm.BarrierOp)  # fmt: skip


class NotKnown(Exception):
    """A kernel whose order cannot be worked out: ``op`` depends on what is in memory, or is too much."""

    def __init__(self, op: Operation, reason: str):
        super().__init__(reason)
        self.op = op
        self.reason = reason


def copies_to_other_ranks(call: CallOp) -> bool:
    """Whether a kernel has anything to do with other ranks' memory."""
    return bool(walk(call, symm.RemoteCopyOp, symm.SignalOp, symm.WaitOp))


def unroll(call: CallOp, rank: int, limit: int) -> list[Event]:
    """What a rank does, in order. Raises `NotKnown` for more than ``limit`` events, or for what memory decides."""
    walk = _Walk(rank)
    events = itertools.chain([Enter(call)], walk.block(call.body.block), [Leave(call)])
    found = list(itertools.islice(events, limit + 1))
    if len(found) > limit:
        raise NotKnown(call, f"it has more than {limit} steps")
    return found


@dataclass
class _Walk:
    """Goes through one rank's kernel. Values that are not numbers are simply not known."""

    rank: int
    known: Known = field(default_factory=dict)
    copies: dict[SSAValue, StartCopy] = field(default_factory=dict)
    ops: dict[Block, tuple[Operation, ...]] = field(default_factory=dict)

    def block(self, block: Block) -> Iterator[Event]:
        if block not in self.ops:
            self.ops[block] = tuple(block.ops)
        for op in self.ops[block]:
            if type(op) in SCALARS:
                self._evaluate(op)
            else:
                yield from self.op(op)

    def _evaluate(self, op: Operation) -> None:
        result = op.results[0]
        if isinstance(op, FIXED) and result in self.known:
            return
        self._bind([result], [evaluate(op, self.known, self.rank)])

    def op(self, op: Operation) -> Iterator[Event]:
        match op:
            case GridOp():
                yield from self._grid(op)
            case ForOp():
                yield from self._for(op)
            case scf.IfOp():
                yield from self._if(op)
            case WhenOp():
                if self._is_visit(op):
                    yield from self.block(op.body.block)
            case GetOp() | PutOp():
                yield Touch(op, self._block(op.memory, op.entries), isinstance(op, PutOp))
            case DmaOp():
                yield self._dma(op)
            case symm.BarrierOp():
                yield from (Arrive(op), Pass(op))
            case symm.SignalOp():
                yield Signal(op, Flag(op.buffer, (op.channel.value.data,)), self._number(op.rank, op))
            case symm.WaitOp():
                yield AwaitSignal(op, Flag(op.buffer, (op.channel.value.data,)))
            case symm.RemoteCopyOp():
                self.copies[op.transfer] = self._copy(op)
            case symm.RemoteCopyStartOp():
                yield self._described(op.transfer, op)
            case symm.RemoteCopyWaitOp():
                yield self._end(op)
            case _ if op.regions:
                yield from self._any_order(op)

    def _grid(self, op: GridOp) -> Iterator[Event]:
        trips = [binding(range).trips or 0 for range in op.ranges]
        for cell in itertools.product(*(range(count) for count in trips)):
            self.known |= dict(zip(op.ranges, cell, strict=True))
            yield from self.block(op.body.block)

    def _for(self, op: ForOp) -> Iterator[Event]:
        lower, upper = (bound if isinstance(bound, int) else self._number(bound, op) for bound in op.bounds)
        values = [self.known.get(value) for value in op.inits]
        for number in range(-(-(upper - lower) // binding(op.range).size)):
            self.known[op.range] = number
            self._bind(op.carried, values)
            yield from self.block(op.body.block)
            values = [self.known.get(value) for value in op.yielded]
        self._bind(op.results, values)

    def _bind(self, names: Sequence[SSAValue], values: Sequence[int | None]) -> None:
        for name, value in zip(names, values, strict=True):
            self.known.pop(name, None)
            if value is not None:
                self.known[name] = value

    def _if(self, op: scf.IfOp) -> Iterator[Event]:
        condition = self.known.get(op.cond)
        if condition is None:
            self._bind(op.results, [None] * len(op.results))
            yield from self._any_order(op)
            return
        region = op.true_region if condition else op.false_region
        if region.blocks:
            yield from self.block(region.block)
            last = region.block.last_op
            self._bind(op.results, [self.known.get(value) for value in (last.operands if last is not None else ())])

    def _any_order(self, op: Operation) -> Iterator[Event]:
        """Of what memory decides: all blocks that it may touch, if it has nothing to do with other ranks."""
        for inner in walk(op):
            if isinstance(inner, _DECISIVE):
                raise NotKnown(inner, f"whether '{inner.name}' runs is decided by what is in memory")
        for inner in walk(op):
            if isinstance(inner, GetOp | PutOp):
                yield Touch(inner, self._block(inner.memory, inner.entries), isinstance(inner, PutOp))

    def _is_visit(self, op: WhenOp) -> bool:
        return all(self._is_end(range, op.visit.data, op) for range in op.ranges)

    def _is_end(self, range: SSAValue, which: str, op: Operation) -> bool:
        number, last = self._number(range, op), limit(range, self.known)
        first = begin(range, self.known)
        if last is None or first is None:
            raise NotKnown(op, "its loop's end is decided by what is in memory")
        return number == 0 if which == "first" else first + binding(range).size >= last

    def _number(self, value: SSAValue, op: Operation) -> int:
        if value not in self.known:
            raise NotKnown(op, f"a number that '{op.name}' uses is read from memory")
        return self.known[value]

    def _dma(self, op: DmaOp) -> Event:
        flag = self._flag(op.semaphore, op.semaphore_entries, op)
        source, target = self._block(op.source, op.source_entries), self._block(op.target, op.target_entries)
        if isinstance(op, DmaStartOp):
            return StartCopy(op, source, target, self.rank, None, flag, _size(target))
        return Await(op, flag, _size(target))

    def _copy(self, op: symm.RemoteCopyOp) -> StartCopy:
        (source, of), (target, to), (sent, one), (received, other) = op.places
        blocks = self._block(source, of), self._block(target, to)
        flags = self._flag(sent, one, op), self._flag(received, other, op)
        return StartCopy(op, *blocks, self._number(op.rank, op), *flags, _size(blocks[1]))

    def _described(self, transfer: SSAValue, op: Operation) -> StartCopy:
        if transfer not in self.copies:
            raise NotKnown(op, "its copy is described elsewhere")
        return self.copies[transfer]

    def _end(self, op: symm.RemoteCopyWaitOp) -> Event:
        copy = self._described(op.transfer, op)
        flag = copy.sent if op.end.data == "send" else copy.received
        assert flag is not None
        return Await(op, flag, copy.size)

    def _flag(self, ref: SSAValue, entries: Sequence[Entry], op: Operation) -> Flag:
        block = self._block(ref, entries)
        if any(upper - lower != 1 for lower, upper in block.box):
            raise NotKnown(op, f"which semaphore '{op.name}' signals is read from memory")
        return Flag(ref, tuple(lower for lower, _ in block.box))

    def _block(self, ref: SSAValue, entries: Sequence[Entry]) -> RefBlock:
        assert isinstance(ref.type, RefType)
        return RefBlock(ref, tuple(self._side(*pair) for pair in zip(entries, ref.type.shape, strict=True)))

    def _side(self, entry: Entry, size: int) -> tuple[int, int]:
        """The elements of a dimension; all of them where the entry is not known."""
        if isinstance(entry, AllAttr):
            return 0, size
        if isinstance(entry, SliceAttr):
            return entry.start.data, entry.stop.data
        if isinstance(entry, int):
            return entry, entry + 1
        first = begin(entry, self.known) if isinstance(entry.type, RangeType) else self.known.get(entry)
        lanes = entry.type.size if isinstance(entry.type, RangeType) else 1
        return (0, size) if first is None else (first, first + lanes)


def _size(block: RefBlock) -> int:
    assert isinstance(block.ref.type, RefType) and isinstance(block.ref.type.element_type, FixedBitwidthType)
    return math.prod(upper - lower for lower, upper in block.box) * block.ref.type.element_type.bitwidth
