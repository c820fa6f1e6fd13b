"""Who a rank is, and waiting for other ranks."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType, MemRefType, StringAttr, i32
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    BaseAttr,
    EqAttrConstraint,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.definition import Op, irdl_op_definition
from kopt.dialects.symm.space import group_of
from kopt.dialects.tile.types import RefType


@irdl_op_definition
class RankOp(Op):
    """The number of this rank in its group: ``%me = symm.rank group "tp"``, an ``index``."""

    name = "symm.rank"

    group = prop_def(StringAttr)
    result = result_def(IndexType())

    traits = traits_def(Pure())

    assembly_format = "`group` $group attr-dict"

    def __init__(self, group: str):
        super().__init__(properties={"group": StringAttr(group)}, result_types=[IndexType()])


@irdl_op_definition
class BarrierOp(Op):
    """All ranks of a group wait for each other: ``symm.barrier group "tp"``. Its effects are unknown.

    In a kernel ``ranks`` says how many there are: ``symm.barrier group "tp" ranks 4 : i32``. A barrier of few ranks
    names the others after ``with``, and each of those names this rank: ``symm.barrier group "tp" with(%left, %right)``.
    """

    name = "symm.barrier"

    group = prop_def(StringAttr)
    ranks = opt_prop_def(IntegerAttr)
    others = var_operand_def(IndexType())

    assembly_format = "`group` $group (`ranks` $ranks^)? (`with` `(` $others^ `)`)? attr-dict"

    def __init__(self, group: str, ranks: int | None = None, others: Sequence[SSAValue] = ()):
        count = None if ranks is None else IntegerAttr(ranks, i32)
        super().__init__(operands=[others], properties={"group": StringAttr(group), "ranks": count})

    def verify_(self) -> None:
        if self.ranks is not None and self.ranks.value.data < 1:
            raise VerifyException(f"{self.name} is of one rank or more, found {self.ranks.value.data}")
        if self.ranks is not None and self.others:
            raise VerifyException(f"{self.name} is of all ranks or with some, not both")


class _SignalOp(Op):
    """Base of the two ends of a signal, which travels beside a symmetric buffer, or to a kernel's counters."""

    buffer = operand_def(BaseAttr(MemRefType) | BaseAttr(RefType))
    rank = operand_def(EqAttrConstraint(IntegerType(32)) | EqAttrConstraint(IndexType()))
    channel = prop_def(IntegerAttr)
    group = opt_prop_def(StringAttr)

    def __init__(
        self,
        buffer: SSAValue | Operation,
        rank: SSAValue | Operation,
        channel: int = 0,
        group: str | None = None,
    ):
        name = None if group is None else StringAttr(group)
        super().__init__(operands=[buffer, rank], properties={"channel": IntegerAttr(channel, i32), "group": name})

    def verify_(self) -> None:
        if isinstance(self.buffer.type, RefType):
            self._verify_counters(self.buffer.type)
        elif group_of(self.buffer.type) is None:
            raise VerifyException(f"{self.name} goes beside a buffer in symmetric memory, found {self.buffer.type}")
        elif self.group is not None:
            raise VerifyException(f"{self.name} is in its buffer's group, found {self.group}")
        if self.channel.value.data < 0:
            raise VerifyException(f"{self.name} has channels from 0 on, found {self.channel.value.data}")

    def _verify_counters(self, type: RefType) -> None:
        if type.space.data != "counter" or type.rank != 1:
            raise VerifyException(f"{self.name} counts in a list of counters, found {type}")
        if self.group is None or not self.group.data:
            raise VerifyException(f"{self.name} of a kernel needs the name of its group")
        if self.channel.value.data >= type.shape[0]:
            raise VerifyException(f"{self.name} has channel {self.channel.value.data} of {type.shape[0]}")


@irdl_op_definition
class SignalOp(_SignalOp):
    """Tells one rank of the group that what was written before can be read; `symm.wait` there waits for it.

    On the host the signal lies beside a symmetric buffer. In a kernel it goes to that rank's counter with the channel's
    number.

        symm.signal %h to %rank channel 0 : i32 : memref<8x64xf32, #symm.space<"tp">>, i32
        symm.signal %free to %left channel 0 : i32 group "tp" : !tile.ref<1 x i32, counter>, index
    """

    name = "symm.signal"

    assembly_format = (
        "$buffer `to` $rank `channel` $channel (`group` $group^)? attr-dict `:` type($buffer) `,` type($rank)"
    )


@irdl_op_definition
class WaitOp(_SignalOp):
    """Waits for one `symm.signal` of one rank: ``symm.wait %h from %rank channel 0 : i32 : memref<…>, i32``."""

    name = "symm.wait"

    assembly_format = (
        "$buffer `from` $rank `channel` $channel (`group` $group^)? attr-dict `:` type($buffer) `,` type($rank)"
    )
