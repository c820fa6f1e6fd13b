"""Where symmetric memory is read by one rank while another writes it, or is not what a collective needs.

Pure. Host ops are followed in order. What a rank writes into its symmetric memory may be read by the others after a
barrier of the group: the *entry* barrier. What the others read may be written again after another: the *exit* barrier.
Symmetric memory is the same in every call, so no read may be under way at the end of a function either.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from kopt.analysis.aliases import root
from kopt.analysis.host_order import host_ops
from kopt.analysis.symmetric import Reader, is_contiguous, is_reader, is_static, waits, writes
from kopt.diagnostics import Problem
from kopt.dialects.host import AllocOp, PartitionOp, ReuseOp
from kopt.dialects.symm import group_of


def hazards(func: FuncOp) -> Iterator[Problem]:
    """Everything about a function's symmetric memory that could give wrong results, in order."""
    state = _State()
    for op in host_ops(func.body.block):
        if is_reader(op):
            yield from _misplaced(op)
        yield from _returned(op)
        yield from state.step(op)


def memory(value: SSAValue) -> SSAValue:
    """The allocation or argument whose memory an array is in, before all reuses."""
    value = root(value)
    while isinstance(value.owner, ReuseOp):
        value = root(value.owner.source)
    return value


def name_of(value: SSAValue) -> str:
    """What to call an array in a message."""
    return f"'{root(value).name_hint}'" if root(value).name_hint else "an array"


def written_by_later_calls(value: SSAValue) -> str | None:
    """Why an array's memory is the same in every call, as a clause, or None where it is this call's own."""
    if group_of(value.type) is not None:
        return "its memory is symmetric"
    owner = memory(value).owner
    captured = isinstance(owner, Operation) and isinstance(owner.parent_op(), PartitionOp)
    return "its memory is a captured partition's" if captured else None


def _misplaced(op: Operation) -> Iterator[Problem]:
    assert isinstance(op, Reader)
    type, group = op.input.type, op.group.data
    if group_of(type) != group:
        note = "symm-place puts it there"
        yield Problem(
            op, f'{op.name} reads symmetric memory of group "{group}", found {type}', (note,), id="collective"
        )
    elif not is_static(type) or not is_contiguous(type):
        note = "symm-place copies such views; dynamic sizes have to be made numbers"
        yield Problem(op, f"{op.name} reads a contiguous array of static shape, found {type}", (note,), id="collective")


def _returned(op: Operation) -> Iterator[Problem]:
    for value in op.operands if isinstance(op, ReturnOp) else ():
        if (why := written_by_later_calls(value)) is not None:
            message = f"{name_of(value)} is returned, but {why}: later calls write it again"
            yield Problem(op, message, ("return a copy in memory of the device's own",), id="collective")


@dataclass
class _State:
    """What has happened to each symmetric memory since the last barrier of its group."""

    written: dict[SSAValue, Operation] = field(default_factory=dict)
    read: dict[SSAValue, Operation] = field(default_factory=dict)
    ids: dict[str, Operation] = field(default_factory=dict)

    def step(self, op: Operation) -> Iterator[Problem]:
        yield from self._repeated_id(op)
        self._barrier(waits(op, "entry"))
        if is_reader(op):
            yield from self._reads(op)
        self._barrier(waits(op, "exit"))
        for value in writes(op):
            yield from self._writes(op, memory(value))
        if isinstance(op, ReturnOp):
            yield from (self._missing_exit(op, value, "the next call writes it again") for value in self.read)

    def _barrier(self, group: str | None) -> None:
        if group is not None:
            for events in (self.written, self.read):
                for value in [value for value in events if group_of(value.type) == group]:
                    del events[value]

    def _reads(self, op: Operation) -> Iterator[Problem]:
        assert isinstance(op, Reader)
        value = memory(op.input)
        if value in self.written:
            message = f"{op.name} reads {name_of(op.input)} of all ranks, which may not have written it yet"
            yield Problem(
                op,
                message,
                ("an entry barrier is missing: symm.barrier, or 'entry' among its barriers",),
                id="collective",
            )
        self.read[value] = op

    def _writes(self, op: Operation, value: SSAValue) -> Iterator[Problem]:
        if value in self.read:
            yield self._missing_exit(op, value, "it is written again")
        if group_of(value.type) is not None:
            self.written[value] = op

    def _missing_exit(self, op: Operation, value: SSAValue, then: str) -> Problem:
        message = f"other ranks may still read the memory of {name_of(value)} when {then}"
        note = "an exit barrier is missing: symm.barrier, or 'exit' among the collective's barriers"
        return Problem(op, message, (note,), id="collective")

    def _repeated_id(self, op: Operation) -> Iterator[Problem]:
        if isinstance(op, AllocOp) and op.id is not None:
            if op.id.data in self.ids:
                yield Problem(op, f'two arrays have the id "{op.id.data}"', ("an id is one array's",), id="collective")
            self.ids[op.id.data] = op
