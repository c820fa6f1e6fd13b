"""Copies between the memories of kernels on two ranks, started in one place and waited for in another."""

from __future__ import annotations

from typing import Self

from xdsl.dialects.builtin import IntegerType, StringAttr
from xdsl.ir import Operation, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.tile.types import RefType

ENDS = ("send", "receive")


@irdl_attr_definition
class TransferType(ParametrizedAttribute, TypeAttribute):
    """A copy that is under way: ``!symm.transfer``. Either end is waited for by itself."""

    name = "symm.transfer"


class _Starts(MemoryEffect):
    @classmethod
    def get_effects(cls, op: Operation):
        return {
            EffectInstance(MemoryEffectKind.READ, op.operands[0]),
            EffectInstance(MemoryEffectKind.WRITE, op.operands[1]),
            EffectInstance(MemoryEffectKind.WRITE),
        }


@irdl_op_definition
class RemoteCopyStartOp(IRDLOperation):
    """Starts to copy a block to ``target`` of another rank, and so to receive one in ``target`` from whoever sends.

    Every rank of the group starts it, each for a rank of its own. Until the ends have been waited for, ``source``
    is not written and ``target`` is not read.

        %t = symm.remote_copy_start %a to %b on %rank group "tp" : !tile.ref<8 x 128 x f32, vmem>
    """

    name = "symm.remote_copy_start"

    source = operand_def(RefType)
    target = operand_def(RefType)
    rank = operand_def(IntegerType(32))
    group = prop_def(StringAttr)
    transfer = result_def(TransferType)

    traits = traits_def(_Starts())

    def __init__(self, source: SSAValue, target: SSAValue, rank: SSAValue | Operation, group: str):
        super().__init__(
            operands=[source, target, rank], properties={"group": StringAttr(group)}, result_types=[TransferType()]
        )

    def verify_(self) -> None:
        if self.source.type != self.target.type:
            raise VerifyException(f"{self.name} keeps the type, found {self.source.type} and {self.target.type}")
        if not self.group.data:
            raise VerifyException(f"{self.name} needs the name of its group")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        source = parser.parse_unresolved_operand()
        parser.parse_keyword("to")
        target = parser.parse_unresolved_operand()
        parser.parse_keyword("on")
        rank = parser.parse_operand()
        parser.parse_keyword("group")
        group = parser.parse_str_literal("the group's name")
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parser.parse_type()
        op = cls(parser.resolve_operand(source, type), parser.resolve_operand(target, type), rank, group)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.source)
        printer.print_string(" to ")
        printer.print_ssa_value(self.target)
        printer.print_string(" on ")
        printer.print_ssa_value(self.rank)
        printer.print_string(" group ")
        printer.print_string_literal(self.group.data)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.source.type)


class _Waits(MemoryEffect):
    """What has arrived may be read after it, and what was sent may be written: nothing moves across it."""

    @classmethod
    def get_effects(cls, op: Operation):
        return {EffectInstance(MemoryEffectKind.READ), EffectInstance(MemoryEffectKind.WRITE)}


@irdl_op_definition
class RemoteCopyWaitOp(IRDLOperation):
    """Waits for one end of a copy: ``send``, after which the source may be written, or ``receive``: it has arrived.

    symm.remote_copy_wait receive %t
    """

    name = "symm.remote_copy_wait"

    transfer = operand_def(TransferType)
    end = prop_def(StringAttr)

    traits = traits_def(_Waits())

    def __init__(self, end: str, transfer: SSAValue | Operation):
        super().__init__(operands=[transfer], properties={"end": StringAttr(end)})

    def verify_(self) -> None:
        if self.end.data not in ENDS:
            raise VerifyException(f"{self.name} waits for {' or '.join(ENDS)}, found '{self.end.data}'")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        end = parser.parse_identifier()
        transfer = parser.resolve_operand(parser.parse_unresolved_operand(), TransferType())
        op = cls(end, transfer)
        op.attributes |= parser.parse_optional_attr_dict()
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.end.data} ")
        printer.print_ssa_value(self.transfer)
        printer.print_op_attributes(self.attributes)
