"""Lists of integers as properties and as text."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import lru_cache

from xdsl.dialects.builtin import DenseArrayBase, i64
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from kopt.open_extents import check_known


def int_array(numbers: Sequence[int]) -> DenseArrayBase:
    """A property that holds integers. Raises `NeedsConstant` where one is an open extent."""
    check_known(numbers)
    return _array(tuple(numbers))


@lru_cache(4096)
def _array(numbers: tuple[int, ...]) -> DenseArrayBase:
    return DenseArrayBase.from_list(i64, numbers)


def ints_of(attr: DenseArrayBase) -> tuple[int, ...]:
    """The integers of a property that `int_array` made. Raises `VerifyException` where its elements are not i64."""
    if attr.elt_type is not i64 and attr.elt_type != i64:
        raise VerifyException(f"an array of i64 belongs here, not of {attr.elt_type}")
    return _unpacked(attr.data.data)


@lru_cache(4096)
def _unpacked(data: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(data) // 8}q", data)


def parse_ints(parser: Parser) -> tuple[int, ...]:
    """``[1, 0]``."""
    return tuple(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer))


def print_ints(printer: Printer, numbers: Sequence[int]) -> None:
    """The inverse of `parse_ints`."""
    printer.print_string(f"[{', '.join(map(str, numbers))}]")
