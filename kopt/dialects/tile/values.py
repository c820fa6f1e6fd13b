"""Literal numbers in the syntax of the ``tile`` dialect, with ``inf``, ``-inf`` and ``nan`` as keywords."""

from __future__ import annotations

import math

from xdsl.dialects.builtin import (
    FixedBitwidthType,
    FloatAttr,
    FloatData,
    IntAttr,
    IntegerAttr,
    IntegerType,
    MemRefType,
    i1,
)
from xdsl.ir import Attribute
from xdsl.irdl import irdl_attr_definition
from xdsl.irdl.declarative_assembly_format import AttributeVariable, ParsingState, irdl_custom_directive
from xdsl.parser import Parser
from xdsl.printer import Printer

from kopt.dialects.definition import Attr
from kopt.dialects.formats import AttributeText, Silent, WrittenType
from kopt.dialects.tile.types import TileType

_SPECIAL = {"inf": math.inf, "nan": math.nan}


def literal(value: float | int | bool, element_type: Attribute) -> Attribute:
    """The attribute of a number in an element type: floats are rounded to it, integers are wrapped to their width."""
    if isinstance(element_type, IntegerType):
        return IntegerAttr(_wrap(int(value), element_type), element_type)
    return _rounded(float(value), element_type)


def _rounded(value: float, type: Attribute) -> FloatAttr:
    """A float of a type; one beyond its range is infinite."""
    try:
        return FloatAttr(value, type)  # pyright: ignore[reportArgumentType, reportCallIssue]
    except OverflowError:
        return FloatAttr(math.copysign(math.inf, value), type)  # pyright: ignore[reportArgumentType, reportCallIssue]


def _wrap(value: int, type: IntegerType) -> int:
    width = type.width.data
    if width == 1:
        return int(bool(value))
    value &= (1 << width) - 1
    signed = type.signedness.data.name != "UNSIGNED"
    return value - (1 << width) if signed and value >> (width - 1) else value


def literal_value(attr: Attribute) -> float | int:
    """The Python number of a literal attribute. One-bit integers are 0 or 1."""
    if isinstance(attr, FloatAttr):
        return attr.value.data
    if isinstance(attr, IntegerAttr):
        value = attr.value.data
        return abs(value) if attr.type == IntegerType(1) else value
    raise TypeError(f"not a number: {attr}")


def is_same_number(attr: Attribute, number: float) -> bool:
    """Whether a literal is a number, the sign of zero included."""
    value = literal_value(attr)
    return value == number and math.copysign(1, value) == math.copysign(1, number)


@irdl_attr_definition
class _Number(Attr):
    """A literal as it was read, before its element type is known, and where it stands."""

    name = "tile.number"

    value: IntAttr | FloatData
    start: IntAttr
    end: IntAttr


@irdl_custom_directive
class Literal(AttributeText):
    """A number, ``inf``, ``-inf``, ``nan``, ``true`` or ``false``; a `Typed` after it gives it its element type."""

    attribute: AttributeVariable

    def read(self, parser: Parser) -> Attribute:
        start = parser.pos
        number = _parse_number(parser)
        value = IntAttr(number) if isinstance(number, int) else FloatData(number)
        return _Number(value, IntAttr(start), IntAttr(parser.pos))

    def write(self, printer: Printer, attribute: Attribute) -> None:
        printer.print_string(literal_text(attribute))


@irdl_custom_directive
class Typed(Silent):
    """Gives all literals of an op the element type of a value: ``custom<Typed>(ref(type($result)))``."""

    types: WrittenType

    def parse(self, parser: Parser, state: ParsingState) -> None:
        type = self.types.found(state)[0]
        assert isinstance(type, MemRefType | TileType)
        for name, number in state.properties.items():
            if isinstance(number, _Number):
                value = number.value.data
                if isinstance(type.element_type, IntegerType) and not float(value).is_integer():
                    parser.raise_error(f"{value} is no {type.element_type}", number.start.data, number.end.data)
                state.properties[name] = literal(value, type.element_type)


def _parse_number(parser: Parser) -> float | int:
    sign = -1 if parser.parse_optional_punctuation("-") else 1
    if (word := parser.parse_optional_keyword_in(_SPECIAL)) is not None:
        return sign * _SPECIAL[word]
    if (boolean := parser.parse_optional_boolean()) is not None:
        return int(boolean)
    return sign * parser.parse_number()


def literal_text(attr: Attribute) -> str:
    """How a literal is spelt."""
    value = literal_value(attr)
    if isinstance(attr, IntegerAttr):
        return str(value)
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    text = _shortest(float(value), attr)
    return text if "e" not in text or "." in text else text.replace("e", ".0e")


def _shortest(value: float, attr: Attribute) -> str:
    """The shortest text that reads back as this number of this type: ``0.1`` for the f32 that is nearest to it."""
    exact = repr(value)
    if len(exact) < 10 or not isinstance(attr, FloatAttr):
        return exact
    texts = (repr(float(f"{value:.{digits}g}")) for digits in range(1, 10))
    return next((text for text in texts if _rounded(float(text), attr.type).value == attr.value), exact)


def is_integer(type: Attribute) -> bool:
    """Whether an element type is an integer type, which that of truth values is not."""
    return isinstance(type, IntegerType) and type != i1


def is_float(type: Attribute) -> bool:
    """Whether an element type is a floating-point type."""
    return isinstance(type, FixedBitwidthType) and not isinstance(type, IntegerType)
