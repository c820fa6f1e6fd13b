"""Numbers of lanes, which Triton does not check, and lanes of two blocks beside each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import IntAttr, IntegerType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.definition import Op, irdl_op_definition
from kopt.dialects.formats import Infers
from kopt.dialects.formats.directives import Same
from kopt.dialects.tile.types import DimAttr, TileType


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


@irdl_op_definition
class JoinOp(Infers, Op):
    """``tl.join``: the lanes of two blocks beside each other, in a new last dimension of 2.

    %v = triton.join %a, %b : !tile.tile<b0=8 x 64 x f32>      // a tile<b0=8 x 64 x 2 x f32>
    """

    name = "triton.join"

    first = operand_def(TileType)
    second = operand_def(TileType)
    result = result_def(TileType)

    traits = traits_def(Pure())

    custom_directives = (Same,)
    assembly_format = """
        $first `,` $second attr-dict `:` type($first) custom<Same>(type($second), ref(type($first)))
        custom<Infer>(type(results))
    """

    def __init__(self, first: SSAValue | Operation, second: SSAValue | Operation):
        values = SSAValue.get(first), SSAValue.get(second)
        super().__init__(operands=values, result_types=self.infer([value.type for value in values], {}))

    @classmethod
    def infer(cls, operands: Sequence[Attribute], properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        type = operands[0]
        assert isinstance(type, TileType)
        return [type.with_dims([*type.dims.data, DimAttr(2)])]

    def verify_(self) -> None:
        self.check_results()
        first, second = self.first.type, self.second.type
        if first != second:
            raise VerifyException(f"triton.join takes two blocks of one type, found {first}, {second}")
