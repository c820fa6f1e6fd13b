"""Launches of device bodies in functional form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

from xdsl.dialects.builtin import (
    DenseArrayBase,
    FunctionType,
    MemRefType,
    StringAttr,
)
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    IsolatedFromAbove,
    NoMemoryEffect,
    NoTerminator,
)
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.tile.integers import int_array, ints_of, parse_ints, print_ints
from kopt.dialects.tile.types import parse_known_types


@irdl_op_definition
class LaunchOp(IRDLOperation):
    """One launch of a device body in functional form: the written memrefs come back as new versions.

    The body sees the operands as its own arguments. ``writes`` lists the operands that it writes; each has one
    result, in that order. An operand that is only written need not be given a meaning before the launch.

        %new = host.launch @name (%a = %x, %b = %out) writes [1] : (memref<…>, memref<…>) -> (memref<…>) {
          tile.grid … { … }
        }
    """

    name = "host.launch"

    inputs = var_operand_def(MemRefType)
    sym_name = prop_def(StringAttr)
    writes = prop_def(DenseArrayBase)
    outputs = var_result_def(MemRefType)
    body = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), NoTerminator(), NoMemoryEffect())

    def __init__(
        self,
        name: str,
        inputs: Sequence[SSAValue],
        writes: Sequence[int],
        body: Region | None = None,
        attributes: Mapping[str, Attribute | None] | None = None,
    ):
        types = [value.type for value in inputs]
        super().__init__(
            operands=[inputs],
            properties={"sym_name": StringAttr(name), "writes": int_array(writes)},
            regions=[body or Region(Block(arg_types=types))],
            result_types=[[types[number] for number in writes]],
            attributes=attributes,
        )

    @property
    def written(self) -> tuple[int, ...]:
        """The operands that the body writes, by number."""
        return ints_of(self.writes)

    def verify_(self) -> None:
        types = [value.type for value in self.inputs]
        if sorted(set(self.written)) != list(self.written) or any(not 0 <= n < len(types) for n in self.written):
            raise VerifyException(f"host.launch writes operands by increasing number, found {list(self.written)}")
        if [arg.type for arg in self.body.block.args] != types:
            raise VerifyException("host.launch gives its operands to the body as they are")
        if [value.type for value in self.outputs] != [types[number] for number in self.written]:
            raise VerifyException("host.launch gives back the operands that it writes")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        name = parser.parse_symbol_name().data
        pairs = parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: _parse_binding(parser))
        parser.parse_keyword("writes")
        writes = parse_ints(parser)
        types = [value.type for _, value in pairs]
        if any(not 0 <= number < len(types) for number in writes):
            parser.raise_error(f"host.launch writes operands by number, found {writes} of {len(types)}")
        parser.parse_punctuation(":")
        parse_known_types(parser, [FunctionType.from_lists(types, [types[number] for number in writes])])
        attributes = parser.parse_optional_attr_dict_with_keyword()
        region = parser.parse_region([arg.resolve(value.type) for arg, value in pairs])
        if not region.blocks:
            region.add_block(Block())
        return cls(name, [value for _, value in pairs], writes, region, attributes.data if attributes else None)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(" (")
        printer.print_list(
            zip(self.body.block.args, self.inputs, strict=True), lambda pair: _print_binding(printer, *pair)
        )
        printer.print_string(") writes ")
        print_ints(printer, self.written)
        printer.print_string(" : ")
        printer.print_operation_type(self)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)


def _parse_binding(parser: Parser) -> tuple[Parser.UnresolvedArgument, SSAValue]:
    name = parser.parse_argument(expect_type=False)
    parser.parse_punctuation("=")
    return name, parser.parse_operand()


def _print_binding(printer: Printer, name: SSAValue, value: SSAValue) -> None:
    printer.print_ssa_value(name)
    printer.print_string(" = ")
    printer.print_ssa_value(value)
