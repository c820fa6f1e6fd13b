"""Words of 32 bits that hold rows of narrower elements: how vector registers of a TPU pack them."""

from __future__ import annotations

from xdsl.dialects.builtin import FixedBitwidthType, f16, i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.definition import Op, irdl_op_definition
from kopt.dialects.tile.types import TileType, tile_type

_WORD = 32


def elements_of_a_word(element: Attribute) -> int:
    """How many elements of a type a word holds: 2 of 16 bits, 4 of 8; 1 of any other, and of f16, which no TPU has."""
    bits = element.bitwidth if isinstance(element, FixedBitwidthType) and element != f16 else _WORD
    return _WORD // bits if bits in (8, 16) else 1


@irdl_op_definition
class BitcastRowsOp(Op):
    """``pltpu.bitcast``: each row of 32-bit words read as 2 rows of 16-bit elements, or 4 of 8-bit ones.

    Row ``k * i + j`` of the result has the ``j``-th elements of the words of row ``i``, the lowest bits first. Nothing
    moves: registers pack rows that way. Dimensions but the last two stay.

        %v = pallas.bitcast %w : !tile.tile<8 x 128 x i32> to !tile.tile<16 x 128 x bf16>
    """

    name = "pallas.bitcast"

    input = operand_def(TileType)
    result = result_def(TileType)

    traits = traits_def(Pure())

    assembly_format = "$input attr-dict `:` type($input) `to` type($result)"

    def __init__(self, input: SSAValue | Operation, type: TileType):
        super().__init__(operands=[SSAValue.get(input)], result_types=[type])

    def verify_(self) -> None:
        source, target = tile_type(self.input), tile_type(self.result)
        count = elements_of_a_word(target.element_type)
        if source.element_type != i32 or count == 1 or source.rank < 2 or source.rank != target.rank:
            raise VerifyException(f"pallas.bitcast reads i32 as 8 or 16 bits, found {source} to {target}")
        *outer, rows, lanes = source.dims.data
        if (*target.dims.data[:-2], target.dims.data[-1]) != (*outer, lanes) or target.shape[
            -2
        ] != count * rows.size.data:
            raise VerifyException(f"pallas.bitcast makes {count} rows of each, found {source} to {target}")
