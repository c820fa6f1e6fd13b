"""Waiting for other ranks."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, IntegerType, MemRefType, StringAttr, i32
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, prop_def
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.symm.space import group_of


@irdl_op_definition
class BarrierOp(IRDLOperation):
    """All ranks of a group wait for each other: ``symm.barrier group "tp"``. Its effects are unknown."""

    name = "symm.barrier"

    group = prop_def(StringAttr)

    assembly_format = "`group` $group attr-dict"

    def __init__(self, group: str):
        super().__init__(properties={"group": StringAttr(group)})


class _SignalOp(IRDLOperation):
    """Base of the two ends of a signal, which travels beside a symmetric buffer."""

    buffer = operand_def(MemRefType)
    rank = operand_def(IntegerType(32))
    channel = prop_def(IntegerAttr)

    def __init__(self, buffer: SSAValue | Operation, rank: SSAValue | Operation, channel: int = 0):
        super().__init__(operands=[buffer, rank], properties={"channel": IntegerAttr(channel, i32)})

    def verify_(self) -> None:
        if group_of(self.buffer.type) is None:
            raise VerifyException(f"{self.name} goes beside a buffer in symmetric memory, found {self.buffer.type}")
        if self.channel.value.data < 0:
            raise VerifyException(f"{self.name} has channels from 0 on, found {self.channel.value.data}")


@irdl_op_definition
class SignalOp(_SignalOp):
    """Tells one rank of the buffer's group that what was written before can be read; `symm.wait` there waits for it.

    symm.signal %h to %rank channel 0 : memref<8x64xf32, #symm.space<"tp">>
    """

    name = "symm.signal"

    assembly_format = "$buffer `to` $rank `channel` $channel attr-dict `:` type($buffer)"


@irdl_op_definition
class WaitOp(_SignalOp):
    """Waits for the `symm.signal` of one rank: ``symm.wait %h from %rank channel 0 : memref<…>``."""

    name = "symm.wait"

    assembly_format = "$buffer `from` $rank `channel` $channel attr-dict `:` type($buffer)"
