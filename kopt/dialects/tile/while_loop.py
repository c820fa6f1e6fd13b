"""The loop without a range: ``tile.while`` runs its body as long as a condition holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.irdl import operand_def, region_def, traits_def, var_operand_def, var_result_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.definition import irdl_op_definition
from kopt.dialects.tile.bodies import Carrying, YieldOp, parse_carries, print_body, print_carries, verify_carried_types


@irdl_op_definition
class WhileOp(Carrying):
    """Runs its body as long as a condition holds, carrying values from visit to visit.

    ``%go`` says whether there is a first visit. The first value that the body yields says whether there is another.
    Without a visit the results are the initial values.

        %r = tile.while %go iter(%a = %z) -> (!tile.tile<b0=128 x f32>) {
          …
          tile.yield %more, %next : i1, !tile.tile<b0=128 x f32>
        }
    """

    name = "tile.while"

    condition = operand_def(i1)
    inits = var_operand_def()
    results_ = var_result_def()
    body = region_def("single_block")

    traits = traits_def(RecursiveMemoryEffect())

    def __init__(
        self,
        condition: SSAValue,
        inits: Sequence[SSAValue],
        body: Region | None = None,
        attributes: Mapping[str, Attribute | None] | None = None,
    ):
        types = [value.type for value in inits]
        super().__init__(
            operands=[condition, inits],
            regions=[body or Region(Block(arg_types=types))],
            result_types=[types],
            attributes=attributes,
        )

    @property
    def yielded(self) -> tuple[SSAValue, ...]:
        """The carried values that the body passes on."""
        return super().yielded[1:]

    @property
    def more(self) -> SSAValue:
        """Whether there is another visit."""
        return super().yielded[0]

    def verify_(self) -> None:
        last = self.body.block.last_op
        if not isinstance(last, YieldOp) or not last.operands or last.operands[0].type != i1:
            raise VerifyException("tile.while yields first whether there is another visit, of type i1")
        verify_carried_types(self)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        condition = parser.parse_operand()
        carried, inits = parse_carries(parser)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        region = parser.parse_region(carried)
        return cls(condition, inits, region, attributes.data if attributes else None)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.condition)
        print_carries(printer, self)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        print_body(printer, self.body, print_terminator=True)


OPS = (WhileOp,)
