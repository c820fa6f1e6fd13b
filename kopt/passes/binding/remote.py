"""Arrays of a launch that are copied between ranks: they stay in HBM, whole, and copies name them there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xdsl.dialects.builtin import IntegerAttr, MemRefType
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from kopt.analysis.groups import groups_of
from kopt.analysis.windows import Dim, Window
from kopt.dialects.host import LaunchOp
from kopt.dialects.pallas import CallOp
from kopt.dialects.symm import BarrierOp, RemoteCopyOp
from kopt.walk import walk


def remote_windows(launch: LaunchOp) -> Iterator[tuple[SSAValue, Window]]:
    """The arrays that copies between ranks name, as windows of all of them that no load or store uses."""
    for op in walk(launch):
        for memory in (op.source, op.target) if isinstance(op, RemoteCopyOp) else ():
            if isinstance(memory.type, MemRefType):
                dims = tuple(Dim("whole", extent) for extent in memory.type.get_shape())
                yield memory, Window(memory, dims, (), ())


def name_refs(call: CallOp, refs: Mapping[SSAValue, SSAValue]) -> None:
    """Lets copies between ranks name what the call sees of arrays."""
    for op in walk(call):
        if isinstance(op, RemoteCopyOp):
            for number in (0, 1):
                op.operands[number] = refs.get(op.operands[number], op.operands[number])


def number_barriers(call: CallOp) -> None:
    """Tells the call which semaphore its barriers have: one for each group of the function."""
    for op in walk(call):
        if isinstance(op, BarrierOp):
            func = call.parent_op()
            assert isinstance(func, FuncOp)
            call.collective = IntegerAttr(groups_of(func).index(op.group.data), 64)
