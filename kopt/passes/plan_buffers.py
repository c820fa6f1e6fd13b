"""The pass ``plan-buffers``: arrays whose lives do not overlap share memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.host_order import host_ops
from kopt.analysis.lifetimes import Lifetime, bytes_of, lifetimes, made_by
from kopt.analysis.pointwise import pointwise_inputs
from kopt.diagnostics import remark
from kopt.dialects.host import AllocOp, FreeOp, ReuseOp
from kopt.dialects.symm import group_of
from kopt.walk import walk

#: What memory is shared within: one type, so one size and allocator, and what makes the memory.
Key = tuple[Attribute, str]


@dataclass(frozen=True)
class PlanBuffersPass(ModulePass):
    """Memory planning: an array takes the memory of one that is no longer used; what no later one takes is freed.

    Each partition is planned by itself, and so are the ops between partitions. Arrays share memory if they have one
    type: size, strides, element type and allocator are part of it. Persistent memory and that of one call are not
    mixed. Symmetric memory is free when no other rank can be reading it. An op that computes each element from the ones
    in its place writes over an input that it is the last to use: both are one array then.

        %a = host.alloc : memref<8x64xf32>
        … last use of %a …
        %b = host.alloc : memref<8x64xf32>
    becomes
        %a = host.alloc : memref<8x64xf32>
        … last use of %a …
        %b = host.reuse %a : memref<8x64xf32>

    It never refuses. The most memory that is in use at a time is a remark:

        remark: peak memory 4096 bytes: 2048 of the device's own, 2048 of group "tp"; 14 of 16 arrays reuse memory
    """

    name = "plan-buffers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in walk(op):
            if isinstance(func, FuncOp) and func.body.blocks:
                _plan(func)


def _plan(func: FuncOp) -> None:
    found = lifetimes(func)
    if not found:
        return
    for block in dict.fromkeys(life.block for life in found):
        _Pool(block, [life for life in found if life.block is block]).run()
    _report(func)


@dataclass
class _Pool:
    """The memory of one run of host ops, gone through in order."""

    block: Block
    lives: list[Lifetime]
    free: dict[Key, list[SSAValue]] = field(default_factory=lambda: defaultdict(list))
    #: Where an array stands now that it is in another's memory.
    current: dict[SSAValue, SSAValue] = field(default_factory=dict)

    def run(self) -> None:
        """Gives every array its memory, and back what is left in the end."""
        starts, ends = defaultdict(list), defaultdict(list)
        for life in self.lives:
            starts[life.start].append(life)
            if life.end is not None:
                ends[life.end].append(life)
        last = {}
        for op in list(self.block.ops):
            dying = ends[op]
            for life in starts[op]:
                self._start(life, op, dying)
            for life in dying:
                value = self._now(life.array)
                self.free[_key(value)].append(value)
                last[value] = op
        self._give_back(last)

    def _now(self, array: SSAValue) -> SSAValue:
        return self.current.get(array, array)

    def _start(self, life: Lifetime, op: Operation, dying: list[Lifetime]) -> None:
        alloc = life.array.owner
        if not isinstance(alloc, AllocOp):
            return
        if (old := self._overwritten(life, op, dying)) is not None:
            self.current[life.array] = old
            Rewriter.replace_op(alloc, [], [old])
            return
        if not (free := self.free[_key(life.array)]):
            return
        reuse = ReuseOp(free.pop(), alloc.fill)
        reuse.location = alloc.location
        reuse.result.name_hint = life.array.name_hint
        Rewriter.insert_op(reuse, InsertPoint.before(op))
        self.current[life.array] = reuse.result
        Rewriter.replace_op(alloc, [], [reuse.result])

    def _overwritten(self, life: Lifetime, op: Operation, dying: list[Lifetime]) -> SSAValue | None:
        """An input that an op may write over, because it is the last to use it."""
        alloc = life.array.owner
        assert isinstance(alloc, AllocOp)
        for value in pointwise_inputs(op, life.array) if alloc.fill is None else ():
            for other in dying:
                if self._now(other.array) is value and _key(value) == _key(life.array):
                    dying.remove(other)
                    return value
        return None

    def _give_back(self, last: dict[SSAValue, Operation]) -> None:
        for values in self.free.values():
            for value in values:
                if _key(value)[1] != "persistent" and not isinstance(last[value], ReturnOp):
                    Rewriter.insert_op(FreeOp(value), InsertPoint.after(last[value]))


def _key(value: SSAValue) -> Key:
    owner = value.owner
    while isinstance(owner, ReuseOp):
        owner = owner.source.owner
    if not isinstance(owner, AllocOp):
        # What a call has allocated may have other strides than its type says: no other array takes it over.
        return value.type, "call"
    return value.type, "persistent" if owner.id is not None else "alloc"


def _report(func: FuncOp) -> None:
    ops = list(host_ops(func.body.block))
    used: dict[str | None, int] = defaultdict(int)
    peak: dict[str | None, int] = {}
    for op in ops:
        for group, count in _change(op):
            used[group] += count
        if sum(used.values()) > sum(peak.values()):
            peak = dict(used)
    places = [f"{count} of {_place(group)}" for group, count in sorted(peak.items(), key=lambda item: item[0] or "")]
    reuses = sum(isinstance(op, ReuseOp) for op in ops)
    arrays = reuses + sum(isinstance(op, AllocOp) for op in ops)
    counted = f"{reuses} of {arrays} arrays reuse memory"
    remark(func, f"peak memory {sum(peak.values())} bytes: {', '.join(places) or 'none'}; {counted}")


def _change(op: Operation) -> Iterator[tuple[str | None, int]]:
    """The allocators whose memory is more or less in use after an op, and by how many bytes."""
    if isinstance(op, FreeOp):
        yield group_of(op.source.type), -bytes_of(op.source.type)
    elif not isinstance(op, ReuseOp):
        yield from ((group_of(value.type), bytes_of(value.type)) for value in made_by(op))


def _place(group: str | None) -> str:
    return "the device's own" if group is None else f'group "{group}"'
