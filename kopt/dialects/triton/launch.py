"""Launches, the ranges of a program, and blocks under other names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from xdsl.dialects.builtin import (
    DenseArrayBase,
    IndexType,
    IntAttr,
    MemRefType,
    StringAttr,
    UnitAttr,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    IsolatedFromAbove,
    MemoryEffectKind,
    NoTerminator,
    Pure,
    RecursiveMemoryEffect,
    get_effects,
)
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.definition import Op, irdl_op_definition
from kopt.dialects.formats.integers import int_array, ints_of
from kopt.dialects.tile.types import RangeType, TileType, tile_type

#: The mark of a constant that emitted text has a name for, its hint.
NAMED = "constexpr"


@dataclass(frozen=True)
class LaunchOptions:
    """How a launch runs: Triton's options, and how many persistent programs share its cells, if they do."""

    num_warps: int
    num_stages: int
    persistent: int | None = None
    blocked: bool = False
    max_registers: int | None = None

    @property
    def properties(self) -> dict[str, Attribute | None]:
        """As the op has them."""
        numbers = {"num_warps": self.num_warps, "num_stages": self.num_stages}
        numbers |= {"persistent": self.persistent, "max_registers": self.max_registers}
        found = {name: None if value is None else IntAttr(value) for name, value in numbers.items()}
        return {**found, "blocked": UnitAttr() if self.blocked else None}


@irdl_op_definition
class LaunchOp(Op):
    """One kernel and its launch over ``programs`` programs. The body sees the memrefs as its own arguments.

    Where extents differ from call to call, ``programs`` is the number for each combination of their blocks. In
    ``grid (8 per %m / 64)`` there are 8 programs for each block of 64 elements of ``%m``.

    With the attribute ``e4m3_bytes`` the chip lacks float8_e4m3fn: kernels have bytes in its place, and convert these.

    ``num_warps``, ``num_stages`` and ``max_registers`` are Triton's launch options. Through a ``writeonly`` pointer
    nothing is read.

    With ``persistent n``, n programs share the cells of the grid, and the body is the work for one cell. A program
    takes every n-th cell, or with ``blocked`` neighbouring ones.

        triton.launch @name (%a = %x, %b = %out writeonly) grid (8) num_warps 4 num_stages 2 { … }
        triton.launch @name (%a = %x) grid (1000) persistent 132 blocked num_warps 4 num_stages 2 max_registers 64 { … }
    """

    name = "triton.launch"

    inputs = var_operand_def(MemRefType)
    extents = var_operand_def(IndexType())
    sym_name = prop_def(StringAttr)
    programs = prop_def(IntAttr)
    sizes = opt_prop_def(DenseArrayBase)
    num_warps = prop_def(IntAttr)
    num_stages = prop_def(IntAttr)
    persistent = opt_prop_def(IntAttr)
    blocked = opt_prop_def(UnitAttr)
    max_registers = opt_prop_def(IntAttr)
    write_only = prop_def(DenseArrayBase)
    body = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), NoTerminator(), RecursiveMemoryEffect())

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        name: str,
        inputs: Sequence[SSAValue],
        programs: int,
        options: LaunchOptions,
        body: Region | None = None,
        attributes: Mapping[str, Attribute | None] | None = None,
        write_only: Sequence[int] = (),
        per: Sequence[tuple[SSAValue, int]] = (),
    ):
        super().__init__(
            operands=[inputs, [extent for extent, _ in per]],
            properties={
                "sym_name": StringAttr(name),
                "programs": IntAttr(programs),
                **options.properties,
                "write_only": int_array(write_only),
                "sizes": int_array([size for _, size in per]) if per else None,
            },
            regions=[body or Region(Block(arg_types=[value.type for value in inputs]))],
            attributes=attributes,
        )

    @property
    def written_only(self) -> tuple[SSAValue, ...]:
        """The body's arguments through which nothing is read."""
        return tuple(self.body.block.args[number] for number in ints_of(self.write_only))

    @property
    def e4m3_bytes(self) -> bool:
        """Whether bytes stand for float8_e4m3fn."""
        return "e4m3_bytes" in self.attributes

    @property
    def per(self) -> tuple[tuple[SSAValue, int], ...]:
        """The extents, and the sizes of their blocks, by which the programs are multiplied."""
        return tuple(zip(self.extents, () if self.sizes is None else ints_of(self.sizes), strict=True))

    def verify_(self) -> None:
        if len(self.extents) != len(() if self.sizes is None else self.sizes) or any(size < 1 for _, size in self.per):
            raise VerifyException("triton.launch has the size of a block for each extent")
        if [arg.type for arg in self.body.block.args] != [value.type for value in self.inputs]:
            raise VerifyException("triton.launch gives its operands to the body as they are")
        if not 1 <= self.programs.data < 1 << 31:
            raise VerifyException(f"triton.launch runs 1 to 2147483647 programs, found {self.programs.data}")
        warps = self.num_warps.data
        if warps < 1 or warps & (warps - 1):
            raise VerifyException(f"num_warps is a power of two, found {warps}")
        if self.num_stages.data < 1:
            raise VerifyException(f"num_stages is at least 1, found {self.num_stages.data}")
        if self.persistent is not None and self.persistent.data < 1 or self.blocked and self.persistent is None:
            raise VerifyException("the cells of a launch are shared by at least 1 persistent program")
        if self.max_registers is not None and not 1 <= self.max_registers.data <= 255:
            raise VerifyException(f"a thread has 1 to 255 registers, found {self.max_registers.data}")
        if any(not 0 <= number < len(self.inputs) for number in ints_of(self.write_only)):
            raise VerifyException(f"triton.launch has {len(self.inputs)} operands, of which some are write_only")
        for pointer in self.written_only:
            if any(_reads(use.operation, pointer) for use in pointer.uses):
                raise VerifyException(f"'{pointer.name_hint or 'a pointer'}' is writeonly, and the kernel reads it")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        name = parser.parse_symbol_name().data
        pairs = parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: _parse_argument(parser))
        parser.parse_keyword("grid")
        with parser.in_parens():
            programs, per = parser.parse_integer(), []
            while parser.parse_optional_keyword("per"):
                per.append((parser.parse_operand(), _parse_size(parser)))
        options = _parse_options(parser)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        region = parser.parse_region([arg.resolve(value.type) for arg, value, _ in pairs])
        values = [value for _, value, _ in pairs]
        marked = [number for number, (_, _, only) in enumerate(pairs) if only]
        return cls(name, values, programs, options, region, attributes.data if attributes else None, marked, per)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(" (")
        marked = [number in ints_of(self.write_only) for number in range(len(self.inputs))]
        arguments = zip(self.body.block.args, self.inputs, marked, strict=True)
        printer.print_list(arguments, lambda argument: _print_argument(printer, *argument))
        printer.print_string(f") grid ({self.programs.data}")
        for extent, size in self.per:
            printer.print_string(" per ")
            printer.print_ssa_value(extent)
            printer.print_string(f" / {size}")
        printer.print_string(")")
        if self.persistent is not None:
            printer.print_string(f" persistent {self.persistent.data}{' blocked' if self.blocked else ''}")
        printer.print_string(f" num_warps {self.num_warps.data} num_stages {self.num_stages.data}")
        if self.max_registers is not None:
            printer.print_string(f" max_registers {self.max_registers.data}")
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)


def _parse_options(parser: Parser) -> LaunchOptions:
    persistent, blocked = _parse_number(parser, "persistent"), False
    if persistent is not None:
        blocked = parser.parse_optional_keyword("blocked") is not None
    parser.parse_keyword("num_warps")
    warps = parser.parse_integer()
    parser.parse_keyword("num_stages")
    stages = parser.parse_integer()
    return LaunchOptions(warps, stages, persistent, blocked, _parse_number(parser, "max_registers"))


def _parse_number(parser: Parser, keyword: str) -> int | None:
    """The number behind a keyword, if it is there."""
    return parser.parse_integer() if parser.parse_optional_keyword(keyword) else None


def _parse_size(parser: Parser) -> int:
    parser.parse_characters("/")
    return parser.parse_integer()


def _reads(op: Operation, memory: SSAValue) -> bool:
    return any(effect.kind is MemoryEffectKind.READ and effect.value is memory for effect in get_effects(op) or ())


def _parse_argument(parser: Parser) -> tuple[Parser.UnresolvedArgument, SSAValue, bool]:
    name = parser.parse_argument(expect_type=False)
    parser.parse_punctuation("=")
    return name, parser.parse_operand(), parser.parse_optional_keyword("writeonly") is not None


def _print_argument(printer: Printer, name: SSAValue, value: SSAValue, write_only: bool) -> None:
    printer.print_ssa_value(name)
    printer.print_string(" = ")
    printer.print_ssa_value(value)
    if write_only:
        printer.print_string(" writeonly")


@irdl_op_definition
class ProgramIdOp(Op):
    """The number of this program in its launch: ``%pid = triton.program_id``."""

    name = "triton.program_id"

    result = result_def(IndexType())

    traits = traits_def(Pure())

    assembly_format = "attr-dict"

    def __init__(self):
        super().__init__(result_types=[IndexType()])


@irdl_op_definition
class RangeOp(Op):
    """Block ``block`` of a walk from ``lower`` to ``upper``: begins at ``lower + block * size``, limited by ``upper``.

    %i = triton.range %pid in (0, 1000) : !tile.range<b0=128>

    An ``index`` value may be the limit: ``triton.range %pid in (0 to %m)``.
    """

    name = "triton.range"

    block = operand_def(IndexType())
    extent = opt_operand_def(IndexType())
    lower = prop_def(IntAttr)
    upper = opt_prop_def(IntAttr)
    result = result_def(RangeType)

    traits = traits_def(Pure())

    assembly_format = """
        $block `in` ` ` `(` custom<Int>($lower) (`,` custom<Int>($upper)^)? (`to` $extent^)? `)` attr-dict
        `:` type($result)
    """

    def __init__(self, block: SSAValue | Operation, lower: int, upper: SSAValue | int, type: RangeType):
        number = None if isinstance(upper, SSAValue) else IntAttr(upper)
        super().__init__(
            operands=[block, upper if isinstance(upper, SSAValue) else None],
            properties={"lower": IntAttr(lower), "upper": number},
            result_types=[type],
        )

    @property
    def limit(self) -> SSAValue | int:
        """One past the last element."""
        return self.upper.data if self.upper is not None else self.extent or 0

    def verify_(self) -> None:
        if (self.upper is None) == (self.extent is None):
            raise VerifyException("triton.range has one limit, a number or a value")
        if self.upper is not None and not 0 <= self.lower.data <= self.upper.data:
            raise VerifyException(f"triton.range cannot walk from {self.lower.data} to {self.upper.data}")


@irdl_op_definition
class RetagOp(Op):
    """The same lanes, whose dimensions are named by other tags: ``triton.retag %v : A to B``; sizes are kept."""

    name = "triton.retag"

    input = operand_def(TileType)
    result = result_def(TileType)

    traits = traits_def(Pure())

    assembly_format = "$input attr-dict `:` type($input) `to` type($result)"

    def __init__(self, input: SSAValue | Operation, type: TileType):
        super().__init__(operands=[input], result_types=[type])

    def verify_(self) -> None:
        source, target = tile_type(self.input), tile_type(self.result)
        if source.shape != target.shape or source.element_type != target.element_type:
            raise VerifyException(f"triton.retag keeps sizes and element type, found {source} to {target}")
