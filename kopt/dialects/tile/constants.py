"""Ops that make tiles: of a literal, of a scalar, of numbered lanes; and the scalar of a tile."""

from __future__ import annotations

from typing import Self

from xdsl.dialects.builtin import IntAttr, IntegerType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import ConstantLike, Pure
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.definition import Op, irdl_op_definition
from kopt.dialects.tile.traits import Canonicalized
from kopt.dialects.tile.types import TileType, parse_tile_type
from kopt.dialects.tile.values import literal, literal_value, parse_literal, print_literal, whole


def parse_untyped_literal(parser: Parser) -> float | int:
    """A literal whose type is not known yet, as a Python number."""
    from xdsl.dialects.builtin import f64

    sign = -1 if parser.parse_optional_punctuation("-") else 1
    if (number := parser.parse_optional_number()) is not None:
        return sign * number
    if (boolean := parser.parse_optional_boolean()) is not None:
        return int(boolean)
    return sign * literal_value(parse_literal(parser, f64))


class _Constant(ConstantLike):
    @classmethod
    def get_constant_value(cls, op: Operation) -> Attribute | None:
        return op.value if isinstance(op, FullOp) else None


@irdl_op_definition
class FullOp(Op):
    """Every lane the same literal: ``%z = tile.full 0.0 : !tile.tile<b0=128 x f32>``."""

    name = "tile.full"

    value = prop_def(Attribute)
    result = result_def(TileType)

    traits = traits_def(Pure(), _Constant())

    def __init__(self, value: Attribute | float | int, type: TileType):
        attr = value if isinstance(value, Attribute) else literal(value, type.element_type)
        super().__init__(properties={"value": attr}, result_types=[type])

    @property
    def number(self) -> float | int:
        """The literal as a Python number."""
        return literal_value(self.value)

    def verify_(self) -> None:
        assert isinstance(self.result.type, TileType)
        if getattr(self.value, "type", None) != self.result.type.element_type:
            raise VerifyException(f"tile.full of {self.value} cannot make {self.result.type}")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        start = parser.pos
        # The literal's type comes after it: read it once as a number of the widest kind, then again as its own.
        text = parse_untyped_literal(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parse_tile_type(parser)
        op = cls(whole(parser, start, text, type.element_type), type)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_literal(printer, self.value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)


@irdl_op_definition
class SplatOp(Op):
    """Every lane the same scalar: ``tile.splat %s : i32 to !tile.tile<b0=128 x i32>``; ``index`` makes integers."""

    name = "tile.splat"

    scalar = operand_def()
    result = result_def(TileType)

    traits = traits_def(Pure(), Canonicalized())

    assembly_format = "$scalar attr-dict `:` type($scalar) `to` type($result)"

    def __init__(self, scalar: SSAValue | Operation, type: TileType):
        super().__init__(operands=[scalar], result_types=[type])

    def verify_(self) -> None:
        assert isinstance(self.result.type, TileType)
        element = self.result.type.element_type
        scalar = self.scalar.type
        if scalar != element and not (scalar.name == "index" and isinstance(element, IntegerType)):
            raise VerifyException(f"tile.splat of {scalar} cannot make {self.result.type}")


@irdl_op_definition
class ExtractOp(Op):
    """The scalar of a rank-0 tile: ``tile.extract %t : !tile.tile<i32> to index``. Integers may become ``index``."""

    name = "tile.extract"

    input = operand_def(TileType)
    result = result_def()

    traits = traits_def(Pure(), Canonicalized())

    assembly_format = "$input attr-dict `:` type($input) `to` type($result)"

    def __init__(self, input: SSAValue | Operation, type: Attribute):
        super().__init__(operands=[input], result_types=[type])

    def verify_(self) -> None:
        type = self.input.type
        assert isinstance(type, TileType)
        if type.rank:
            raise VerifyException(f"tile.extract needs a tile of rank 0, found {type}")
        result = self.result.type
        if result != type.element_type and not (result.name == "index" and isinstance(type.element_type, IntegerType)):
            raise VerifyException(f"tile.extract of {type} cannot give {result}")


@irdl_op_definition
class ArangeOp(Op):
    """Lane numbers scaled: ``%t = tile.arange 3, 2 : !tile.tile<64 x i32>`` is 3, 5, 7, … over its one dimension."""

    name = "tile.arange"

    start = prop_def(IntAttr)
    step = prop_def(IntAttr)
    result = result_def(TileType)

    traits = traits_def(Pure())

    def __init__(self, start: int, step: int, type: TileType):
        super().__init__(properties={"start": IntAttr(start), "step": IntAttr(step)}, result_types=[type])

    def verify_(self) -> None:
        type = self.result.type
        assert isinstance(type, TileType)
        if type.rank != 1 or not isinstance(type.element_type, IntegerType):
            raise VerifyException(f"tile.arange makes one dimension of integers, found {type}")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        start = parser.parse_integer()
        parser.parse_punctuation(",")
        step = parser.parse_integer()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        op = cls(start, step, parse_tile_type(parser))
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.start.data}, {self.step.data}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)


OPS = (FullOp, SplatOp, ExtractOp, ArangeOp)
