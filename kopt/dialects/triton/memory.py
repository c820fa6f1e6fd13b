"""Loads and stores, which say which lanes they must check."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Self

from xdsl.dialects.builtin import ArrayAttr, MemRefType, UnitAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.definition import irdl_op_definition
from kopt.dialects.tile.access_ids import print_access_attributes
from kopt.dialects.tile.index_list import ALL, Entry, join_entries, parse_entries, print_entries, split_entries
from kopt.dialects.tile.memory import Access, ReadsMemory, WritesMemory, block_type, parse_mask, print_mask
from kopt.dialects.tile.types import RangeType, TileType
from kopt.dialects.tile.values import parse_literal, print_literal


class CheckedAccess(Access):
    """Base of all accesses: ``limits`` names, for each dimension of the block, the range to check."""

    if TYPE_CHECKING:
        checked: Sequence[SSAValue]
        checks: ArrayAttr[Attribute]

    @property
    def limits(self) -> tuple[SSAValue | None, ...]:
        """The range to check for each dimension, or None."""
        return _join_limits(self.checked, self.checks)

    def _verify_checked(self, value: Attribute) -> None:
        self._verify_access(value)
        assert isinstance(value, TileType)
        if len(self.limits) != value.rank:
            raise VerifyException(f"{self.name} needs one range or '_' for each dimension of {value}")
        for limit, dim in zip(self.limits, value.dims.data, strict=True):
            if limit is not None and isinstance(limit.type, RangeType) and limit.type.size != dim.size.data:
                raise VerifyException(f"{limit.type} cannot limit dimension {dim}")


def split_limits(limits: Iterable[SSAValue | None]) -> tuple[list[SSAValue], ArrayAttr[Attribute]]:
    """The ranges to check as an op stores them: those that there are, and for each dimension whether it has one."""
    limits = tuple(limits)
    layout = ArrayAttr([ALL if limit is None else UnitAttr() for limit in limits])
    return [limit for limit in limits if limit is not None], layout


def _join_limits(values: Sequence[SSAValue], layout: ArrayAttr[Attribute]) -> tuple[SSAValue | None, ...]:
    iterator = iter(values)
    return tuple(next(iterator) if isinstance(attr, UnitAttr) else None for attr in layout.data)


def parse_limits(parser: Parser) -> list[SSAValue | None]:
    """``in (%i, _)``."""
    parser.parse_keyword("in")
    return parser.parse_comma_separated_list(
        parser.Delimiter.PAREN, lambda: None if parser.parse_optional_keyword("_") else parser.parse_operand()
    )


def print_limits(printer: Printer, limits: Sequence[SSAValue | None]) -> None:
    """The inverse of `parse_limits`."""
    printer.print_string(" in (")
    printer.print_list(
        limits, lambda limit: printer.print_string("_") if limit is None else printer.print_ssa_value(limit)
    )
    printer.print_string(")")


@irdl_op_definition
class LoadOp(CheckedAccess):
    """Reads a block of a memref, only in lanes inside the ranges of ``in`` and where ``mask`` holds.

    Lanes that are not read take ``other``, or are undefined where there is none.

        %v = triton.load %x[%i, :] in (%i, _) mask %m other 0.0 : memref<…> -> !tile.tile<…>
    """

    name = "triton.load"

    memory = operand_def(MemRefType)
    indices = var_operand_def()
    checked = var_operand_def(RangeType)
    mask = opt_operand_def(TileType)
    layout = prop_def(ArrayAttr)
    checks = prop_def(ArrayAttr)
    other = opt_prop_def(Attribute)
    result = result_def(TileType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(ReadsMemory())

    def __init__(
        self,
        memory: SSAValue | Operation,
        entries: Iterable[Entry],
        limits: Iterable[SSAValue | None],
        mask: SSAValue | None = None,
        other: Attribute | None = None,
        attributes: Mapping[str, Attribute | None] | None = None,
    ):
        entries = tuple(entries)
        operands, layout = split_entries(entries)
        checked, checks = split_limits(limits)
        memory = SSAValue.get(memory)
        super().__init__(
            operands=[memory, operands, checked, mask],
            properties={"layout": layout, "checks": checks, "other": other},
            attributes=attributes,
            result_types=[block_type(memory.type, entries)],
        )

    def verify_(self) -> None:
        self._verify_checked(self.result.type)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        memory = parser.parse_operand()
        operands, layout = parse_entries(parser)
        limits = parse_limits(parser)
        mask = parse_mask(parser)
        other = None
        if parser.parse_optional_keyword("other"):
            assert isinstance(memory.type, MemRefType)
            other = parse_literal(parser, memory.type.element_type)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        parser.parse_type()
        parser.parse_punctuation("->")
        parser.parse_type()
        return cls(memory, join_entries(operands, layout), limits, mask, other, attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.memory)
        print_entries(printer, self.entries)
        print_limits(printer, self.limits)
        print_mask(printer, self.mask)
        if self.other is not None:
            printer.print_string(" other ")
            print_literal(printer, self.other)
        print_access_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(self.memory.type)
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)


@irdl_op_definition
class StoreOp(CheckedAccess):
    """Writes a block of a memref, only in lanes inside the ranges of ``in`` and where ``mask`` holds.

    triton.store %v, %out[%i, :] in (%i, _) mask %m : !tile.tile<…>, memref<…>
    """

    name = "triton.store"

    value = operand_def(TileType)
    memory = operand_def(MemRefType)
    indices = var_operand_def()
    checked = var_operand_def(RangeType)
    mask = opt_operand_def(TileType)
    layout = prop_def(ArrayAttr)
    checks = prop_def(ArrayAttr)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(WritesMemory())

    def __init__(
        self,
        value: SSAValue | Operation,
        memory: SSAValue | Operation,
        entries: Iterable[Entry],
        limits: Iterable[SSAValue | None],
        mask: SSAValue | None = None,
        attributes: Mapping[str, Attribute | None] | None = None,
    ):
        operands, layout = split_entries(entries)
        checked, checks = split_limits(limits)
        super().__init__(
            operands=[value, memory, operands, checked, mask],
            properties={"layout": layout, "checks": checks},
            attributes=attributes,
        )

    def verify_(self) -> None:
        self._verify_checked(self.value.type)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        value = parser.parse_operand()
        parser.parse_punctuation(",")
        memory = parser.parse_operand()
        operands, layout = parse_entries(parser)
        limits = parse_limits(parser)
        mask = parse_mask(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        parser.parse_type()
        parser.parse_punctuation(",")
        parser.parse_type()
        return cls(value, memory, join_entries(operands, layout), limits, mask, attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.value)
        printer.print_string(", ")
        printer.print_ssa_value(self.memory)
        print_entries(printer, self.entries)
        print_limits(printer, self.limits)
        print_mask(printer, self.mask)
        print_access_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_list((self.value.type, self.memory.type), printer.print_attribute)
