"""Atomic updates, seen by all programs of the GPU."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Self

from xdsl.dialects.builtin import ArrayAttr, MemRefType, StringAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    operand_def,
    opt_operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer

from kopt.dialects.atomic import parse_ordering, print_ordering, verify_cas, verify_rmw
from kopt.dialects.definition import irdl_op_definition
from kopt.dialects.tile.access_ids import print_access_attributes
from kopt.dialects.tile.index_list import Entry, join_entries, parse_entries, print_entries, split_entries
from kopt.dialects.tile.memory import ReadsMemory, WritesMemory, parse_mask, print_mask
from kopt.dialects.tile.types import RangeType, TileType
from kopt.dialects.triton.memory import CheckedAccess, parse_limits, print_limits, split_limits


@irdl_op_definition
class AtomicRmwOp(CheckedAccess):
    """`atomic.rmw`, only in lanes inside the ranges of ``in`` and where ``mask`` holds.

    %old = triton.atomic_rmw max %v, %x[%i] in (%i) mask %m ordering acq_rel : !tile.tile<…>, memref<…> -> !tile.tile<…>
    """

    name = "triton.atomic_rmw"

    value = operand_def(TileType)
    memory = operand_def(MemRefType)
    indices = var_operand_def()
    checked = var_operand_def(RangeType)
    mask = opt_operand_def(TileType)
    kind = prop_def(StringAttr)
    layout = prop_def(ArrayAttr)
    checks = prop_def(ArrayAttr)
    ordering = prop_def(StringAttr)
    previous = var_result_def(TileType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(ReadsMemory(), WritesMemory())

    def __init__(
        self,
        kind: str,
        value: SSAValue | Operation,
        memory: SSAValue | Operation,
        entries: Iterable[Entry],
        limits: Iterable[SSAValue | None],
        mask: SSAValue | None = None,
        ordering: str = "relaxed",
        returns_previous: bool = False,
        attributes: Mapping[str, Attribute | None] | None = None,
    ):
        operands, layout = split_entries(entries)
        checked, checks = split_limits(limits)
        value = SSAValue.get(value)
        super().__init__(
            operands=[value, memory, operands, checked, mask],
            properties={
                "kind": StringAttr(kind),
                "layout": layout,
                "checks": checks,
                "ordering": StringAttr(ordering),
            },
            attributes=attributes,
            result_types=[[value.type] if returns_previous else []],
        )

    def verify_(self) -> None:
        self._verify_checked(self.value.type)
        verify_rmw(self)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        kind = parser.parse_identifier()
        value = parser.parse_operand()
        parser.parse_punctuation(",")
        memory = parser.parse_operand()
        operands, layout = parse_entries(parser)
        limits, mask, ordering = parse_limits(parser), parse_mask(parser), parse_ordering(parser)
        attributes = parser.parse_optional_attr_dict()
        _parse_types(parser)
        returns = parser.parse_optional_punctuation("->") is not None
        if returns:
            parser.parse_type()
        return cls(kind, value, memory, join_entries(operands, layout), limits, mask, ordering, returns, attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.kind.data} ")
        printer.print_ssa_value(self.value)
        _print_target(printer, self, self.value)
        if self.previous:
            printer.print_string(" -> ")
            printer.print_attribute(self.previous[0].type)


@irdl_op_definition
class AtomicCasOp(CheckedAccess):
    """`atomic.cas`, only in lanes inside the ranges of ``in`` and where ``mask`` holds.

    %old = triton.atomic_cas %expected, %desired, %x[%i] in (%i) : !tile.tile<…>, memref<…>
    """

    name = "triton.atomic_cas"

    expected = operand_def(TileType)
    desired = operand_def(TileType)
    memory = operand_def(MemRefType)
    indices = var_operand_def()
    checked = var_operand_def(RangeType)
    mask = opt_operand_def(TileType)
    layout = prop_def(ArrayAttr)
    checks = prop_def(ArrayAttr)
    ordering = prop_def(StringAttr)
    previous = result_def(TileType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(ReadsMemory(), WritesMemory())

    def __init__(
        self,
        expected: SSAValue | Operation,
        desired: SSAValue | Operation,
        memory: SSAValue | Operation,
        entries: Iterable[Entry],
        limits: Iterable[SSAValue | None],
        mask: SSAValue | None = None,
        ordering: str = "relaxed",
        attributes: Mapping[str, Attribute | None] | None = None,
    ):
        operands, layout = split_entries(entries)
        checked, checks = split_limits(limits)
        desired = SSAValue.get(desired)
        super().__init__(
            operands=[expected, desired, memory, operands, checked, mask],
            properties={"layout": layout, "checks": checks, "ordering": StringAttr(ordering)},
            attributes=attributes,
            result_types=[desired.type],
        )

    def verify_(self) -> None:
        self._verify_checked(self.desired.type)
        verify_cas(self)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        expected = parser.parse_operand()
        parser.parse_punctuation(",")
        desired = parser.parse_operand()
        parser.parse_punctuation(",")
        memory = parser.parse_operand()
        operands, layout = parse_entries(parser)
        limits, mask, ordering = parse_limits(parser), parse_mask(parser), parse_ordering(parser)
        attributes = parser.parse_optional_attr_dict()
        _parse_types(parser)
        return cls(expected, desired, memory, join_entries(operands, layout), limits, mask, ordering, attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list((self.expected, self.desired), printer.print_ssa_value)
        _print_target(printer, self, self.desired)


def _parse_types(parser: Parser) -> None:
    """``: value type, memref``, which the operands know."""
    parser.parse_punctuation(":")
    parser.parse_type()
    parser.parse_punctuation(",")
    parser.parse_type()


def _print_target(printer: Printer, op: AtomicRmwOp | AtomicCasOp, value: SSAValue) -> None:
    """``, %x[…] in (…) mask %m ordering … {…} : value type, memref``."""
    printer.print_string(", ")
    printer.print_ssa_value(op.memory)
    print_entries(printer, op.entries)
    print_limits(printer, op.limits)
    print_mask(printer, op.mask)
    print_ordering(printer, op.ordering)
    print_access_attributes(printer, op)
    printer.print_string(" : ")
    printer.print_list((value.type, op.memory.type), printer.print_attribute)
