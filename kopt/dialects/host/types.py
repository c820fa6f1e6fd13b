"""What the host's ops share: memref types in text, and static slices."""

from __future__ import annotations

from typing import Protocol

from xdsl.dialects.builtin import (
    DenseArrayBase,
    MemRefType,
)
from xdsl.ir import SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException


def parse_memref(parser: Parser) -> MemRefType:
    """A memref type; a parse error says what stands there instead."""
    start = parser.pos
    type = parser.parse_type()
    if not isinstance(type, MemRefType):
        parser.raise_error(f"expected a memref type, found {type}", start, parser.pos)
    return type


def print_typed(printer: Printer, value: SSAValue) -> None:
    """``%value : type``."""
    printer.print_ssa_value(value)
    printer.print_string(" : ")
    printer.print_attribute(value.type)


class HasSlice(Protocol):
    """What the ops that name a static slice have in common."""

    name: str
    offsets: DenseArrayBase
    sizes: DenseArrayBase
    strides: DenseArrayBase


def check_numbers(op: HasSlice, type: MemRefType) -> None:
    """An offset, a size and a stride for each dimension of ``type``."""
    if any(len(numbers) != type.get_num_dims() for numbers in (op.offsets, op.sizes, op.strides)):
        raise VerifyException(f"{op.name} needs three numbers for each dimension of {type}")
