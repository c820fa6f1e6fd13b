"""Partitions: runs of host ops that a device can replay without the host."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.irdl import (
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, Pure, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.definition import Op, irdl_op_definition
from kopt.dialects.host.types import parse_memref, print_typed


@irdl_op_definition
class YieldOp(Op):
    """Ends a partition and names the arrays made in it that are used after it: ``host.yield %a : memref<8xf32>``."""

    name = "host.yield"

    values = var_operand_def(MemRefType)

    traits = traits_def(IsTerminator(), Pure())

    assembly_format = "attr-dict ($values^ `:` type($values))?"

    def __init__(self, values: Sequence[SSAValue] = ()):
        super().__init__(operands=[values])


@irdl_op_definition
class PartitionOp(Op):
    """A run of host ops that is captured once and replayed in every later call, at the same addresses.

    ``static`` lists the arrays from outside that are at the same address in every call, such as symmetric buffers: they
    are used where they are. All other arrays are copied to the captured address before the run, and copied back if they
    are written. Arrays that the run allocates have the same address in every call, so a caller is given a copy.

        %y = host.partition capture static (%h : memref<8xf32, #symm.space<"tp">>) -> memref<8xf32> {
          …
          host.yield %r : memref<8xf32>
        }
    """

    name = "host.partition"

    static = var_operand_def(MemRefType)
    outputs = var_result_def(MemRefType)
    body = region_def("single_block")

    traits = traits_def(RecursiveMemoryEffect())

    def __init__(self, body: Region, static: Sequence[SSAValue] = ()):
        end = body.block.last_op
        types = [value.type for value in end.operands] if isinstance(end, YieldOp) else []
        super().__init__(operands=[static], regions=[body], result_types=[types])

    @property
    def yielded(self) -> tuple[SSAValue, ...]:
        """The array that each result is."""
        end = self.body.block.last_op
        assert isinstance(end, YieldOp)
        return tuple(end.values)

    def verify_(self) -> None:
        end = self.body.block.last_op
        if not isinstance(end, YieldOp):
            raise VerifyException("host.partition ends in host.yield")
        if [value.type for value in end.values] != [result.type for result in self.outputs]:
            raise VerifyException("host.partition's results are what its host.yield names")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        parser.parse_keyword("capture")
        static = []
        if parser.parse_optional_keyword("static"):
            static = parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: _parse_typed(parser))
        types: Sequence[Attribute] = ()
        if parser.parse_optional_punctuation("->"):
            types = parser.parse_comma_separated_list(parser.Delimiter.NONE, lambda: parse_memref(parser))
        attributes = parser.parse_optional_attr_dict_with_keyword()
        region = parser.parse_region()
        if not isinstance(region.block.last_op, YieldOp):
            region.block.add_op(YieldOp())
        op = cls.build(operands=[static], regions=[region], result_types=[types])
        op.attributes |= attributes.data if attributes is not None else {}
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" capture")
        if self.static:
            printer.print_string(" static ")
            with printer.in_parens():
                printer.print_list(self.static, lambda value: print_typed(printer, value))
        if self.outputs:
            printer.print_string(" -> ")
            printer.print_list(self.outputs, lambda value: printer.print_attribute(value.type))
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        end = self.body.block.last_op
        printer.print_region(self.body, print_block_terminators=bool(self.outputs or (end and end.attributes)))


def _parse_typed(parser: Parser) -> SSAValue:
    name = parser.parse_unresolved_operand()
    parser.parse_punctuation(":")
    return parser.resolve_operand(name, parse_memref(parser))
