"""Formats, read late: when the first op of a class is parsed or printed.

xDSL reads the formats of all ops when their classes are made, which is a good part of what importing them takes; a
compilation prints few of them, if any.
"""

from __future__ import annotations

from functools import cache

from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation, IRDLOperationInvT
from xdsl.irdl.declarative_assembly_format import FormatDirective, FormatProgram, TypeDirective
from xdsl.irdl.declarative_assembly_format_parser import FormatParser
from xdsl.parser import Parser
from xdsl.printer import Printer

from kopt.dialects.formats.directives import DIRECTIVES
from kopt.dialects.formats.types import type_directive


def give_format(cls: type[IRDLOperation], format: str) -> None:
    """Has a class that was defined without it parsed and printed by a format."""
    assert cls.print is Operation.print, f"{cls.__name__} has a format and prints by hand"
    definition = cls.get_irdl_definition()
    cls.assembly_format = definition.assembly_format = format
    definition.custom_directives = {kind.__name__: kind for kind in (*DIRECTIVES, *cls.custom_directives)}
    for name, function in (("parse", classmethod(_parse)), ("print", _print)):
        setattr(cls, name, function)


@cache
def format_of(cls: type[IRDLOperation]) -> FormatProgram:
    """The format of an op that has one. Raises `ParseError` where it is wrong."""
    definition = cls.get_irdl_definition()
    assert definition.assembly_format is not None
    return _FormatParser(definition.assembly_format, definition).parse_format()


class _FormatParser(FormatParser):
    """Reads a format; types say what is expected where something else stands. Those of an optional group are needed."""

    in_group: bool = False

    def parse_optional_group(self) -> FormatDirective:
        self.in_group = True
        group = super().parse_optional_group()
        self.in_group = False
        return group

    def parse_type_directive(self, inside_ref: bool) -> TypeDirective:
        with self.in_parens():
            return type_directive(self.parse_typeable_directive(inside_ref), self.op_def, self.in_group)


def _parse(cls: type[IRDLOperationInvT], parser: Parser) -> IRDLOperationInvT:
    return format_of(cls).parse(parser, cls)


def _print(self: IRDLOperation, printer: Printer) -> None:
    format_of(type(self)).print(printer, self)
