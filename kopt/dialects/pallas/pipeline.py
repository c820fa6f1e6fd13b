"""A pipelined loop: blocks of arrays in HBM arrive and leave while other blocks are computed with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from xdsl.dialects.builtin import ArrayAttr, IndexType
from xdsl.ir import Block, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoTerminator, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.definition import Op, irdl_op_definition
from kopt.dialects.definition.effects import effects
from kopt.dialects.pallas.window import WindowAttr, parse_window, verify_window
from kopt.dialects.tile.for_loop import ForOp
from kopt.dialects.tile.types import RefType


@irdl_op_definition
class PipelineOp(Op):
    """One `pltpu.emit_pipeline`: the blocks that its `tile.for` reads and writes move while others are computed with.

    ``reads`` and ``writes`` are refs in HBM, with a window each. The number of a window's block is a function of
    the number of the loop's block (``d0``) and of the ``index`` values after ``at`` (``s0``, …). The body's
    arguments are the blocks on the chip, those that are read first. The body is one `tile.for` of schedule
    ``emit_pipeline`` that carries nothing: what passes from visit to visit lives in scratch memory. The body may use
    any value from outside. A block that is written is undefined until the body has put it, and leaves when its visit is
    over.

        pallas.pipeline reads (%x_ref) writes (%out_ref) at (%n) windows
            [<[8, 128], (d0)[s0] -> (s0, d0), vmem>, …] : !tile.ref<64 x 512 x f32, hbm>, … {
        ^bb0(%x_block: !tile.ref<8 x 128 x f32, vmem>, %out_block: !tile.ref<8 x 128 x f32, vmem>):
          tile.for %k: b1=128 in (0, 512) schedule emit_pipeline {
            %v = tile.get %x_block[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<b0=8 x b1=128 x f32>
            …
          }
        }
    """

    name = "pallas.pipeline"

    reads = var_operand_def(RefType)
    writes = var_operand_def(RefType)
    at = var_operand_def(IndexType())
    windows = prop_def(ArrayAttr[WindowAttr])
    body = region_def("single_block")

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(NoTerminator(), effects(read="reads", write="writes"), RecursiveMemoryEffect())

    def __init__(
        self,
        reads: Sequence[SSAValue],
        writes: Sequence[SSAValue],
        at: Sequence[SSAValue],
        windows: Sequence[WindowAttr],
        body: Region,
    ):
        super().__init__(
            operands=[reads, writes, at],
            properties={"windows": ArrayAttr(windows)},
            regions=[body],
        )

    @property
    def loop(self) -> ForOp:
        """The loop that walks the blocks."""
        loop = self.body.block.first_op
        assert isinstance(loop, ForOp)
        return loop

    @property
    def blocks(self) -> tuple[SSAValue, ...]:
        """The refs of the blocks on the chip: of what is read, then of what is written."""
        return tuple(self.body.block.args)

    def verify_(self) -> None:
        ops = list(self.body.block.ops)
        if len(ops) != 1 or not isinstance(ops[0], ForOp) or ops[0].inits:
            raise VerifyException("the body of pallas.pipeline is one tile.for that carries nothing")
        arrays = [*self.reads, *self.writes]
        if not len(arrays) == len(self.windows.data) == len(self.blocks):
            raise VerifyException(f"pallas.pipeline needs a window and a block for each of its {len(arrays)} refs")
        for array, block, window in zip(arrays, self.blocks, self.windows.data, strict=True):
            assert isinstance(array.type, RefType)
            if array.type.space.data != "hbm" or window.space.data != "vmem":
                raise VerifyException(f"a pipeline moves blocks between hbm and vmem, found {array.type} and {window}")
            verify_window(array.type, block.type, window, 1, len(self.at))

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        reads, writes, at = (_parse_values(parser, word) for word in ("reads", "writes", "at"))
        parser.parse_keyword("windows")
        windows = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_window(parser))
        parser.parse_punctuation(":")
        parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        op = cls(reads, writes, at, windows, Region(Block()))
        op.detach_region(0)
        op.add_region(parser.parse_region())
        op.attributes |= attributes.data if attributes else {}
        return op

    def print(self, printer: Printer) -> None:
        for word, values in (("reads", self.reads), ("writes", self.writes), ("at", self.at)):
            if values:
                printer.print_string(f" {word} ")
                with printer.in_parens():
                    printer.print_list(values, printer.print_ssa_value)
        printer.print_string(" windows [")
        printer.print_list(self.windows.data, lambda window: window.print_parameters(printer))
        printer.print_string("] : ")
        printer.print_list([ref.type for ref in (*self.reads, *self.writes)], printer.print_attribute)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body)


def _parse_values(parser: Parser, word: str) -> list[SSAValue]:
    if not parser.parse_optional_keyword(word):
        return []
    return parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_operand)
