"""Numbers of lanes, which Triton does not check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import IntAttr, IntegerType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.definition import Op, irdl_op_definition
from kopt.dialects.formats import Infers
from kopt.dialects.tile.types import TileType


@irdl_op_definition
class BoundedOp(Infers, Op):
    """Lane numbers, and 0 in place of those that are negative or not below a limit.

    %picks = triton.bounded %n below 8 : !tile.tile<4 x i32>
    """

    name = "triton.bounded"

    input = operand_def(TileType)
    limit = prop_def(IntAttr)
    result = result_def(TileType)

    traits = traits_def(Pure())

    assembly_format = "$input `below` custom<Int>($limit) attr-dict `:` type($input) custom<Infer>(type(results))"

    def __init__(self, input: SSAValue | Operation, limit: int):
        input = SSAValue.get(input)
        super().__init__(operands=[input], properties={"limit": IntAttr(limit)}, result_types=[input.type])

    @classmethod
    def infer(cls, operands: Sequence[Attribute], properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        return operands

    def verify_(self) -> None:
        self.check_results()
        if self.limit.data < 1:
            raise VerifyException(f"triton.bounded needs a lane to stay at, found the limit {self.limit.data}")
        type = self.input.type
        if not isinstance(type, TileType) or not isinstance(type.element_type, IntegerType):
            raise VerifyException(f"triton.bounded takes lane numbers, found {type}")
