"""Literal numbers in the syntax of the ``tile`` dialect, with ``inf``, ``-inf`` and ``nan`` as keywords."""

from __future__ import annotations

import math

from xdsl.dialects.builtin import FixedBitwidthType, FloatAttr, IntegerAttr, IntegerType
from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.printer import Printer

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


def parse_literal(parser: Parser, element_type: Attribute) -> Attribute:
    """A number, ``inf``, ``-inf``, ``nan``, ``true`` or ``false`` of the given element type."""
    sign = -1 if parser.parse_optional_punctuation("-") else 1
    word = parser.parse_optional_keyword_in(_SPECIAL)
    if word is not None:
        return literal(whole(parser, parser.pos, sign * _SPECIAL[word], element_type), element_type)
    if (boolean := parser.parse_optional_boolean()) is not None:
        return literal(boolean, element_type)
    start = parser.pos
    return literal(whole(parser, start, sign * parser.parse_number(), element_type), element_type)


def whole(parser: Parser, start: int, number: float, element_type: Attribute) -> float:
    """``number``, or a parse error where it is no integer but its type is an integer type."""
    if isinstance(element_type, IntegerType) and not float(number).is_integer():
        parser.raise_error(f"{number} is no {element_type}", start, parser.pos)
    return number


def literal_text(attr: Attribute) -> str:
    """How `print_literal` spells a literal."""
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


def print_literal(printer: Printer, attr: Attribute) -> None:
    """The inverse of `parse_literal`."""
    printer.print_string(literal_text(attr))


def is_float(type: Attribute) -> bool:
    """Whether an element type is a floating-point type."""
    return isinstance(type, FixedBitwidthType) and not isinstance(type, IntegerType)
