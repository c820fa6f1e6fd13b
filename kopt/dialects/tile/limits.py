"""Limits: for each dimension of a block the range whose lanes count, or ``_``, as in ``in (%i, _)``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.dialects.builtin import ArrayAttr, UnitAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    VariadicOperandVariable,
    irdl_custom_directive,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer

from kopt.dialects.formats import WrittenType, defined
from kopt.dialects.tile.index_list import ALL


def split_limits(limits: Iterable[SSAValue | None]) -> tuple[list[SSAValue], ArrayAttr[Attribute]]:
    """The ranges as an op stores them: those that there are, and for each dimension whether it has one."""
    limits = tuple(limits)
    return [limit for limit in limits if limit is not None], _layout(limits)


def join_limits(values: Sequence[SSAValue], layout: ArrayAttr[Attribute]) -> tuple[SSAValue | None, ...]:
    """The inverse of `split_limits`."""
    iterator = iter(values)
    return tuple(next(iterator) if isinstance(attr, UnitAttr) else None for attr in layout.data)


def _layout(limits: Iterable[object | None]) -> ArrayAttr[Attribute]:
    return ArrayAttr([ALL if limit is None else UnitAttr() for limit in limits])


@irdl_custom_directive
class Limits(CustomDirective):
    """``(%i, _)``: ranges of the types that they are defined with."""

    ranges: VariadicOperandVariable
    types: WrittenType
    layout: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        limits = parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: _parse_limit(parser))
        ranges = [limit for limit in limits if limit is not None]
        self.ranges.set(state, ranges)
        self.types.set(state, [defined(parser, range).type for range in ranges])
        self.layout.set(state, _layout(limits))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        layout = self.layout.get(op)
        assert isinstance(layout, ArrayAttr)
        state.print_whitespace(printer)
        with printer.in_parens():
            printer.print_list(join_limits(self.ranges.get(op), layout), lambda limit: _print_limit(printer, limit))


def _parse_limit(parser: Parser) -> UnresolvedOperand | None:
    return None if parser.parse_optional_keyword("_") else parser.parse_unresolved_operand()


def _print_limit(printer: Printer, limit: SSAValue | None) -> None:
    if limit is None:
        printer.print_string("_")
    else:
        printer.print_ssa_value(limit)
