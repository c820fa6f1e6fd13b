"""Loops of the ``tile`` dialect: the parallel `grid`, the sequential `for`, and `when` a visit is first or last.

Each loop binds ranges. A range's tag names that binding alone: it is unique in its function, and every use of
the tag in a type lies inside the loop's region.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Self

from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, IndexType, MemRefType, StringAttr, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
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
from xdsl.traits import (
    IsTerminator,
    NoTerminator,
    Pure,
    RecursiveMemoryEffect,
    SingleBlockImplicitTerminator,
)
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.definition import Op, irdl_op_definition
from kopt.dialects.tile.integers import int_array, ints_of, parse_ints, print_ints
from kopt.dialects.tile.plan_attr import PlanAttr, ScheduleAttr, parse_schedule, print_schedule
from kopt.dialects.tile.plan_directive import parse_plan, print_plan
from kopt.dialects.tile.planned import verify_plan
from kopt.dialects.tile.traits import Canonicalized
from kopt.dialects.tile.types import RangeType, parse_dim, parse_known_types


@irdl_op_definition
class YieldOp(Op):
    """Ends a loop's body and passes the carried values on: ``tile.yield %a, %b : T, U``."""

    name = "tile.yield"

    values = var_operand_def()

    traits = traits_def(IsTerminator(), Pure())

    assembly_format = "attr-dict ($values^ `:` type($values))?"

    def __init__(self, *values: SSAValue | Operation):
        super().__init__(operands=[values])


def parse_binding(parser: Parser) -> Parser.Argument:
    """``%i: b0=128``."""
    argument = parser.parse_argument(expect_type=False)
    parser.parse_punctuation(":")
    dim = parse_dim(parser)
    return argument.resolve(RangeType(dim.tag.data, dim.size.data))


def print_binding(printer: Printer, range: SSAValue) -> None:
    """The inverse of `parse_binding`."""
    printer.print_ssa_value(range)
    assert isinstance(range.type, RangeType)
    printer.print_string(f": {range.type.dim}")


def print_body(printer: Printer, region: Region, print_terminator: bool) -> None:
    """A loop's region without the arguments that its header names."""
    printer.print_string(" ")
    printer.print_region(
        region, print_entry_block_args=False, print_block_terminators=print_terminator, print_empty_block=False
    )


@irdl_op_definition
class GridOp(Op):
    """Runs its body for every combination of blocks of its ranges, in no order: one launch on the device.

    ``in`` gives the extent walked by each range, ``lo to hi`` where it does not start at 0. Cells may run at the
    same time, so none may depend on what another writes, except by atomics. ``reduce`` lists dimensions whose
    cells run one after another, innermost first visit to last; ``ordered`` ones run in order too, whole.

        tile.grid (%i: b0=128, %j: b1=64) in (1000, 2 to 300) {
          …
        }

    ``plan`` is how the launch reaches its arrays, once that is decided (``docs/plans.md``). It names the arrays
    ``planned``; accesses name its buffers, ``via @x``. It changes nothing of what is computed.

        tile.grid (%i: b0=128) in (1000) plan {order [i] parallel [i]
            @x = %x window(i) x2} {
          %v = tile.load %x[%i, :] via @x : memref<1000x64xf32> -> !tile.tile<b0=128 x 64 x f32>
        }
    """

    name = "tile.grid"

    planned = var_operand_def(MemRefType)
    plan = opt_prop_def(PlanAttr)
    lower = prop_def(DenseArrayBase)
    upper = prop_def(DenseArrayBase)
    reduce = opt_prop_def(DenseArrayBase)
    ordered = opt_prop_def(DenseArrayBase)
    body = region_def("single_block")

    traits = traits_def(RecursiveMemoryEffect(), SingleBlockImplicitTerminator(YieldOp), Canonicalized())

    def __init__(
        self,
        upper: Sequence[int],
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
            operands=[planned],
            regions=[region],
            properties={
                "plan": plan,
                "lower": int_array(lower if lower is not None else [0] * len(upper)),
                "upper": int_array(upper),
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
        """First element and limit of each range."""
        return tuple(zip(ints_of(self.lower), ints_of(self.upper), strict=True))

    @property
    def reduction_dims(self) -> tuple[int, ...]:
        """The grid dimensions whose cells combine into one result."""
        return ints_of(self.reduce) if self.reduce is not None else ()

    @property
    def ordered_dims(self) -> tuple[int, ...]:
        """The grid dimensions whose cells run in order."""
        return ints_of(self.ordered) if self.ordered is not None else ()

    def verify_(self) -> None:
        if len(self.lower) != len(self.upper) or len(self.upper) != len(self.ranges):
            raise VerifyException(f"tile.grid binds {len(self.ranges)} ranges in {len(self.upper)} extents")
        for range, (lower, upper) in zip(self.ranges, self.bounds, strict=True):
            if not isinstance(range.type, RangeType):
                raise VerifyException(f"tile.grid binds ranges, found {range.type}")
            if not 0 <= lower <= upper:
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
            op.plan, op.operands = draft.settled(region), draft.operands
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" (")
        printer.print_list(self.ranges, lambda range: print_binding(printer, range))
        printer.print_string(") in (")
        printer.print_list(self.bounds, lambda b: printer.print_string(f"{b[0]} to {b[1]}" if b[0] else str(b[1])))
        printer.print_string(")")
        for name, dims in (("reduce", self.reduction_dims), ("ordered", self.ordered_dims)):
            if dims:
                printer.print_string(f" {name} ")
                print_ints(printer, dims)
        print_plan(printer, self)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        print_body(printer, self.body, print_terminator=False)


def _parse_extent(parser: Parser) -> tuple[int, int]:
    number = parser.parse_integer()
    return (number, parser.parse_integer()) if parser.parse_optional_keyword("to") else (0, number)


class Carrying(Op):
    """Base of the loops that carry values from visit to visit."""

    if TYPE_CHECKING:
        inits: Sequence[SSAValue]
        body: Region

    @property
    def carried(self) -> tuple[SSAValue, ...]:
        """The carried values as the body sees them."""
        return tuple(self.body.block.args)

    @property
    def yielded(self) -> tuple[SSAValue, ...]:
        """The carried values that the body passes on."""
        last = self.body.block.last_op
        return tuple(last.operands) if last is not None else ()


class CarryingLoop(Carrying):
    """Base of the loops that bind one range and carry values from visit to visit."""

    @property
    def range(self) -> SSAValue:
        """The range that the loop binds."""
        return self.body.block.args[0]

    @property
    def carried(self) -> tuple[SSAValue, ...]:
        """The carried values as the body sees them."""
        return tuple(self.body.block.args[1:])


@irdl_op_definition
class ForOp(CarryingLoop):
    """Runs its body for each block of one range, in order, carrying values from visit to visit.

    The bounds are numbers or ``index`` values. With no visits the results are the initial values.
    ``schedule`` says how it runs and how the blocks that it reads arrive, once a pass has chosen (``docs/plans.md``):
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
            properties={
                "static_bounds": DenseArrayBase.from_list(i64, static),
                "schedule": schedule,
            },
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


def verify_carries(loop: CarryingLoop) -> None:
    """The body binds a range, and what it binds, yields and gives has the types of the initial values."""
    args = loop.body.block.args
    if not args or not isinstance(args[0].type, RangeType):
        raise VerifyException(f"{loop.name} binds a range first")
    verify_carried_types(loop)


def verify_carried_types(loop: Carrying) -> None:
    """What a loop binds, yields and gives has the types of the initial values."""
    inits = [value.type for value in loop.inits]
    for what, values in (("binds", loop.carried), ("yields", loop.yielded), ("gives", loop.results)):
        types = [value.type for value in values]
        if types != inits:
            wanted, found = (", ".join(map(str, some)) for some in (inits, types))
            raise VerifyException(f"{loop.name} carries ({wanted}) but {what} ({found})")


def parse_carries(parser: Parser) -> tuple[list[Parser.Argument], list[SSAValue]]:
    """``iter(%a = %z, …) -> (types)``, or nothing: the carried arguments and their initial values."""
    pairs: list[tuple[Parser.UnresolvedArgument, SSAValue]] = []
    if parser.parse_optional_keyword("iter"):
        pairs = parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: _parse_carry(parser))
    if parser.parse_optional_punctuation("->"):
        parser.parse_punctuation("(")
        parse_known_types(parser, [init.type for _, init in pairs])
        parser.parse_punctuation(")")
    return [name.resolve(init.type) for name, init in pairs], [init for _, init in pairs]


def print_carries(printer: Printer, loop: Carrying) -> None:
    """The inverse of `parse_carries`."""
    if not loop.inits:
        return
    printer.print_string(" iter(")
    printer.print_list(zip(loop.carried, loop.inits, strict=True), lambda pair: _print_carry(printer, *pair))
    printer.print_string(") -> (")
    printer.print_list([value.type for value in loop.inits], printer.print_attribute)
    printer.print_string(")")


def ensure_yield(region: Region) -> None:
    """End a loop's body with a yield of nothing, where the text left it out."""
    last = region.block.last_op
    if last is None or not last.has_trait(IsTerminator):
        region.block.add_op(YieldOp())


def _parse_bound(parser: Parser) -> SSAValue | int:
    value = parser.parse_optional_operand()
    return parser.parse_integer() if value is None else value


def _print_bound(printer: Printer, bound: SSAValue | int) -> None:
    if isinstance(bound, int):
        printer.print_string(str(bound))
    else:
        printer.print_ssa_value(bound)


def _parse_carry(parser: Parser) -> tuple[Parser.UnresolvedArgument, SSAValue]:
    name = parser.parse_argument(expect_type=False)
    parser.parse_punctuation("=")
    return name, parser.parse_operand()


def _print_carry(printer: Printer, name: SSAValue, init: SSAValue) -> None:
    printer.print_ssa_value(name)
    printer.print_string(" = ")
    printer.print_ssa_value(init)


@irdl_op_definition
class WhenOp(Op):
    """Runs its body on the first or the last visit of some ranges, resolved to a condition only when printed.

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


OPS = (GridOp, ForOp, YieldOp, WhenOp)
