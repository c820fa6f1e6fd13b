"""Atomic updates, seen by all programs of the GPU."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

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

from kopt.dialects.atomic import verify_cas, verify_rmw
from kopt.dialects.definition import irdl_op_definition
from kopt.dialects.tile.index_list import Entry, split_entries
from kopt.dialects.tile.limits import split_limits
from kopt.dialects.tile.memory import ReadsMemory, WritesMemory
from kopt.dialects.tile.types import RangeType, TileType
from kopt.dialects.triton.memory import CheckedAccess


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
    ordering = prop_def(StringAttr, default_value=StringAttr("relaxed"))
    previous = var_result_def(TileType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(ReadsMemory(), WritesMemory())

    assembly_format = """
        custom<Word>($kind) $value `,` custom<Indexed>($memory, $indices, type($indices), $layout)
        `in` custom<Limits>($checked, type($checked), $checks) (`mask` custom<Known>($mask, type($mask))^)?
        (`ordering` custom<Word>($ordering)^)? custom<AccessId>($access) attr-dict
        `:` type($value) `,` type($memory) (`->` type($previous)^)?
    """

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
    ordering = prop_def(StringAttr, default_value=StringAttr("relaxed"))
    previous = result_def(TileType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(ReadsMemory(), WritesMemory())

    assembly_format = """
        custom<Known>($expected, type($expected)) `,` $desired `,`
        custom<Indexed>($memory, $indices, type($indices), $layout)
        `in` custom<Limits>($checked, type($checked), $checks) (`mask` custom<Known>($mask, type($mask))^)?
        (`ordering` custom<Word>($ordering)^)? custom<AccessId>($access) attr-dict
        `:` type($desired) `,` type($memory) custom<Same>(type($previous), ref(type($desired)))
    """

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
