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
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import (
    opt_prop_def,
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
    MemoryEffectKind,
    NoMemoryEffect,
    NoTerminator,
    get_effects,
)
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.definition import Op, irdl_op_definition
from kopt.dialects.formats.integers import int_array, ints_of, parse_ints, print_ints
from kopt.dialects.host.types import print_typed
from kopt.dialects.tile.bodies import parse_pair, print_pair
from kopt.dialects.tile.traits import Canonicalized
from kopt.dialects.tile.types import parse_known_types


def _writes(op: Operation, memory: SSAValue) -> bool:
    """Whether an operation without a body writes an array."""
    effects = () if op.regions else get_effects(op) or ()
    return any(effect.kind is MemoryEffectKind.WRITE and effect.value is memory for effect in effects)


@irdl_op_definition
class LaunchOp(Op):
    """One launch of a device body in functional form: the written memrefs come back as new versions.

    The body sees the operands as its own arguments. ``writes`` lists the operands that it writes; each has one result,
    in that order. Elements that the body does not write keep the operand's values in the result.

        %new = host.launch @name (%a = %x, %b = %out) writes [1] : (memref<…>, memref<…>) -> (memref<…>) {
          tile.grid … { … }
        }

    ``yields`` are arguments of the body without an operand: new arrays, unspecified until the body writes them. Each
    has a result, after those of ``writes``. ``donates`` lists written operands of which only the memory is used: the
    results take it over, and the elements are unspecified to the body.

        %new = host.launch @name (%a = %x) writes [] yields (%b : memref<…>) : (memref<…>) -> (memref<…>) { … }
        %new = host.launch @name (%a = %x, %b = %out) writes [1] donates [1] : … { … }
    """

    name = "host.launch"

    inputs = var_operand_def(MemRefType)
    sym_name = prop_def(StringAttr)
    writes = prop_def(DenseArrayBase)
    donates = opt_prop_def(DenseArrayBase)
    outputs = var_result_def(MemRefType)
    body = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), NoTerminator(), NoMemoryEffect(), Canonicalized())

    def __init__(
        self,
        name: str,
        inputs: Sequence[SSAValue],
        writes: Sequence[int],
        body: Region | None = None,
        attributes: Mapping[str, Attribute | None] | None = None,
        yields: Sequence[Attribute] = (),
        donates: Sequence[int] = (),
    ):
        """With a ``body``, its arguments beyond the inputs are what it yields."""
        types = [value.type for value in inputs]
        region = body or Region(Block(arg_types=[*types, *yields]))
        new = [arg.type for arg in region.block.args[len(types) :]]
        super().__init__(
            operands=[inputs],
            properties={
                "sym_name": StringAttr(name),
                "writes": int_array(writes),
                "donates": int_array(donates) if donates else None,
            },
            regions=[region],
            result_types=[[*(types[number] for number in writes), *new]],
            attributes=attributes,
        )

    @property
    def written(self) -> tuple[int, ...]:
        """The body's argument of each result, by number: written operands, then what is yielded."""
        return (*ints_of(self.writes), *range(len(self.inputs), len(self.body.block.args)))

    def version_of(self, number: int) -> SSAValue:
        """The result that is what the body leaves in one of its arguments, a written one, by number."""
        return self.outputs[self.written.index(number)]

    @property
    def donated(self) -> tuple[int, ...]:
        """The operands given for their memory alone, by number."""
        return ints_of(self.donates) if self.donates is not None else ()

    @property
    def yielded(self) -> tuple[SSAValue, ...]:
        """The body's arguments that nothing is given for."""
        return tuple(self.body.block.args[len(self.inputs) :])

    def verify_(self) -> None:
        types = [value.type for value in self.inputs]
        writes = ints_of(self.writes)
        if sorted(set(writes)) != list(writes) or any(not 0 <= n < len(types) for n in writes):
            raise VerifyException(f"host.launch writes operands by increasing number, found {list(writes)}")
        if not set(self.donated) <= set(writes):
            raise VerifyException(f"host.launch donates operands that it writes, found {list(self.donated)}")
        if [arg.type for arg in self.body.block.args[: len(types)]] != types:
            raise VerifyException("host.launch gives its operands to the body as they are")
        for number, arg in enumerate(self.body.block.args[: len(types)]):
            if number not in writes and any(_writes(use.operation, arg) for use in arg.uses):
                raise VerifyException(
                    f"host.launch writes operand {number} in its body, and its list is {list(writes)}"
                )
        new = [arg.type for arg in self.yielded]
        if [value.type for value in self.outputs] != [*(types[number] for number in writes), *new]:
            raise VerifyException("host.launch gives back the operands that it writes, and what it yields")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        name = parser.parse_symbol_name().data
        pairs = parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: parse_pair(parser))
        parser.parse_keyword("writes")
        writes = parse_ints(parser)
        donates = parse_ints(parser) if parser.parse_optional_keyword("donates") else ()
        yields: list[Parser.Argument] = []
        if parser.parse_optional_keyword("yields"):
            yields = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_argument)
        types = [value.type for _, value in pairs]
        if any(not 0 <= number < len(types) for number in writes):
            parser.raise_error(f"host.launch writes operands by number, found {writes} of {len(types)}")
        parser.parse_punctuation(":")
        results = [*(types[number] for number in writes), *(argument.type for argument in yields)]
        parse_known_types(parser, [FunctionType.from_lists(types, results)])
        attributes = parser.parse_optional_attr_dict_with_keyword()
        given = [arg.resolve(value.type) for arg, value in pairs]
        region = parser.parse_region([*given, *yields])
        if not region.blocks:
            region.add_block(Block(arg_types=[argument.type for argument in (*given, *yields)]))
        values = [value for _, value in pairs]
        return cls(name, values, writes, region, attributes.data if attributes else None, donates=donates)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(" (")
        pairs = zip(self.body.block.args, self.inputs, strict=False)
        printer.print_list(pairs, lambda pair: print_pair(printer, *pair))
        printer.print_string(") writes ")
        print_ints(printer, ints_of(self.writes))
        if self.donated:
            printer.print_string(" donates ")
            print_ints(printer, self.donated)
        if self.yielded:
            printer.print_string(" yields ")
            with printer.in_parens():
                printer.print_list(self.yielded, lambda arg: print_typed(printer, arg))
        printer.print_string(" : ")
        printer.print_operation_type(self)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)
