"""The loop over one range in order: ``tile.for``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Self

from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, IndexType
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import RecursiveMemoryEffect, SingleBlockImplicitTerminator
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.definition import irdl_op_definition
from kopt.dialects.formats.integers import int_array, ints_of
from kopt.dialects.tile.bodies import (
    CarryingLoop,
    YieldOp,
    ensure_yield,
    parse_binding,
    parse_carries,
    parse_optional_index,
    print_binding,
    print_body,
    print_carries,
    verify_carries,
)
from kopt.dialects.tile.plan_attr import ScheduleAttr, parse_schedule, print_schedule
from kopt.dialects.tile.traits import Canonicalized
from kopt.dialects.tile.types import RangeType


@irdl_op_definition
class ForOp(CarryingLoop):
    """Runs its body for each block of one range, in order, carrying values from visit to visit.

    The bounds are numbers or ``index`` values. With no visits the results are the initial values. ``schedule`` says how
    the loop runs and how its blocks arrive, once a pass has chosen that (``docs/plans.md``):
    ``schedule resident peel(full | diagonal) unroll 2``.

        %r = tile.for %k: b2=64 in (0, %n) iter(%a = %z) -> (!tile.tile<b0=128 x f32>) {
          …
          tile.yield %next : !tile.tile<b0=128 x f32>
        }
    """

    name = "tile.for"

    static_bounds = prop_def(DenseArrayBase)
    bounds_operands = var_operand_def(IndexType())
    inits = var_operand_def()
    schedule = opt_prop_def(ScheduleAttr)
    results_ = var_result_def()
    body = region_def("single_block")

    traits = traits_def(RecursiveMemoryEffect(), SingleBlockImplicitTerminator(YieldOp), Canonicalized())

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        lower: SSAValue | int,
        upper: SSAValue | int,
        inits: Sequence[SSAValue],
        body: Region | RangeType,
        schedule: ScheduleAttr | None = None,
        attributes: Mapping[str, Attribute | None] | None = None,
    ):
        bounds = (lower, upper)
        static = [bound if isinstance(bound, int) else DYNAMIC_INDEX for bound in bounds]
        dynamic = [bound for bound in bounds if not isinstance(bound, int)]
        types = [value.type for value in inits]
        region = body if isinstance(body, Region) else Region(Block(arg_types=[body, *types]))
        super().__init__(
            operands=[dynamic, inits],
            properties={"static_bounds": int_array(static), "schedule": schedule},
            attributes=attributes,
            regions=[region],
            result_types=[types],
        )

    @property
    def bounds(self) -> tuple[SSAValue | int, SSAValue | int]:
        """First element and limit: a number each, or an ``index`` value."""
        operands: Iterator[SSAValue] = iter(self.bounds_operands)
        lower, upper = (next(operands) if number == DYNAMIC_INDEX else number for number in ints_of(self.static_bounds))
        return lower, upper

    def verify_(self) -> None:
        verify_carries(self)
        static = ints_of(self.static_bounds)
        if len(static) != 2 or static.count(DYNAMIC_INDEX) != len(self.bounds_operands):
            raise VerifyException("tile.for walks from one bound to another")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        range = parse_binding(parser)
        parser.parse_keyword("in")
        bounds = parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: _parse_bound(parser))
        if len(bounds) != 2:
            parser.raise_error("tile.for walks from one bound to another: (lower, upper)")
        carried, inits = parse_carries(parser)
        schedule = parse_schedule(parser)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        region = parser.parse_region([range, *carried])
        ensure_yield(region)
        return cls(bounds[0], bounds[1], inits, region, schedule, attributes.data if attributes else None)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_binding(printer, self.range)
        printer.print_string(" in (")
        printer.print_list(self.bounds, lambda bound: _print_bound(printer, bound))
        printer.print_string(")")
        print_carries(printer, self)
        print_schedule(printer, self.schedule)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        print_body(printer, self.body, print_terminator=bool(self.inits))


def _parse_bound(parser: Parser) -> SSAValue | int:
    value = parse_optional_index(parser)
    return parser.parse_integer() if value is None else value


def _print_bound(printer: Printer, bound: SSAValue | int) -> None:
    if isinstance(bound, int):
        printer.print_string(str(bound))
    else:
        printer.print_ssa_value(bound)


OPS = (ForOp,)
