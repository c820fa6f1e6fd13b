"""Extents that differ from call to call, as values: ``tile.dim``."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import IndexType, IntAttr, MemRefType, StringAttr
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import operand_def, opt_prop_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.definition import Op, irdl_op_definition
from kopt.dialects.tile.types import array_type
from kopt.open_extents import OpenExtent


@irdl_op_definition
class DimOp(Op):
    """The extent of an array along a dimension, MLIR's ``memref.dim``: ``%m = tile.dim %x 0 : memref<?x64xf32>``.

    It is a ``multiple`` of a number where that is stated. Ranges that walk the dimension have it as their limit.

        %m = tile.dim %x 0 multiple 128 : memref<?x64xf32>
    """

    name = "tile.dim"

    source = operand_def(MemRefType)
    dim = prop_def(IntAttr)
    multiple = opt_prop_def(IntAttr)
    result = result_def(IndexType())

    traits = traits_def(Pure())

    assembly_format = "$source custom<Int>($dim) (`multiple` custom<Int>($multiple)^)? attr-dict `:` type($source)"

    def __init__(self, source: SSAValue | Operation, dim: int, multiple: int = 1):
        properties = {"dim": IntAttr(dim), "multiple": IntAttr(multiple) if multiple != 1 else None}
        super().__init__(operands=[source], properties=properties, result_types=[IndexType()])

    @property
    def extent(self) -> int:
        """The extent in the array's type."""
        return array_type(self.source).get_shape()[self.dim.data]

    @property
    def divisor(self) -> int:
        """What the extent is a multiple of."""
        return 1 if self.multiple is None else self.multiple.data

    def verify_(self) -> None:
        if not 0 <= self.dim.data < len(array_type(self.source).get_shape()):
            raise VerifyException(f"{self.source.type} has no dimension {self.dim.data}")
        if self.divisor < 1:
            raise VerifyException(f"an extent is no multiple of {self.divisor}")


@irdl_op_definition
class ExtentOp(Op):
    """The same number without an array, where a launch is isolated from arrays: ``%m = tile.extent "x.size(0)"``.

    Its name is that of the argument's dimension.
    """

    name = "tile.extent"

    of = prop_def(StringAttr)
    multiple = opt_prop_def(IntAttr)
    result = result_def(IndexType())

    traits = traits_def(Pure())

    assembly_format = "$of (`multiple` custom<Int>($multiple)^)? attr-dict"

    def __init__(self, extent: OpenExtent):
        multiple = IntAttr(extent.multiple) if extent.multiple != 1 else None
        super().__init__(properties={"of": StringAttr(extent.name), "multiple": multiple}, result_types=[IndexType()])

    @property
    def extent(self) -> OpenExtent:
        """The extent, equal to that in types of its function."""
        return OpenExtent(self.of.data, multiple=self.divisor)

    @property
    def divisor(self) -> int:
        """What the extent is a multiple of."""
        return 1 if self.multiple is None else self.multiple.data

    def verify_(self) -> None:
        if self.divisor < 1:
            raise VerifyException(f"an extent is no multiple of {self.divisor}")


def extent_of(value: object) -> OpenExtent | None:
    """The open extent that a value is, of types of its function too; None for any other value."""
    op = value.owner if isinstance(value, SSAValue) else None
    if isinstance(op, DimOp) and not _is_there(op):
        return None  # which its verifier refuses
    return op.extent if isinstance(op, DimOp | ExtentOp) and isinstance(op.extent, OpenExtent) else None


def _is_there(op: DimOp) -> bool:
    type = op.source.type
    return "dim" in op.properties and isinstance(type, MemRefType) and 0 <= op.dim.data < len(type.get_shape())


def divisor_of(value: SSAValue) -> int:
    """What an extent is a multiple of: 1 of any other value."""
    return op.divisor if isinstance(op := value.owner, DimOp | ExtentOp) else 1


def argument_extents(arguments: Iterable[SSAValue]) -> dict[OpenExtent, tuple[SSAValue, int]]:
    """The open extents of a function's arguments, each with the first array that has it and the dimension."""
    found: dict[OpenExtent, tuple[SSAValue, int]] = {}
    for argument in arguments:
        for dim, extent in enumerate(argument.type.get_shape() if isinstance(argument.type, MemRefType) else ()):
            if isinstance(extent, OpenExtent):
                found.setdefault(extent, (argument, dim))
    return found


OPS = (DimOp, ExtentOp)
