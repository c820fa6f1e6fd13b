"""Loads and stores, which say which lanes they must check."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ArrayAttr, MemRefType
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
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.definition import irdl_op_definition
from kopt.dialects.tile.index_list import Entry, split_entries
from kopt.dialects.tile.limits import Limits, join_limits, split_limits
from kopt.dialects.tile.memory import Access, ReadsMemory, WritesMemory, block_type
from kopt.dialects.tile.types import RangeType, TileType


class CheckedAccess(Access):
    """Base of all accesses: ``limits`` names, for each dimension of the block, the range to check."""

    custom_directives = (*Access.custom_directives, Limits)

    if TYPE_CHECKING:
        checked: Sequence[SSAValue]
        checks: ArrayAttr[Attribute]

    @property
    def limits(self) -> tuple[SSAValue | None, ...]:
        """The range to check for each dimension, or None."""
        return join_limits(self.checked, self.checks)

    def _verify_checked(self, value: Attribute) -> None:
        self._verify_access(value)
        assert isinstance(value, TileType)
        if len(self.limits) != value.rank:
            raise VerifyException(f"{self.name} needs one range or '_' for each dimension of {value}")
        for limit, dim in zip(self.limits, value.dims.data, strict=True):
            if limit is not None and isinstance(limit.type, RangeType) and limit.type.size != dim.size.data:
                raise VerifyException(f"{limit.type} cannot limit dimension {dim}")


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

    assembly_format = """
        custom<Indexed>($memory, $indices, type($indices), $layout)
        `in` custom<Limits>($checked, type($checked), $checks) (`mask` custom<Known>($mask, type($mask))^)?
        (`other` custom<Literal>($other)^)? custom<AccessId>($access) attr-dict `:` type($memory) `->` type($result)
        custom<Typed>(ref(type($memory)))
    """

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

    assembly_format = """
        $value `,` custom<Indexed>($memory, $indices, type($indices), $layout)
        `in` custom<Limits>($checked, type($checked), $checks) (`mask` custom<Known>($mask, type($mask))^)?
        custom<AccessId>($access) attr-dict `:` type($value) `,` type($memory)
    """

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
