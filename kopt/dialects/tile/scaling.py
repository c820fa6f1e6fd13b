"""Operands of scaled products: matrices whose groups of neighbours have a scale."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float16Type,
    IntAttr,
    IntegerType,
    Signedness,
    StringAttr,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.definition import Op, irdl_op_definition
from kopt.dialects.tile.types import DimAttr, TileType, tile_type

_BYTE = IntegerType(8, Signedness.UNSIGNED)
#: The element types that hold each format; a byte holds two numbers of ``e2m1``, the first in its low half.
SCALED_FORMATS: dict[str, Attribute] = {
    "e2m1": _BYTE,
    "e4m3": Float8E4M3FNType(),
    "e5m2": Float8E5M2Type(),
    "bf16": BFloat16Type(),
    "fp16": Float16Type(),
}
#: What scales are: exponents of two with a bias of 127 (e8m0, 255 is NaN), or numbers themselves.
SCALES: tuple[Attribute, ...] = (_BYTE, Float8E4M3FNType())


@irdl_op_definition
class ScalingExtfOp(Op):
    """Widens a matrix of small numbers, each times the scale of its group: MLIR's ``arith.scaling_extf``, of groups.

    Groups are equally many neighbours along ``dim``, the dimension that a product sums over. ``scale`` has a row for
    each row of a left operand (``dim 1``), or for each column of a right one (``dim 0``), with a scale a group. Two
    numbers of ``e2m1`` stand in one byte, so the result has twice as many along ``dim``.

        %w = tile.scaling_extf e2m1 %v, %s dim 1 : !tile.tile<b0=128 x 32 x ui8>, !tile.tile<b0=128 x 2 x ui8> to
            !tile.tile<b0=128 x 64 x bf16>
    """

    name = "tile.scaling_extf"

    format = prop_def(StringAttr)
    input = operand_def(TileType)
    scale = operand_def(TileType)
    dim = prop_def(IntAttr)
    result = result_def(TileType)

    traits = traits_def(Pure())

    assembly_format = """
        custom<Keyword>($format) $input `,` $scale `dim` custom<Int>($dim) attr-dict
        `:` type($input) `,` type($scale) `to` type($result)
    """

    def __init__(
        self,
        format: str,
        input: SSAValue | Operation,
        scale: SSAValue | Operation,
        dim: int,
        element_type: Attribute,
    ):
        type = tile_type(SSAValue.get(input))
        super().__init__(
            operands=[input, scale],
            properties={"format": StringAttr(format), "dim": IntAttr(dim)},
            result_types=[TileType(_widened(type, dim, numbers_each(format)), element_type)],
        )

    @property
    def numbers_each(self) -> int:
        """How many numbers an element of the input holds."""
        return numbers_each(self.format.data)

    @property
    def group(self) -> int:
        """How many neighbours have one scale."""
        return tile_type(self.result).shape[self.dim.data] // tile_type(self.scale).shape[1]

    def verify_(self) -> None:
        value, scale, result = map(tile_type, (self.input, self.scale, self.result))
        format, dim = self.format.data, self.dim.data
        if SCALED_FORMATS.get(format) != value.element_type or scale.element_type not in SCALES:
            raise VerifyException(
                f"tile.scaling_extf takes one of {', '.join(SCALED_FORMATS)} with scales in ui8 or f8E4M3FN, "
                f"found {format} in {value} and {scale}"
            )
        if value.rank != 2 or scale.rank != 2 or dim not in (0, 1):
            raise VerifyException(f"tile.scaling_extf takes matrices, found {value} and {scale} along {dim}")
        if result.dims.data != tuple(_widened(value, dim, self.numbers_each)):
            raise VerifyException(f"tile.scaling_extf {format} along {dim} cannot make {result} of {value}")
        if scale.dims.data[0] != value.dims.data[1 - dim] or result.shape[dim] % max(scale.shape[1], 1):
            raise VerifyException(f"{scale} has no scale for each group of {result} along {dim}")


def numbers_each(format: str) -> int:
    """How many numbers of a format an element holds."""
    return 2 if format == "e2m1" else 1


def _widened(type: TileType, dim: int, times: int) -> Sequence[DimAttr]:
    return [DimAttr(d.size.data * times) if n == dim and times > 1 else d for n, d in enumerate(type.dims.data)]


OPS = (ScalingExtfOp,)
