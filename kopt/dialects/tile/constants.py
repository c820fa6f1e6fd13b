"""Ops that make tiles: of a literal, of a scalar, of numbered lanes; and the scalar of a tile."""

from __future__ import annotations

from xdsl.dialects.builtin import IntAttr, IntegerType, i1
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import ConstantLike, Pure
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.definition import Op, irdl_op_definition
from kopt.dialects.tile.traits import Canonicalized
from kopt.dialects.tile.types import TileType, tile_type
from kopt.dialects.tile.values import Literal, Typed, literal, literal_value


class _Constant(ConstantLike):
    @classmethod
    def get_constant_value(cls, op: Operation) -> Attribute | None:
        return op.value if isinstance(op, FullOp) else None


@irdl_op_definition
class FullOp(Op):
    """Every lane the same literal: ``%z = tile.full 0.0 : !tile.tile<b0=128 x f32>``."""

    name = "tile.full"

    value = prop_def(Attribute)
    result = result_def(TileType)

    traits = traits_def(Pure(), _Constant())

    custom_directives = (Literal, Typed)
    assembly_format = "custom<Literal>($value) attr-dict `:` type($result) custom<Typed>(ref(type($result)))"

    def __init__(self, value: Attribute | float | int, type: TileType):
        attr = value if isinstance(value, Attribute) else literal(value, type.element_type)
        super().__init__(properties={"value": attr}, result_types=[type])

    @property
    def number(self) -> float | int:
        """The literal as a Python number."""
        return literal_value(self.value)

    def verify_(self) -> None:
        if getattr(self.value, "type", None) != tile_type(self.result).element_type:
            raise VerifyException(f"tile.full of {self.value} cannot make {tile_type(self.result)}")


@irdl_op_definition
class SplatOp(Op):
    """Every lane the same scalar: ``tile.splat %s : i32 to !tile.tile<b0=128 x i32>``; ``index`` makes integers."""

    name = "tile.splat"

    scalar = operand_def()
    result = result_def(TileType)

    traits = traits_def(Pure(), Canonicalized())

    assembly_format = "$scalar attr-dict `:` type($scalar) `to` type($result)"

    def __init__(self, scalar: SSAValue | Operation, type: TileType):
        super().__init__(operands=[scalar], result_types=[type])

    def verify_(self) -> None:
        element = tile_type(self.result).element_type
        scalar = self.scalar.type
        if scalar != element and not (scalar.name == "index" and isinstance(element, IntegerType)):
            raise VerifyException(f"tile.splat of {scalar} cannot make {tile_type(self.result)}")


@irdl_op_definition
class ExtractOp(Op):
    """The scalar of a rank-0 tile: ``tile.extract %t : !tile.tile<i32> to index``. Integers may become ``index``."""

    name = "tile.extract"

    input = operand_def(TileType)
    result = result_def()

    traits = traits_def(Pure(), Canonicalized())

    assembly_format = "$input attr-dict `:` type($input) `to` type($result)"

    def __init__(self, input: SSAValue | Operation, type: Attribute):
        super().__init__(operands=[input], result_types=[type])

    def verify_(self) -> None:
        type = tile_type(self.input)
        if type.rank:
            raise VerifyException(f"tile.extract needs a tile of rank 0, found {type}")
        result = self.result.type
        if result != type.element_type and not (result.name == "index" and isinstance(type.element_type, IntegerType)):
            raise VerifyException(f"tile.extract of {type} cannot give {result}")


@irdl_op_definition
class ArangeOp(Op):
    """Lane numbers scaled: ``%t = tile.arange 3, 2 : !tile.tile<64 x i32>`` is 3, 5, 7, … over its one dimension."""

    name = "tile.arange"

    start = prop_def(IntAttr)
    step = prop_def(IntAttr)
    result = result_def(TileType)

    traits = traits_def(Pure())

    assembly_format = "custom<Int>($start) `,` custom<Int>($step) attr-dict `:` type($result)"

    def __init__(self, start: int, step: int, type: TileType):
        super().__init__(properties={"start": IntAttr(start), "step": IntAttr(step)}, result_types=[type])

    def verify_(self) -> None:
        type = tile_type(self.result)
        if type.rank != 1 or not isinstance(type.element_type, IntegerType) or type.element_type == i1:
            raise VerifyException(f"tile.arange makes one dimension of integers, found {type}")


OPS = (FullOp, SplatOp, ExtractOp, ArangeOp)
