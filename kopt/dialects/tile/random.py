"""Random bits by number: a counter-based generator, so that every lane computes its own.

%a, %b, %c, %d = tile.philox %offset key %low, %high : !tile.tile<b0=128 x i32>
"""

from __future__ import annotations

from typing import Self

from xdsl.dialects.builtin import i32, i64
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import operand_def, traits_def, var_result_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.definition import Op, irdl_op_definition
from kopt.dialects.tile.types import TileType, parse_tile_type

#: The words that one counter gives.
WORDS = 4
_WORD = TileType([], i32)


@irdl_op_definition
class PhiloxOp(Op):
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

    def __init__(self, offset: SSAValue | Operation, low: SSAValue | Operation, high: SSAValue | Operation):
        offset = SSAValue.get(offset)
        assert isinstance(offset.type, TileType)
        super().__init__(operands=[offset, low, high], result_types=[[offset.type.with_element(i32)] * WORDS])

    def verify_(self) -> None:
        type = self.offset.type
        assert isinstance(type, TileType)
        if type.element_type not in (i32, i64):
            raise VerifyException(f"tile.philox counts in i32 or i64, found {type.element_type}: cast first")
        if [word.type for word in self.words] != [type.with_element(i32)] * WORDS:
            raise VerifyException(f"tile.philox gives {WORDS} tiles of {type.with_element(i32)}")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        offset = parser.parse_unresolved_operand()
        parser.parse_keyword("key")
        low = parser.parse_operand()
        parser.parse_punctuation(",")
        high = parser.parse_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        op = cls(parser.resolve_operand(offset, parse_tile_type(parser)), low, high)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.offset)
        printer.print_string(" key ")
        printer.print_list((self.low, self.high), printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.offset.type)


OPS = (PhiloxOp,)
