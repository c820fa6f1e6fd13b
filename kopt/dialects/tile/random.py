"""Random bits by number: a counter-based generator, so that every lane computes its own.

%a, %b, %c, %d = tile.philox %offset key %low, %high : !tile.tile<b0=128 x i32>
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import i32, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import operand_def, traits_def, var_result_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.definition import Op, irdl_op_definition
from kopt.dialects.formats import Infers
from kopt.dialects.tile.types import TileType, tile_type

#: The words that one counter gives.
WORDS = 4
_WORD = TileType([], i32)


@irdl_op_definition
class PhiloxOp(Infers, Op):
    """The four 32-bit words of Philox 4x32-10 for the counter in each lane, as i32.

    ``%a, %b, %c, %d = tile.philox %offset key %low, %high : T``: ``%offset`` is a tile of i32 or i64, whose number,
    as one of 64 bits with its sign, is the counter's low half; its high half is 0. ``%low`` and ``%high``, of rank 0,
    are the words of a 64-bit seed. The results are bit for bit the same on every target. Refuses offsets of other
    types: cast first.
    """

    name = "tile.philox"

    offset = operand_def(TileType)
    low = operand_def(_WORD)
    high = operand_def(_WORD)
    words = var_result_def(TileType)

    traits = traits_def(Pure())

    assembly_format = "$offset `key` $low `,` $high attr-dict `:` type($offset) custom<Infer>(type(results))"

    def __init__(self, offset: SSAValue | Operation, low: SSAValue | Operation, high: SSAValue | Operation):
        offset = SSAValue.get(offset)
        super().__init__(operands=[offset, low, high], result_types=[self.infer([offset.type], {})])

    @classmethod
    def infer(cls, operands: Sequence[Attribute], properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        offset = operands[0]
        assert isinstance(offset, TileType)
        return [offset.with_element(i32)] * WORDS

    def verify_(self) -> None:
        type = tile_type(self.offset)
        if type.element_type not in (i32, i64):
            raise VerifyException(f"tile.philox counts in i32 or i64, found {type.element_type}: cast first")
        self.check_results()


OPS = (PhiloxOp,)
