"""The ``jagged`` dialect: loops whose extent differs from item to item.

The items are lanes of a tile of lengths. A loop walks all items together, to the longest. In a tile with the dimensions
of the loop and of the items, the lanes that an item does not have are outside the range, like lanes past a loop's
limit. They are undefined when loaded, are not stored, and take no part in reductions, scans and products. An item may
have no lanes.

    %sum = jagged.for %k: b1=16 in %lengths iter(%a = %zero) -> (!tile.tile<b0=8 x f32>) {
      %v = tile.load %x[%i, %k] : memref<100x64xf32> -> !tile.tile<b0=8 x b1=16 x f32>
      %s = tile.reduce add %v [1] : !tile.tile<b0=8 x b1=16 x f32>
      %next = tile.add %a, %s : !tile.tile<b0=8 x f32>
      tile.yield %next : !tile.tile<b0=8 x f32>
    }

`jagged.valid` gives those lanes as a value, and ``lower-jagged`` makes the rule explicit. `jagged.rows` gives the row
numbers of flat storage in which the rows of each item follow one another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

from xdsl.dialects.builtin import IntegerType, i1
from xdsl.ir import Attribute, Block, Dialect, Operation, Region, SSAValue
from xdsl.irdl import (
    operand_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure, RecursiveMemoryEffect, SingleBlockImplicitTerminator
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.definition import Op, irdl_op_definition
from kopt.dialects.formats import Infers
from kopt.dialects.tile import tag_of, tile_type
from kopt.dialects.tile.bodies import (
    CarryingLoop,
    YieldOp,
    ensure_yield,
    parse_binding,
    parse_carries,
    print_binding,
    print_body,
    print_carries,
    verify_carries,
)
from kopt.dialects.tile.types import RangeType, TileType
from kopt.dialects.tile.values import is_integer


def _check_lengths(op: Operation, lengths: Attribute) -> None:
    if not isinstance(lengths, TileType) or not is_integer(lengths.element_type) or not lengths.rank:
        raise VerifyException(f"{op.name} needs a tile of lengths, found {lengths}")
    if "" in lengths.tags:
        raise VerifyException(f"{op.name} needs items that are lanes of loops (tagged dimensions), found {lengths}")


@irdl_op_definition
class ForOp(CarryingLoop):
    """Runs its body for each block from 0 to the longest of ``lengths``, in order; carries values as ``tile.for`` does.

    Lengths below 0 count as 0. The range's limit is the longest length.
    """

    name = "jagged.for"

    lengths = operand_def(TileType)
    inits = var_operand_def()
    results_ = var_result_def()
    body = region_def("single_block")

    traits = traits_def(RecursiveMemoryEffect(), SingleBlockImplicitTerminator(YieldOp))

    def __init__(
        self,
        lengths: SSAValue | Operation,
        inits: Sequence[SSAValue],
        body: Region | RangeType,
        attributes: Mapping[str, Attribute | None] | None = None,
    ):
        types = [value.type for value in inits]
        region = body if isinstance(body, Region) else Region(Block(arg_types=[body, *types]))
        super().__init__(operands=[lengths, inits], regions=[region], result_types=[types], attributes=attributes)

    @property
    def tag(self) -> str:
        """The tag of the range."""
        return tag_of(self.range)

    @property
    def lengths_type(self) -> TileType:
        """The type of the lengths."""
        return tile_type(self.lengths)

    def verify_(self) -> None:
        _check_lengths(self, self.lengths.type)
        verify_carries(self)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        range = parse_binding(parser)
        parser.parse_keyword("in")
        lengths = parser.parse_operand()
        carried, inits = parse_carries(parser)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        region = parser.parse_region([range, *carried])
        ensure_yield(region)
        return cls(lengths, inits, region, attributes.data if attributes else None)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_binding(printer, self.range)
        printer.print_string(" in ")
        printer.print_ssa_value(self.lengths)
        print_carries(printer, self)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        print_body(printer, self.body, print_terminator=bool(self.inits))


@irdl_op_definition
class ValidOp(Infers, Op):
    """Which lanes of a block each item has: ``begin + lane < length``. The items' dimensions come first.

    %v = jagged.valid %k of %lengths : !tile.range<b1=16>, !tile.tile<b0=8 x i32>   // -> !tile.tile<b0=8 x b1=16 x i1>
    """

    name = "jagged.valid"

    range = operand_def(RangeType)
    lengths = operand_def(TileType)
    result = result_def(TileType)

    traits = traits_def(Pure())

    assembly_format = """
        $range `of` $lengths attr-dict `:` type($range) `,` type($lengths) custom<Infer>(type(results))
    """

    @property
    def result_type(self) -> TileType:
        """The result's type."""
        return tile_type(self.result)

    def __init__(self, range: SSAValue | Operation, lengths: SSAValue | Operation):
        range, lengths = SSAValue.get(range), SSAValue.get(lengths)
        super().__init__(operands=[range, lengths], result_types=self.infer((range.type, lengths.type), {}))

    def verify_(self) -> None:
        _check_lengths(self, self.lengths.type)
        self.check_results()

    @classmethod
    def infer(cls, operands: Sequence[Attribute], properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        range, lengths = operands
        assert isinstance(range, RangeType) and isinstance(lengths, TileType)
        return [TileType([*lengths.dims.data, range.dim], i1)]


@irdl_op_definition
class RowsOp(Infers, Op):
    """The row numbers of a slice for each item: ``start + lane``. The items' dimensions come first.

    An access that gathers by them reads or writes, for each item, rows that follow one another:

        %r = jagged.rows %k from %starts : !tile.range<b1=16>, !tile.tile<b0=8 x i32>   // -> <b0=8 x b1=16 x i32>
        %v = tile.load %x[%r, %m] : memref<1000x64xf32> -> !tile.tile<b0=8 x b1=16 x b2=64 x f32>
    """

    name = "jagged.rows"

    range = operand_def(RangeType)
    starts = operand_def(TileType)
    result = result_def(TileType)

    traits = traits_def(Pure())

    assembly_format = """
        $range `from` $starts attr-dict `:` type($range) `,` type($starts) custom<Infer>(type(results))
    """

    def __init__(self, range: SSAValue | Operation, starts: SSAValue | Operation):
        range, starts = SSAValue.get(range), SSAValue.get(starts)
        super().__init__(operands=[range, starts], result_types=self.infer((range.type, starts.type), {}))

    @property
    def result_type(self) -> TileType:
        """The result's type."""
        return tile_type(self.result)

    def verify_(self) -> None:
        starts = tile_type(self.starts)
        if not isinstance(starts.element_type, IntegerType) or starts.element_type.width.data < 32:
            raise VerifyException(f"jagged.rows needs starts of at least 32 bits, found {starts}")
        self.check_results()

    @classmethod
    def infer(cls, operands: Sequence[Attribute], properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        range, starts = operands
        assert isinstance(range, RangeType) and isinstance(starts, TileType)
        return [TileType([*starts.dims.data, range.dim], starts.element_type)]


Jagged = Dialect("jagged", [ForOp, ValidOp, RowsOp])
