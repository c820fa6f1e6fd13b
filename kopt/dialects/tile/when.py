"""Code for the first or the last visit of ranges: ``tile.when``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.irdl import prop_def, region_def, traits_def, var_operand_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoTerminator, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.definition import Op, irdl_op_definition
from kopt.dialects.tile.bodies import print_body
from kopt.dialects.tile.traits import Canonicalized
from kopt.dialects.tile.types import RangeType

#: Says of an ``scf.if`` that its first branch is for numbers that are never there as a rule: costs leave it out.
UNLIKELY = "tile.unlikely"


@irdl_op_definition
class WhenOp(Op):
    """Runs its body on the first or the last visit of some ranges. Only the printer turns that into a condition.

    tile.when first(%k) {
      …
    }
    """

    name = "tile.when"

    visit = prop_def(StringAttr)
    ranges = var_operand_def(RangeType)
    body = region_def("single_block")

    traits = traits_def(RecursiveMemoryEffect(), NoTerminator(), Canonicalized())

    def __init__(
        self,
        visit: str,
        ranges: Sequence[SSAValue],
        body: Region | None = None,
        attributes: Mapping[str, Attribute | None] | None = None,
    ):
        super().__init__(
            operands=[ranges],
            properties={"visit": StringAttr(visit)},
            regions=[body or Region(Block())],
            attributes=attributes,
        )

    def verify_(self) -> None:
        if self.visit.data not in ("first", "last"):
            raise VerifyException(f"tile.when tells first or last visits, found '{self.visit.data}'")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        visit = parser.parse_identifier()
        ranges = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_operand)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        region = parser.parse_region()
        if not region.blocks:
            region.add_block(Block())
        return cls(visit, ranges, region, attributes.data if attributes else None)

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.visit.data}(")
        printer.print_list(self.ranges, printer.print_ssa_value)
        printer.print_string(")")
        printer.print_op_attributes(self.attributes, print_keyword=True)
        print_body(printer, self.body, print_terminator=True)


OPS = (WhenOp,)
