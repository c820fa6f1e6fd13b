"""Which lanes of a value are there, as a value of its own."""

from __future__ import annotations

from xdsl.dialects.builtin import i1
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.definition import Op, irdl_op_definition
from kopt.dialects.tile.types import TileType, tile_type


@irdl_op_definition
class ValidLanesOp(Op):
    """Whether each lane of a tile was made from lanes inside their ranges only, wherever those have gone.

    A dimension with a tag does not need this op, since its range tells which lanes are valid. After a reshape, a
    concatenation or a pick, the type no longer names the ranges. ``resolve-validity`` computes the lanes then.

        %r = tile.reshape %v : !tile.tile<b0=4 x 6 x f32> to !tile.tile<24 x f32>
        %k = tile.valid_lanes %r : !tile.tile<24 x f32> to !tile.tile<24 x i1>
    """

    name = "tile.valid_lanes"

    input = operand_def(TileType)
    result = result_def(TileType)

    traits = traits_def(Pure())

    assembly_format = "$input attr-dict `:` type($input) `to` type($result)"

    def __init__(self, input: SSAValue | Operation):
        input = SSAValue.get(input)
        super().__init__(operands=[input], result_types=[tile_type(input).with_element(i1)])

    def verify_(self) -> None:
        expected = tile_type(self.input).with_element(i1)
        if self.result.type != expected:
            raise VerifyException(f"tile.valid_lanes gives {expected}, found {self.result.type}")


OPS = (ValidLanesOp,)
