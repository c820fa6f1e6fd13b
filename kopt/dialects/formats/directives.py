"""The directives that every format may name, beside those of MLIR."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, IntAttr, IntegerAttr, StringAttr
from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    OperandDirective,
    ParsingState,
    PrintingState,
    TypeDirective,
    VariableDirective,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.formats.integers import int_array, parse_ints, print_ints
from kopt.dialects.formats.types import WrittenType, defined


class AttributeText(CustomDirective, ABC):
    """Base of the directives that write one attribute in a way of their own."""

    attribute: AttributeVariable

    @abstractmethod
    def read(self, parser: Parser) -> Attribute:
        """The attribute that the text spells."""

    @abstractmethod
    def write(self, printer: Printer, attribute: Attribute) -> None:
        """The inverse of `read`."""

    def parse(self, parser: Parser, state: ParsingState) -> None:
        self.attribute.set(state, self.read(parser))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        attribute = self.attribute.get(op)
        assert attribute is not None
        state.print_whitespace(printer)
        self.write(printer, attribute)

    def is_present(self, op: IRDLOperation) -> bool:
        return self.attribute.is_present(op)

    def is_anchorable(self) -> bool:
        return self.attribute.is_anchorable()


@irdl_custom_directive
class Int(AttributeText):
    """An integer: ``3``."""

    attribute: AttributeVariable

    def read(self, parser: Parser) -> Attribute:
        return IntAttr(parser.parse_integer(allow_boolean=False))

    def write(self, printer: Printer, attribute: Attribute) -> None:
        assert isinstance(attribute, IntAttr)
        printer.print_string(str(attribute.data))


@irdl_custom_directive
class Int64(AttributeText):
    """An integer of 64 bits: ``3``."""

    attribute: AttributeVariable

    def read(self, parser: Parser) -> Attribute:
        return IntegerAttr(parser.parse_integer(allow_boolean=False), 64)

    def write(self, printer: Printer, attribute: Attribute) -> None:
        assert isinstance(attribute, IntegerAttr)
        printer.print_string(str(attribute.value.data))


@irdl_custom_directive
class Ints(AttributeText):
    """A list of integers: ``[1, 0]``."""

    attribute: AttributeVariable

    def read(self, parser: Parser) -> Attribute:
        return int_array(parse_ints(parser))

    def write(self, printer: Printer, attribute: Attribute) -> None:
        assert isinstance(attribute, DenseArrayBase)
        print_ints(printer, attribute.get_values())


@irdl_custom_directive
class Keyword(AttributeText):
    """A string that is a keyword, without quotes: ``add``."""

    attribute: AttributeVariable

    def read(self, parser: Parser) -> Attribute:
        return StringAttr(parser.parse_identifier())

    def write(self, printer: Printer, attribute: Attribute) -> None:
        assert isinstance(attribute, StringAttr)
        printer.print_string(attribute.data)


@irdl_custom_directive
class Keywords(AttributeText):
    """A list of keywords: ``[entry, exit]``."""

    attribute: AttributeVariable

    def read(self, parser: Parser) -> Attribute:
        words = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_identifier)
        return ArrayAttr(map(StringAttr, words))

    def write(self, printer: Printer, attribute: Attribute) -> None:
        assert isinstance(attribute, ArrayAttr)
        with printer.in_square_brackets():
            printer.print_list(attribute.data, lambda word: printer.print_string(word.data))


@irdl_custom_directive
class String(AttributeText):
    """A string in quotes, which has to be there: ``"tp"``."""

    attribute: AttributeVariable

    def read(self, parser: Parser) -> Attribute:
        return StringAttr(parser.parse_str_literal())

    def write(self, printer: Printer, attribute: Attribute) -> None:
        assert isinstance(attribute, StringAttr)
        printer.print_string_literal(attribute.data)


@irdl_custom_directive
class SymbolName(AttributeText):
    """A string that is a symbol's name, which has to be there: ``@x``."""

    attribute: AttributeVariable

    def read(self, parser: Parser) -> Attribute:
        return parser.parse_symbol_name()

    def write(self, printer: Printer, attribute: Attribute) -> None:
        assert isinstance(attribute, StringAttr)
        printer.print_symbol_name(attribute.data)


@irdl_custom_directive
class Known(CustomDirective):
    """An operand, which has to be there, of the type that it is defined with: the text leaves the type out."""

    operand: OperandDirective
    types: WrittenType

    def parse(self, parser: Parser, state: ParsingState) -> None:
        operand = parser.parse_unresolved_operand()
        assert isinstance(self.operand, VariableDirective)
        state.operands[self.operand.index] = (operand,)
        self.types.set(state, [defined(parser, operand).type])

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        self.operand.print(printer, state, op)

    def is_present(self, op: IRDLOperation) -> bool:
        return self.operand.is_present(op)

    def is_anchorable(self) -> bool:
        return self.operand.is_anchorable()

    def set_empty(self, state: ParsingState) -> None:
        self.operand.set_empty(state)
        self.types.set_empty(state)


class Silent(CustomDirective, ABC):
    """Base of the directives that complete what was read before, and have no text."""

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        pass


class Infers(IRDLOperation):
    """Base of the ops whose results' types follow from their operands' types and properties."""

    @classmethod
    def infer(cls, operands: Sequence[Attribute], properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        """The types of the results. Raises `VerifyException` where there are none."""
        raise NotImplementedError

    def check_results(self) -> None:
        """Raises `VerifyException` where the results have other types than these."""
        wanted, found = tuple(self.infer(self.operand_types, self.properties)), tuple(self.result_types)
        if found != wanted:
            expected, given = (", ".join(map(str, types)) for types in (wanted, found))
            raise VerifyException(f"{self.name} gives {expected}, found {given}")


@irdl_custom_directive
class Infer(Silent):
    """Types of results that the op infers, those of a list or one each: ``custom<Infer>(type(results))``."""

    results: TypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        assert issubclass(state.op_type, Infers)
        operands = [type for types in state.operand_types for type in types or ()]
        try:
            types = state.op_type.infer(operands, state.properties)
        except VerifyException as error:
            first = next(names[0] for names in state.operands if names)
            parser.raise_error(str(error), first.span)
        state.result_types = [types] if len(state.result_types) == 1 else [[type] for type in types]


@irdl_custom_directive
class Same(Silent):
    """Values of a type that was read before: ``custom<Same>(type($result), ref(type($input)))``."""

    types: WrittenType
    read: WrittenType

    def parse(self, parser: Parser, state: ParsingState) -> None:
        self.types.set(state, [*self.read.found(state)] * self.types.count(state))


@irdl_custom_directive
class OneType(CustomDirective):
    """The type of all values of a list, written once."""

    types: WrittenType

    def parse(self, parser: Parser, state: ParsingState) -> None:
        if not self.types.count(state):
            parser.raise_error("expected one operand at least before this type")
        self.types.parse_one(parser, state)

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        printer.print_attribute(self.types.get(op)[0])


@irdl_custom_directive
class Change(CustomDirective):
    """``A to B``, or ``A`` where both types are one."""

    before: WrittenType
    after: WrittenType

    def parse(self, parser: Parser, state: ParsingState) -> None:
        self.before.parse(parser, state)
        if parser.parse_optional_keyword("to"):
            self.after.parse(parser, state)
        else:
            self.after.set(state, self.before.found(state))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        self.before.print(printer, state, op)
        if self.before.get(op) != self.after.get(op):
            printer.print_string(" to")
            self.after.print(printer, state, op)


DIRECTIVES: tuple[type[CustomDirective], ...] = (
    *(Int, Int64, Ints, Keyword, Keywords, String, SymbolName),
    *(Known, Infer, Same, OneType, Change),
)
