"""Which host ops a device can capture and replay, and which arrays a captured run finds at the same address again."""

from __future__ import annotations

from xdsl.dialects.builtin import MemRefType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from kopt.analysis.aliases import root
from kopt.analysis.symmetric import is_reader
from kopt.dialects import triton
from kopt.dialects.host import AllocOp, CallOutOp, CopyOp, FreeOp, PartitionOp, ReuseOp, ViewOp
from kopt.dialects.symm import AllReduceOutOp, BarrierOp, group_of
from kopt.dialects.tile import GridOp
from kopt.walk import walk

#: Ops that run on the device alone.
_WORK = (CallOutOp, CopyOp, GridOp, triton.LaunchOp, AllReduceOutOp, BarrierOp)
#: Ops that only name memory.
_NAMES = (AllocOp, ReuseOp, FreeOp, ViewOp)


def does_work(op: Operation) -> bool:
    """Whether an op does something that is worth a capture."""
    return isinstance(op, _WORK)


def can_be_captured(op: Operation) -> bool:
    """Whether replaying an op with the addresses of its capture does the same again."""
    if isinstance(op, AllocOp):
        return op.id is None
    if isinstance(op, AllReduceOutOp):
        return is_reader(op)
    if isinstance(op, CopyOp):
        return not (group_of(op.target.type) is not None and _is_argument(op.source))
    return isinstance(op, (*_WORK, *_NAMES))


def static_inputs(partition: PartitionOp) -> list[SSAValue]:
    """The arrays from outside that are where the capture found them: symmetric ones, and what partitions passed on."""
    used = {value: None for op in walk(partition) if op is not partition for value in op.operands}
    return [value for value in used if isinstance(value.type, MemRefType) and _is_static(value, partition)]


def _is_static(value: SSAValue, partition: PartitionOp) -> bool:
    owner = value.owner
    if isinstance(owner, Operation) and partition.is_ancestor(owner):
        return False
    if isinstance(owner, Block) and not isinstance(owner.parent_op(), FuncOp):
        return False
    memory = value
    while isinstance(memory.owner, ViewOp | ReuseOp):
        memory = memory.owner.source
    return group_of(value.type) is not None or isinstance(memory.owner, PartitionOp)


def _is_argument(value: SSAValue) -> bool:
    memory = root(value)
    return isinstance(memory, BlockArgument) and isinstance(memory.owner.parent_op(), FuncOp)
