"""The grid: the parallel loop that a launch runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, IndexType, MemRefType, i32
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import RecursiveMemoryEffect, SingleBlockImplicitTerminator
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.definition import Op, irdl_op_definition
from kopt.dialects.formats.integers import int_array, ints_of, parse_ints, print_ints
from kopt.dialects.tile.bodies import (
    YieldOp,
    ensure_yield,
    parse_binding,
    parse_optional_index,
    print_binding,
    print_body,
)
from kopt.dialects.tile.extents import extent_of
from kopt.dialects.tile.plan_attr import PlanAttr
from kopt.dialects.tile.plan_directive import parse_plan, print_plan
from kopt.dialects.tile.planned import verify_plan
from kopt.dialects.tile.traits import Canonicalized
from kopt.dialects.tile.types import RangeType
from kopt.open_extents import OpenExtent


@irdl_op_definition
class GridOp(Op):
    """Runs its body for every combination of blocks of its ranges, in no order: one launch on the device.

    ``in`` gives the extent of each range, or ``lo to hi`` where it does not start at 0. Cells may run at the same time.
    So none may depend on what another writes, except by atomics. Cells along a ``reduce`` dimension run from the first
    visit to the last, with no others in between. Cells along an ``ordered`` dimension run in order too.

        tile.grid (%i: b0=128, %j: b1=64) in (1000, 2 to 300) {
          …
        }

    An extent that differs from call to call is an ``index`` value, ``tile.dim``: ``in (%m, 300)``.

    ``plan`` says how the launch reaches its arrays, once that is decided (``docs/plans.md``). Its arrays are the
    operands ``planned``. Accesses name its buffers, ``via @x``. A plan does not change what is computed.

        tile.grid (%i: b0=128) in (1000) plan {order [i] parallel [i]
            @x = %x window(i) x2} {
          %v = tile.load %x[%i, :] via @x : memref<1000x64xf32> -> !tile.tile<b0=128 x 64 x f32>
        }
    """

    name = "tile.grid"

    limits_operands = var_operand_def(IndexType())
    planned = var_operand_def(MemRefType)
    plan = opt_prop_def(PlanAttr)
    lower = prop_def(DenseArrayBase)
    upper = prop_def(DenseArrayBase)
    reduce = opt_prop_def(DenseArrayBase)
    ordered = opt_prop_def(DenseArrayBase)
    body = region_def("single_block")

    traits = traits_def(RecursiveMemoryEffect(), SingleBlockImplicitTerminator(YieldOp), Canonicalized())

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        upper: Sequence[SSAValue | int],
        body: Region | Sequence[RangeType],
        lower: Sequence[int] | None = None,
        reduce: Sequence[int] = (),
        ordered: Sequence[int] = (),
        attributes: Mapping[str, Attribute | None] | None = None,
        plan: PlanAttr | None = None,
        planned: Sequence[SSAValue] = (),
    ):
        region = body if isinstance(body, Region) else Region(Block(arg_types=body))
        # Here and not in __post_init__, which also runs on clones, whose regions are filled later.
        ensure_yield(region)
        super().__init__(
            operands=[[limit for limit in upper if isinstance(limit, SSAValue)], planned],
            regions=[region],
            properties={
                "plan": plan,
                "lower": int_array(lower if lower is not None else [0] * len(upper)),
                "upper": int_array([DYNAMIC_INDEX if isinstance(limit, SSAValue) else limit for limit in upper]),
                "reduce": int_array(reduce) if reduce else None,
                "ordered": int_array(ordered) if ordered else None,
            },
            attributes=attributes,
        )

    @property
    def ranges(self) -> tuple[SSAValue, ...]:
        """The ranges that the grid binds."""
        return tuple(self.body.block.args)

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags of its ranges."""
        return tuple(range.type.tag for range in self.ranges if isinstance(range.type, RangeType))

    @property
    def bounds(self) -> tuple[tuple[int, int], ...]:
        """First element and limit of each range, as numbers: an open extent where the limit is a value."""
        upper = [_extent(limit) if isinstance(limit, SSAValue) else limit for limit in self.limits]
        return tuple(zip(ints_of(self.lower), upper, strict=True))

    @property
    def limits(self) -> tuple[SSAValue | int, ...]:
        """The limit of each range: a number, or an ``index`` value."""
        operands = iter(self.limits_operands)
        return tuple(next(operands) if number == DYNAMIC_INDEX else number for number in ints_of(self.upper))

    def plan_by(self, plan: PlanAttr | None, planned: Sequence[SSAValue] = ()) -> None:
        """Gives the grid a plan, of arrays, in the place of the one that it has."""
        limits = list(self.limits_operands)
        self.plan, self.operands = plan, [*limits, *planned]
        self.properties["operandSegmentSizes"] = DenseArrayBase.from_list(i32, [len(limits), len(planned)])

    @property
    def reduction_dims(self) -> tuple[int, ...]:
        """The grid dimensions whose cells combine into one result."""
        return ints_of(self.reduce) if self.reduce is not None else ()

    @property
    def ordered_dims(self) -> tuple[int, ...]:
        """The grid dimensions whose cells run in order."""
        return ints_of(self.ordered) if self.ordered is not None else ()

    def verify_(self) -> None:
        outer = self.parent_op()
        while outer is not None and not isinstance(outer, GridOp):
            outer = outer.parent_op()
        if outer is not None:
            raise VerifyException("a grid stands in no other: nest a tile.for")
        if len(self.lower) != len(self.upper) or len(self.upper) != len(self.ranges):
            raise VerifyException(f"tile.grid binds {len(self.ranges)} ranges in {len(self.upper)} extents")
        if ints_of(self.upper).count(DYNAMIC_INDEX) != len(self.limits_operands):
            raise VerifyException("tile.grid has a value for each extent that is no number")
        for range, lower, upper in zip(self.ranges, ints_of(self.lower), self.limits, strict=True):
            if not isinstance(range.type, RangeType):
                raise VerifyException(f"tile.grid binds ranges, found {range.type}")
            if isinstance(upper, SSAValue):
                if lower:
                    raise VerifyException(f"tile.grid walks from 0 to an extent that is no number, found {lower}")
            elif not 0 <= lower <= upper:
                raise VerifyException(f"tile.grid cannot walk from {lower} to {upper}")
        if any(not 0 <= dim < len(self.ranges) for dim in (*self.reduction_dims, *self.ordered_dims)):
            raise VerifyException("reduce and ordered list dimensions of the grid")
        verify_plan(self)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        ranges = parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: parse_binding(parser))
        parser.parse_keyword("in")
        extents = parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: _parse_extent(parser))
        reduce = parse_ints(parser) if parser.parse_optional_keyword("reduce") else ()
        ordered = parse_ints(parser) if parser.parse_optional_keyword("ordered") else ()
        draft = parse_plan(parser)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        region = parser.parse_region(ranges)
        lower, upper = [lo for lo, _ in extents], [hi for _, hi in extents]
        op = cls(upper, region, lower, reduce, ordered, attributes.data if attributes else None)
        if draft is not None:
            op.plan_by(draft.settled(region), draft.operands)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" (")
        printer.print_list(self.ranges, lambda range: print_binding(printer, range))
        printer.print_string(") in (")
        printer.print_list(zip(ints_of(self.lower), self.limits, strict=True), lambda b: _print_extent(printer, *b))
        printer.print_string(")")
        for name, dims in (("reduce", self.reduction_dims), ("ordered", self.ordered_dims)):
            if dims:
                printer.print_string(f" {name} ")
                print_ints(printer, dims)
        print_plan(printer, self)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        print_body(printer, self.body, print_terminator=False)


def _extent(limit: SSAValue) -> OpenExtent:
    extent = extent_of(limit)
    return OpenExtent(limit.name_hint or "that %walks") if extent is None else extent


def _print_extent(printer: Printer, lower: int, upper: SSAValue | int) -> None:
    if isinstance(upper, SSAValue):
        printer.print_ssa_value(upper)
    else:
        printer.print_string(f"{lower} to {upper}" if lower else str(upper))


def _parse_extent(parser: Parser) -> tuple[int, SSAValue | int]:
    if (value := parse_optional_index(parser)) is not None:
        return 0, value
    number = parser.parse_integer()
    return (number, parser.parse_integer()) if parser.parse_optional_keyword("to") else (0, number)


OPS = (GridOp,)
