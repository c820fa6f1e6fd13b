"""Scans and reductions by a function of the kernel's own, over one tile or several of one shape at once.

The function is the op's region. Its arguments are two tuples of scalars, first the left one; it yields one tuple. It
must be associative, so that targets may combine lanes as a tree. That of a reduction must be commutative too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

from xdsl.dialects.builtin import IntAttr, UnitAttr
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.irdl import (
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, Pure
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.definition import Op, irdl_op_definition
from kopt.dialects.tile.bodies import YieldOp
from kopt.dialects.tile.types import TileType, parse_tile_type


class AssociativeOp(Op):
    """Base of the ops that combine lanes of one dimension by the function in their region."""

    inputs = var_operand_def(TileType)
    dim = prop_def(IntAttr)
    reverse = opt_prop_def(UnitAttr)
    results_ = var_result_def(TileType)
    body = region_def("single_block")

    traits = traits_def(Pure(), IsolatedFromAbove())

    def __init__(
        self,
        inputs: Sequence[SSAValue],
        dim: int,
        body: Region,
        reverse: bool = False,
        attributes: Mapping[str, Attribute | None] | None = None,
    ):
        super().__init__(
            operands=[inputs],
            properties={"dim": IntAttr(dim), "reverse": UnitAttr() if reverse else None},
            regions=[body],
            result_types=[[self.result_type(value.type, dim) for value in inputs]],
            attributes=attributes,
        )

    @classmethod
    def result_type(cls, source: Attribute, dim: int) -> TileType:
        """What an operand of a type becomes."""
        raise NotImplementedError

    @property
    def tiles(self) -> tuple[TileType, ...]:
        """The operands' types."""
        return tuple(value.type for value in self.inputs if isinstance(value.type, TileType))

    @property
    def left(self) -> tuple[SSAValue, ...]:
        """The function's first operands: the lanes combined so far."""
        return tuple(self.body.block.args[: len(self.inputs)])

    @property
    def right(self) -> tuple[SSAValue, ...]:
        """The function's second operands: the lanes that follow."""
        return tuple(self.body.block.args[len(self.inputs) :])

    @property
    def combined(self) -> tuple[SSAValue, ...]:
        """What the function gives."""
        last = self.body.block.last_op
        return tuple(last.operands) if isinstance(last, YieldOp) else ()

    def verify_(self) -> None:
        types, dim = self.tiles, self.dim.data
        if not types:
            raise VerifyException(f"{self.name} combines one tile at least")
        for type in types:
            if type.dims != types[0].dims:
                raise VerifyException(f"{self.name} combines tiles of one shape, found {types[0]} and {type}")
        if not 0 <= dim < types[0].rank:
            raise VerifyException(f"{types[0]} has no dimension {dim}")
        scalars = [TileType([], type.element_type) for type in types]
        for what, values, wanted in (
            ("takes", self.body.block.args, [*scalars, *scalars]),
            ("yields", self.combined, scalars),
            ("gives", self.results, [self.result_type(type, dim) for type in types]),
        ):
            found = [value.type for value in values]
            if found != wanted:
                names = (", ".join(map(str, some)) for some in (wanted, found))
                raise VerifyException(f"{self.name} {what} ({next(names)}), found ({next(names)})")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        inputs = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_unresolved_operand)
        parser.parse_keyword("dim")
        start = parser.pos
        dim = parser.parse_integer()
        reverse = parser.parse_optional_keyword("reverse") is not None
        attributes = parser.parse_optional_attr_dict_with_keyword()
        parser.parse_punctuation(":")
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, lambda: parse_tile_type(parser))
        if any(not 0 <= dim < type.rank for type in types):
            parser.raise_error(f"expected a dimension of {types[0]}, found {dim}", start, start + 1)
        values = parser.resolve_operands(inputs, types, parser.pos)
        region = parser.parse_region()
        return cls(values, dim, region, reverse, attributes.data if attributes else None)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.inputs, printer.print_ssa_value)
        printer.print_string(f" dim {self.dim.data}{' reverse' if self.reverse is not None else ''}")
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" : ")
        printer.print_list(self.tiles, printer.print_attribute)
        printer.print_string(" ")
        printer.print_region(self.body)

    def with_inputs(self, inputs: Sequence[SSAValue], body: Region) -> Self:
        """The same combination of other tiles by another function."""
        made = type(self)(inputs, self.dim.data, body, self.reverse is not None, self.attributes)
        made.location = self.location
        for new, old in zip(made.results, self.results, strict=False):
            new.name_hint = old.name_hint
        return made


def function_of(types: Sequence[TileType]) -> Block:
    """An empty function for tiles of some types: scalars of the left, then of the right."""
    scalars = [TileType([], type.element_type) for type in types]
    return Block(arg_types=[*scalars, *scalars])


@irdl_op_definition
class AssociativeScanOp(AssociativeOp):
    """Running combination along one dimension, inclusive, by the function in its region.

    With ``reverse`` it runs from the last lane. The left argument is always what was combined so far.

        %a, %b = tile.associative_scan %x, %y dim 1 : !tile.tile<b0=8 x 64 x f32>, !tile.tile<b0=8 x 64 x i32> {
        ^bb0(%l: !tile.tile<f32>, %m: !tile.tile<i32>, %r: !tile.tile<f32>, %s: !tile.tile<i32>):
          …
          tile.yield %c, %d : !tile.tile<f32>, !tile.tile<i32>
        }
    """

    name = "tile.associative_scan"

    @classmethod
    def result_type(cls, source: Attribute, dim: int) -> TileType:
        assert isinstance(source, TileType)
        return source


@irdl_op_definition
class AssociativeReduceOp(AssociativeOp):
    """Combines all lanes of one dimension, which disappears, by the function in its region, in any order.

    %s = tile.associative_reduce %x dim 1 : !tile.tile<b0=8 x 64 x f32> { … }        // -> !tile.tile<b0=8 x f32>
    """

    name = "tile.associative_reduce"

    @classmethod
    def result_type(cls, source: Attribute, dim: int) -> TileType:
        assert isinstance(source, TileType)
        return source.with_dims([kept for number, kept in enumerate(source.dims.data) if number != dim])

    def verify_(self) -> None:
        super().verify_()
        if self.reverse is not None:
            raise VerifyException("tile.associative_reduce combines in any order: 'reverse' means nothing")


OPS = (AssociativeScanOp, AssociativeReduceOp)
