"""Lanes of a dimension in order: ``%v, %n = tile.sort %x dim 1 descending : !tile.tile<b0=8 x 64 x f32>``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import FixedBitwidthType, IntAttr, UnitAttr, i1, i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.definition import Op, irdl_op_definition
from kopt.dialects.formats import Infers
from kopt.dialects.tile.reductions import neutral
from kopt.dialects.tile.types import TileType, tile_type
from kopt.dialects.tile.values import is_float


@irdl_op_definition
class SortOp(Infers, Op):
    """The lanes of one dimension in increasing (or ``descending``) order, and the number (i32) that each lane had.

    Stable: equal lanes stay in their order. NaN is above every number, as in torch. Lanes outside their range are last.

        %v, %n = tile.sort %x dim 1 : !tile.tile<b0=8 x 64 x f32>   // -> T, !tile.tile<b0=8 x 64 x i32>
    """

    name = "tile.sort"

    input = operand_def(TileType)
    dim = prop_def(IntAttr)
    descending = opt_prop_def(UnitAttr)
    sorted = result_def(TileType)
    numbers = result_def(TileType)

    traits = traits_def(Pure())

    assembly_format = """
        $input `dim` custom<Int>($dim) (`descending` $descending^)? attr-dict `:` type($input)
        custom<Infer>(type(results))
    """

    def __init__(self, input: SSAValue | Operation, dim: int, descending: bool = False):
        input = SSAValue.get(input)
        super().__init__(
            operands=[input],
            properties={"dim": IntAttr(dim), "descending": UnitAttr() if descending else None},
            result_types=self.infer([input.type], {}),
        )

    @classmethod
    def infer(cls, operands: Sequence[Attribute], properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        input = operands[0]
        assert isinstance(input, TileType)
        return [input, input.with_element(i32)]

    @property
    def last(self) -> float | int:
        """A value that no other comes after."""
        type = tile_type(self.input)
        if self.descending is None and is_float(type.element_type):
            return float("nan")
        return neutral("min" if self.descending is None else "max", type.element_type)

    def verify_(self) -> None:
        type = tile_type(self.input)
        if not 0 <= self.dim.data < type.rank:
            raise VerifyException(f"{type} has no dimension {self.dim.data}")
        if type.element_type == i1:
            raise VerifyException("tile.sort orders numbers, found predicates: cast first")
        if not isinstance(type.element_type, FixedBitwidthType):
            raise VerifyException(f"tile.sort orders integers or floats, found {type.element_type}")
        self.check_results()


OPS = (SortOp,)
