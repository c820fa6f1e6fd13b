"""Bodies of loops: the ranges that they bind, the values that they carry from visit to visit, and ``yield``.

A tag names one binding of a range. It is unique in its function, and types use it only inside the loop's region.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Operation, Region, SSAValue
from xdsl.irdl import traits_def, var_operand_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, Pure
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.definition import Op, irdl_op_definition
from kopt.dialects.tile.types import RangeType, parse_dim, parse_known_types, range_type


@irdl_op_definition
class YieldOp(Op):
    """Ends a loop's body and passes the carried values on: ``tile.yield %a, %b : T, U``."""

    name = "tile.yield"

    values = var_operand_def()

    traits = traits_def(IsTerminator(), Pure())

    assembly_format = "attr-dict ($values^ `:` type($values))?"

    def __init__(self, *values: SSAValue | Operation):
        super().__init__(operands=[values])


def ensure_yield(region: Region) -> None:
    """End a loop's body with a yield of nothing, where the text left it out."""
    last = region.block.last_op
    if last is None or not last.has_trait(IsTerminator):
        region.block.add_op(YieldOp())


def parse_optional_index(parser: Parser) -> SSAValue | None:
    """A value, where one comes next: an ``index``, as verifiers see to.

    One that is defined later is taken to be one.
    """
    operand = parser.parse_optional_unresolved_operand()
    if operand is None:
        return None
    defined = parser.ssa_values.get(operand.operand_name, ())
    type = defined[operand.index].type if operand.index < len(defined) else IndexType()
    return parser.resolve_operand(operand, type)


def parse_binding(parser: Parser) -> Parser.Argument:
    """``%i: b0=128``."""
    argument = parser.parse_argument(expect_type=False)
    parser.parse_punctuation(":")
    dim = parse_dim(parser)
    return argument.resolve(RangeType(dim.tag.data, dim.size.data))


def print_binding(printer: Printer, range: SSAValue) -> None:
    """The inverse of `parse_binding`."""
    printer.print_ssa_value(range)
    printer.print_string(f": {range_type(range).dim}")


def print_body(printer: Printer, region: Region, print_terminator: bool) -> None:
    """A loop's region without the arguments that its header names."""
    printer.print_string(" ")
    printer.print_region(
        region, print_entry_block_args=False, print_block_terminators=print_terminator, print_empty_block=False
    )


class Carrying(Op):
    """Base of the loops that carry values from visit to visit."""

    if TYPE_CHECKING:
        inits: Sequence[SSAValue]
        body: Region

    @property
    def carried(self) -> tuple[SSAValue, ...]:
        """The carried values as the body sees them."""
        return tuple(self.body.block.args)

    @property
    def yielded(self) -> tuple[SSAValue, ...]:
        """The carried values that the body passes on."""
        last = self.body.block.last_op
        return tuple(last.operands) if last is not None else ()


class CarryingLoop(Carrying):
    """Base of the loops that bind one range and carry values from visit to visit."""

    @property
    def range(self) -> SSAValue:
        """The range that the loop binds."""
        return self.body.block.args[0]

    @property
    def carried(self) -> tuple[SSAValue, ...]:
        """The carried values as the body sees them."""
        return tuple(self.body.block.args[1:])


def verify_carries(loop: CarryingLoop) -> None:
    """The body binds a range, and what it binds, yields and gives has the types of the initial values."""
    args = loop.body.block.args
    if not args or not isinstance(args[0].type, RangeType):
        raise VerifyException(f"{loop.name} binds a range first")
    verify_carried_types(loop)


def verify_carried_types(loop: Carrying) -> None:
    """What a loop binds, yields and gives has the types of the initial values."""
    inits = [value.type for value in loop.inits]
    for what, values in (("binds", loop.carried), ("yields", loop.yielded), ("gives", loop.results)):
        types = [value.type for value in values]
        if types != inits:
            wanted, found = (", ".join(map(str, some)) for some in (inits, types))
            raise VerifyException(f"{loop.name} carries ({wanted}) but {what} ({found})")


def parse_carries(parser: Parser) -> tuple[list[Parser.Argument], list[SSAValue]]:
    """``iter(%a = %z, …) -> (types)``, or nothing: the carried arguments and their initial values."""
    pairs: list[tuple[Parser.UnresolvedArgument, SSAValue]] = []
    if parser.parse_optional_keyword("iter"):
        pairs = parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: parse_pair(parser))
    if parser.parse_optional_punctuation("->"):
        parser.parse_punctuation("(")
        parse_known_types(parser, [init.type for _, init in pairs])
        parser.parse_punctuation(")")
    return [name.resolve(init.type) for name, init in pairs], [init for _, init in pairs]


def print_carries(printer: Printer, loop: Carrying) -> None:
    """The inverse of `parse_carries`."""
    if not loop.inits:
        return
    printer.print_string(" iter(")
    printer.print_list(zip(loop.carried, loop.inits, strict=True), lambda pair: print_pair(printer, *pair))
    printer.print_string(") -> (")
    printer.print_list([value.type for value in loop.inits], printer.print_attribute)
    printer.print_string(")")


def parse_pair(parser: Parser) -> tuple[Parser.UnresolvedArgument, SSAValue]:
    """``%argument = %value``: what a body calls a value."""
    name = parser.parse_argument(expect_type=False)
    parser.parse_punctuation("=")
    return name, parser.parse_operand()


def print_pair(printer: Printer, name: SSAValue, value: SSAValue) -> None:
    """The inverse of `parse_pair`."""
    printer.print_ssa_value(name)
    printer.print_string(" = ")
    printer.print_ssa_value(value)


OPS = (YieldOp,)
