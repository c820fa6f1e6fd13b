"""Ids of accesses: ``k``, ``k#1``, …: the operand's name, and the number among its accesses, in order of the program.

The attribute ``access`` holds the id that the pass ``name-accesses`` gave; whoever replaces an access hands it on. It
is printed only where it is not the one that the order of the program gives:

    %a = tile.load %x[%i]        %b = tile.load %x[%j] access "x#2"
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation, opt_attr_def
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    ParsingState,
    PrintingState,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer

from kopt.dialects.definition import Op
from kopt.dialects.formats import AttributeText
from kopt.dialects.tile.grid import GridOp
from kopt.walk import walk

#: The attribute that holds an access's id.
ACCESS = "access"
#: The ids that the order of the program gives, of the launches that a printer has met.
_PRINTED: WeakKeyDictionary[Printer, dict[Operation, str]] = WeakKeyDictionary()


class Identified(Op):
    """Base of the accesses of memory, which have ids."""

    access = opt_attr_def(StringAttr)

    if TYPE_CHECKING:
        memory: SSAValue


def given_id(op: Operation) -> str | None:
    """The id that an access was given."""
    found = op.attributes.get(ACCESS)
    return found.data if isinstance(found, StringAttr) else None


def operand_names(top: Operation) -> dict[SSAValue, str]:
    """The memrefs that the accesses of a launch address, in the order of the program, each by a name of its own."""
    names: dict[SSAValue, str] = {}
    taken: set[str] = set()
    for op in _accesses(top):
        if op.memory not in names:
            names[op.memory] = unused(op.memory.name_hint or "array", taken, "_")
    return names


def access_ids(top: Operation) -> dict[Operation, str]:
    """The id of each access of a launch: the one that it was given, else the next of its operand that is free.

    Copies of an access have its id; all but the first have the next that is free.
    """
    names = operand_names(top)
    ops = list(_accesses(top))
    taken: set[str] = set()
    ids: dict[Operation, str] = dict.fromkeys(ops, "")
    for op in ops:
        if (given := given_id(op)) is not None and given not in taken:
            ids[op] = given
            taken.add(given)
    for op in ops:
        ids[op] = ids[op] or unused(names[op.memory], taken, "#")
    return ids


@irdl_custom_directive
class AccessId(AttributeText):
    """``access "x#2"``, or nothing where there is no id, or the order of the program gives it as well."""

    attribute: AttributeVariable

    def read(self, parser: Parser) -> Attribute:
        return StringAttr(parser.parse_str_literal())

    def write(self, printer: Printer, attribute: Attribute) -> None:
        assert isinstance(attribute, StringAttr)
        printer.print_string("access ")
        printer.print_string_literal(attribute.data)

    def parse(self, parser: Parser, state: ParsingState) -> None:
        if parser.parse_optional_keyword("access"):
            super().parse(parser, state)

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        given = given_id(op)
        if given is not None and given != _ordered_id(printer, op):
            super().print(printer, state, op)


def _ordered_id(printer: Printer, op: Operation) -> str | None:
    """The id that the order of the program gives; looked up once, for what is printed again may have changed."""
    known = _PRINTED.setdefault(printer, {})
    if op not in known:
        known.update(_ordered_ids(_launch_of(op)))
    return known.pop(op, None)


def _ordered_ids(top: Operation) -> dict[Operation, str]:
    names, taken = operand_names(top), set[str]()
    return {op: unused(names[op.memory], taken, "#") for op in _accesses(top)}


def _launch_of(op: Operation) -> Operation:
    """The grid around an access; else the outermost operation of a function that holds it."""
    while (parent := op.parent_op()) is not None and not isinstance(parent, FuncOp):
        op = parent
        if isinstance(op, GridOp):
            break
    return op


def _accesses(top: Operation) -> list[Identified]:
    return walk(top, Identified)


def unused(name: str, taken: set[str], mark: str) -> str:
    """The name, with a number behind a mark where it is taken; it is taken then."""
    found, number = name, 0
    while found in taken:
        number += 1
        found = f"{name}{mark}{number}"
    taken.add(found)
    return found
