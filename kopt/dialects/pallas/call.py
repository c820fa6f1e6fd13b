"""The call of a kernel, and the memory that lives as long as it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, IntegerAttr, MemRefType, StringAttr, UnitAttr
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.irdl import (
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, MemoryAllocEffect, NoMemoryEffect, NoTerminator
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.definition import Op, irdl_op_definition
from kopt.dialects.formats.integers import int_array, parse_ints, print_ints
from kopt.dialects.pallas.window import WindowAttr, parse_window, verify_numbers, verify_window
from kopt.dialects.tile.extents import ExtentOp
from kopt.dialects.tile.grid import GridOp
from kopt.dialects.tile.types import RefType, array_type

#: How the cells along a grid dimension may run.
SEMANTICS = ("parallel", "arbitrary")


@irdl_op_definition
class CallOp(Op):
    """One `pl.pallas_call`: ``windows`` of the operands, then of the results; ``semantics`` of the grid's dimensions.

    ``aliases`` gives for each result the operand whose buffer it takes over, or -1. ``vmem_limit`` raises the
    chip's default limit, in bytes. ``collective`` numbers the semaphore of kernels that meet those of other ranks
    at a `symm.barrier`. The first ``prefetched`` operands are in scalar memory, whole, before the grid runs:
    windows may load the numbers of their blocks from them. ``unchecked`` leaves out the bounds checks of the chip,
    which are instructions of each copy (see ``elide-bounds-checks``). The body's arguments are a ref for each
    operand and result, then scratch. The kernel's work is one `tile.grid`. Only `tile.extent` ops may stand beside
    it.
    """

    name = "pallas.call"

    inputs = var_operand_def(MemRefType)
    sym_name = prop_def(StringAttr)
    windows = prop_def(ArrayAttr[WindowAttr])
    semantics = prop_def(ArrayAttr[StringAttr])
    aliases = prop_def(DenseArrayBase)
    vmem_limit = opt_prop_def(IntegerAttr)
    collective = opt_prop_def(IntegerAttr)
    prefetched = opt_prop_def(IntegerAttr)
    unchecked = opt_prop_def(UnitAttr)
    outputs = var_result_def(MemRefType)
    body = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), NoTerminator(), NoMemoryEffect())

    def __init__(
        self,
        name: str,
        inputs: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        windows: Sequence[WindowAttr],
        semantics: Sequence[str],
        aliases: Sequence[int],
        scratch: Sequence[RefType],
        refs: Sequence[RefType],
        vmem_limit: int | None = None,
        collective: int | None = None,
        prefetched: int = 0,
    ):
        super().__init__(
            operands=[inputs],
            properties={
                "sym_name": StringAttr(name),
                "windows": ArrayAttr(windows),
                "semantics": ArrayAttr([StringAttr(word) for word in semantics]),
                "aliases": int_array(aliases),
                "vmem_limit": IntegerAttr(vmem_limit, 64) if vmem_limit is not None else None,
                "collective": IntegerAttr(collective, 64) if collective is not None else None,
                "prefetched": IntegerAttr(prefetched, 64) if prefetched else None,
            },
            result_types=[result_types],
            regions=[Region(Block(arg_types=[*refs, *scratch]))],
        )

    @property
    def prefetched_count(self) -> int:
        """How many operands are in scalar memory before the grid runs: the first ones."""
        return 0 if self.prefetched is None else self.prefetched.value.data

    @property
    def input_refs(self) -> tuple[SSAValue, ...]:
        """The body's refs of the operands."""
        return tuple(self.body.block.args[: len(self.inputs)])

    @property
    def output_refs(self) -> tuple[SSAValue, ...]:
        """The body's refs of the results."""
        return tuple(self.body.block.args[len(self.inputs) : len(self.inputs) + len(self.outputs)])

    @property
    def scratch(self) -> tuple[SSAValue, ...]:
        """The body's refs of scratch memory and semaphores."""
        return tuple(self.body.block.args[len(self.inputs) + len(self.outputs) :])

    @property
    def aliased(self) -> tuple[int, ...]:
        """For each result the number of the operand whose buffer it takes over, or -1."""
        return tuple(self.aliases.get_values())  # pyright: ignore[reportAttributeAccessIssue]

    def verify_(self) -> None:
        self._verify_counts()
        arrays = [*self.inputs, *self.outputs]
        for array, ref, window in zip(arrays, (*self.input_refs, *self.output_refs), self.windows.data, strict=True):
            dims, numbers = len(self.semantics.data), len(window.numbers.data)
            verify_window(array_type(array), ref.type, window, dims, numbers)
            verify_numbers(window, [value.type for value in self.inputs[: self.prefetched_count]], dims)
        ops = list(self.body.block.ops)
        grids = [op for op in ops if not isinstance(op, ExtentOp)]
        if beside := [op for number, op in enumerate(grids) if number > 0 or not isinstance(op, GridOp)]:
            raise VerifyException(f"the body of pallas.call is one tile.grid, found '{beside[0].name}' beside it")
        for scratch in self.scratch:
            if not isinstance(scratch.type, RefType):
                raise VerifyException(f"scratch is a ref, found {scratch.type}")
        for output, operand in zip(self.outputs, self.aliased, strict=True):
            if operand >= 0 and (operand >= len(self.inputs) or self.inputs[operand].type != output.type):
                raise VerifyException(f"a result of {output.type} cannot take over operand {operand}")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        name = parser.parse_symbol_name().data
        operands = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_operand)
        prefetched = parser.parse_integer() if parser.parse_optional_keyword("prefetched") else 0
        parser.parse_keyword("windows")
        windows = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_window(parser))
        parser.parse_keyword("semantics")
        semantics = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_identifier)
        parser.parse_keyword("aliases")
        aliases = parse_ints(parser)
        limit = parser.parse_integer() if parser.parse_optional_keyword("vmem_limit") else None
        collective = parser.parse_integer() if parser.parse_optional_keyword("collective") else None
        unchecked = parser.parse_optional_keyword("unchecked") is not None
        parser.parse_punctuation(":")
        start = parser.pos
        type = parser.parse_function_type()
        if (known := [operand.type for operand in operands]) != [*type.inputs.data]:
            parser.raise_error(f"the operands are of {', '.join(map(str, known))}", start, parser.pos)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        op = cls(name, operands, type.outputs.data, windows, semantics, aliases, (), (), limit, collective, prefetched)
        op.detach_region(0)
        op.add_region(parser.parse_region())
        op.attributes |= attributes.data if attributes else {}
        op.unchecked = UnitAttr() if unchecked else None
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        with printer.in_parens():
            printer.print_list(self.inputs, printer.print_ssa_value)
        if self.prefetched is not None:
            printer.print_string(f" prefetched {self.prefetched_count}")
        printer.print_string(" windows [")
        printer.print_list(self.windows.data, lambda window: window.print_parameters(printer))
        printer.print_string("] semantics (")
        printer.print_list(self.semantics.data, lambda word: printer.print_string(word.data))
        printer.print_string(") aliases ")
        print_ints(printer, self.aliased)
        if self.vmem_limit is not None:
            printer.print_string(f" vmem_limit {self.vmem_limit.value.data}")
        if self.collective is not None:
            printer.print_string(f" collective {self.collective.value.data}")
        if self.unchecked is not None:
            printer.print_string(" unchecked")
        printer.print_string(" : ")
        printer.print_operation_type(self)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body)

    def _verify_counts(self) -> None:
        arrays = len(self.inputs) + len(self.outputs)
        if len(self.windows.data) != arrays or len(self.body.block.args) < arrays:
            raise VerifyException(f"pallas.call needs a window and a ref for each of its {arrays} arrays")
        if any(
            window.space.data != "smem" or window.grid_dims for window in self.windows.data[: self.prefetched_count]
        ):
            raise VerifyException("a prefetched operand is whole, in scalar memory")
        if self.prefetched_count > len(self.inputs):
            raise VerifyException(f"pallas.call prefetches {self.prefetched_count} of {len(self.inputs)} operands")
        if len(self.aliases) != len(self.outputs):
            raise VerifyException(f"pallas.call needs one alias or -1 for each of its {len(self.outputs)} results")
        if any(word.data not in SEMANTICS for word in self.semantics.data):
            raise VerifyException(f"a grid dimension is {' or '.join(SEMANTICS)}")


@irdl_op_definition
class ScratchOp(Op):
    """Memory on the chip that lives as long as a launch: ``%acc = pallas.scratch : !tile.ref<8 x 128 x f32, vmem>``.

    Stands beside the grid of a `host.launch`; it becomes a scratch argument of the call's body. Undefined at first.
    """

    name = "pallas.scratch"

    result = result_def(RefType)

    traits = traits_def(MemoryAllocEffect())

    assembly_format = "attr-dict `:` type($result)"

    def __init__(self, type: RefType):
        super().__init__(result_types=[type])
