"""The ``pallas`` dialect: one kernel call on a TPU, and what only such a kernel does: scratch memory and DMAs.

The body of a `call` sees refs: its operands, its results, then scratch. It holds one `tile.grid`, whose cells are
the steps of the Pallas grid in row-major order; in it blocks are read by `tile.get` and written by `tile.put`, and
everything that is computed stays in ``tile``. Refs outlive the grid's cells, so their dimensions have no tags.

    %out = pallas.call @double(%x) windows [<[128, 256], (d0) -> (d0, 0), vmem>, …] semantics (parallel)
        aliases [-1] : (memref<1000x256xf32>) -> (memref<1000x256xf32>) {
    ^bb0(%x_ref: !tile.ref<128 x 256 x f32, vmem>, %out_ref: !tile.ref<128 x 256 x f32, vmem>):
      tile.grid (%i: b0=128) in (1000) {
        %v = tile.get %x_ref[:, :] : !tile.ref<128 x 256 x f32, vmem> -> !tile.tile<b0=128 x 256 x f32>
        tile.put %w, %out_ref[:, :] : !tile.tile<b0=128 x 256 x f32>, !tile.ref<128 x 256 x f32, vmem>
      }
    }
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    IntAttr,
    IntegerAttr,
    MemRefType,
    StringAttr,
)
from xdsl.ir import Attribute, Block, Dialect, Operation, ParametrizedAttribute, Region, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.traits import (
    EffectInstance,
    IsolatedFromAbove,
    MemoryAllocEffect,
    MemoryEffect,
    MemoryEffectKind,
    NoMemoryEffect,
    NoTerminator,
)
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.tile.index_list import (
    Entry,
    join_entries,
    parse_entries,
    print_entries,
    split_entries,
    verify_entries,
)
from kopt.dialects.tile.memory import ref_block_type
from kopt.dialects.tile.shape import int_array, parse_ints, print_ints
from kopt.dialects.tile.types import SPACES, RefType

#: How the cells along a grid dimension may run.
SEMANTICS = ("parallel", "arbitrary")


@irdl_attr_definition
class WindowAttr(ParametrizedAttribute):
    """What one step of the grid sees of an array: ``#pallas.window<[128, _, 64], (d0, d1) -> (d0, d1, 0), vmem>``.

    The lanes of the block in each dimension (``_``: one element, which the kernel's ref does not have as a
    dimension), the number of the block for a grid step, and the memory where the kernel finds it.
    """

    name = "pallas.window"

    block: ArrayAttr[IntAttr]
    index: AffineMapAttr
    space: StringAttr

    def __init__(self, block: Sequence[int], index: AffineMap, space: str = "vmem"):
        super().__init__(ArrayAttr([IntAttr(size) for size in block]), AffineMapAttr(index), StringAttr(space))

    @property
    def sizes(self) -> tuple[int, ...]:
        """Lanes of the block in each dimension; 0 where one element is taken and the dimension squeezed away."""
        return tuple(size.data for size in self.block.data)

    def verify(self) -> None:
        if self.space.data not in SPACES:
            raise VerifyException(f"unknown memory space '{self.space.data}': one of {', '.join(SPACES)}")
        if len(self.index.data.results) != len(self.block.data):
            raise VerifyException(f"a block of {len(self.block.data)} dimensions needs as many block numbers")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            sizes = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: _parse_size(parser))
            parser.parse_punctuation(",")
            index = parser.parse_affine_map()
            parser.parse_punctuation(",")
            return [ArrayAttr(sizes), AffineMapAttr(index), StringAttr(parser.parse_identifier())]

    def print_parameters(self, printer: Printer) -> None:
        sizes = ", ".join(str(size) if size else "_" for size in self.sizes)
        printer.print_string(f"<[{sizes}], {self.index.data}, {self.space.data}>")


def _parse_size(parser: AttrParser) -> IntAttr:
    return IntAttr(0 if parser.parse_optional_keyword("_") else parser.parse_integer(allow_negative=False))


@irdl_op_definition
class CallOp(IRDLOperation):
    """One `pl.pallas_call`: ``windows`` of the operands, then of the results; ``semantics`` of the grid's dimensions.

    ``aliases`` gives for each result the operand whose buffer it takes over, or -1. ``vmem_limit`` raises the
    chip's default limit, in bytes. The body's arguments are a ref for each operand and result, then scratch.
    """

    name = "pallas.call"

    inputs = var_operand_def(MemRefType)
    sym_name = prop_def(StringAttr)
    windows = prop_def(ArrayAttr[WindowAttr])
    semantics = prop_def(ArrayAttr[StringAttr])
    aliases = prop_def(DenseArrayBase)
    vmem_limit = opt_prop_def(IntegerAttr)
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
    ):
        super().__init__(
            operands=[inputs],
            properties={
                "sym_name": StringAttr(name),
                "windows": ArrayAttr(windows),
                "semantics": ArrayAttr([StringAttr(word) for word in semantics]),
                "aliases": int_array(aliases),
                "vmem_limit": IntegerAttr(vmem_limit, 64) if vmem_limit is not None else None,
            },
            result_types=[result_types],
            regions=[Region(Block(arg_types=[*refs, *scratch]))],
        )

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
            assert isinstance(array.type, MemRefType)
            _verify_window(array.type, ref.type, window, len(self.semantics.data))
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
        parser.parse_keyword("windows")
        windows = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: _parse_window(parser))
        parser.parse_keyword("semantics")
        semantics = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_identifier)
        parser.parse_keyword("aliases")
        aliases = parse_ints(parser)
        limit = parser.parse_integer() if parser.parse_optional_keyword("vmem_limit") else None
        parser.parse_punctuation(":")
        types = parser.parse_function_type().outputs.data
        attributes = parser.parse_optional_attr_dict_with_keyword()
        op = cls(name, operands, types, windows, semantics, aliases, (), (), limit)
        op.detach_region(0)
        op.add_region(parser.parse_region())
        op.attributes |= attributes.data if attributes else {}
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        with printer.in_parens():
            printer.print_list(self.inputs, printer.print_ssa_value)
        printer.print_string(" windows [")
        printer.print_list(self.windows.data, lambda window: window.print_parameters(printer))
        printer.print_string("] semantics (")
        printer.print_list(self.semantics.data, lambda word: printer.print_string(word.data))
        printer.print_string(") aliases ")
        print_ints(printer, self.aliased)
        if self.vmem_limit is not None:
            printer.print_string(f" vmem_limit {self.vmem_limit.value.data}")
        printer.print_string(" : ")
        printer.print_operation_type(self)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body)

    def _verify_counts(self) -> None:
        arrays = len(self.inputs) + len(self.outputs)
        if len(self.windows.data) != arrays or len(self.body.block.args) < arrays:
            raise VerifyException(f"pallas.call needs a window and a ref for each of its {arrays} arrays")
        if len(self.aliases) != len(self.outputs):
            raise VerifyException(f"pallas.call needs one alias or -1 for each of its {len(self.outputs)} results")
        if any(word.data not in SEMANTICS for word in self.semantics.data):
            raise VerifyException(f"a grid dimension is {' or '.join(SEMANTICS)}")


def _parse_window(parser: Parser) -> WindowAttr:
    block, index, space = WindowAttr.parse_parameters(parser)
    return WindowAttr.new([block, index, space])


def _verify_window(array: MemRefType, ref: Attribute, window: WindowAttr, grid_rank: int) -> None:
    if not isinstance(ref, RefType):
        raise VerifyException(f"the body of pallas.call sees refs, found {ref}")
    if len(window.sizes) != array.get_num_dims():
        raise VerifyException(f"{window} has {len(window.sizes)} dimensions for {array}")
    if window.index.data.num_dims != grid_rank:
        raise VerifyException(f"the block number of {window} is a function of the {grid_rank} grid dimensions")
    seen = tuple(size for size in window.sizes if size)
    if ref.shape != seen or ref.element_type != array.element_type or ref.space != window.space:
        raise VerifyException(f"{window} of {array} is not {ref}")


@irdl_op_definition
class ScratchOp(IRDLOperation):
    """Memory on the chip that lives as long as a launch: ``%acc = pallas.scratch : !tile.ref<8 x 128 x f32, vmem>``.

    Stands beside the grid of a `host.launch`; it becomes a scratch argument of the call's body. Undefined at first.
    """

    name = "pallas.scratch"

    result = result_def(RefType)

    traits = traits_def(MemoryAllocEffect())

    assembly_format = "attr-dict `:` type($result)"

    def __init__(self, type: RefType):
        super().__init__(result_types=[type])


class _CopyEffects(MemoryEffect):
    @classmethod
    def get_effects(cls, op: Operation):
        return {
            EffectInstance(MemoryEffectKind.READ, op.operands[0]),
            EffectInstance(MemoryEffectKind.WRITE, op.operands[1]),
        }


class DmaOp(IRDLOperation):
    """Base of the two ends of an asynchronous copy between refs, by index lists of one shape."""

    source = operand_def(RefType)
    target = operand_def(RefType)
    semaphore = operand_def(RefType)
    source_indices = var_operand_def()
    target_indices = var_operand_def()
    semaphore_indices = var_operand_def()
    source_layout = prop_def(ArrayAttr)
    target_layout = prop_def(ArrayAttr)
    semaphore_layout = prop_def(ArrayAttr)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(_CopyEffects())

    def __init__(
        self,
        source: SSAValue,
        source_entries: Sequence[Entry],
        target: SSAValue,
        target_entries: Sequence[Entry],
        semaphore: SSAValue,
        semaphore_entries: Sequence[Entry],
    ):
        lists = [split_entries(entries) for entries in (source_entries, target_entries, semaphore_entries)]
        names = ("source_layout", "target_layout", "semaphore_layout")
        super().__init__(
            operands=[source, target, semaphore, *(operands for operands, _ in lists)],
            properties={name: layout for name, (_, layout) in zip(names, lists, strict=True)},
        )

    @property
    def source_entries(self) -> tuple[Entry, ...]:
        """Where it reads."""
        return join_entries(self.source_indices, self.source_layout)

    @property
    def target_entries(self) -> tuple[Entry, ...]:
        """Where it writes."""
        return join_entries(self.target_indices, self.target_layout)

    @property
    def semaphore_entries(self) -> tuple[Entry, ...]:
        """Which semaphore it signals when done."""
        return join_entries(self.semaphore_indices, self.semaphore_layout)

    def verify_(self) -> None:
        source, target, semaphore = self.source.type, self.target.type, self.semaphore.type
        assert isinstance(source, RefType) and isinstance(target, RefType) and isinstance(semaphore, RefType)
        if semaphore.space.data != "semaphore":
            raise VerifyException(f"a DMA signals a semaphore, found {semaphore}")
        for entries, type in ((self.source_entries, source), (self.target_entries, target)):
            verify_entries(entries, type.shape)
        read, written = ref_block_type(source, self.source_entries), ref_block_type(target, self.target_entries)
        if read.shape != written.shape or read.element_type != written.element_type:
            raise VerifyException(f"a DMA copies blocks of one shape, found {read} to {written}")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        source, source_entries = _parse_place(parser)
        parser.parse_keyword("to")
        target, target_entries = _parse_place(parser)
        parser.parse_keyword("signal")
        semaphore, semaphore_entries = _parse_place(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        op = cls(source, source_entries, target, target_entries, semaphore, semaphore_entries)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        places = (
            ("", self.source, self.source_entries),
            (" to ", self.target, self.target_entries),
            (" signal ", self.semaphore, self.semaphore_entries),
        )
        for word, ref, entries in places:
            printer.print_string(word)
            printer.print_ssa_value(ref)
            print_entries(printer, entries)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_list([ref.type for _, ref, _ in places], printer.print_attribute)


def _parse_place(parser: Parser) -> tuple[SSAValue, tuple[Entry, ...]]:
    ref = parser.parse_operand()
    return ref, join_entries(*parse_entries(parser))


@irdl_op_definition
class DmaStartOp(DmaOp):
    """Starts a copy: ``pallas.dma_start %x[%k, :] to %buffer[%slot, :, :] signal %sem[%slot] : …``."""

    name = "pallas.dma_start"


@irdl_op_definition
class DmaWaitOp(DmaOp):
    """Waits until a copy of the same places is done."""

    name = "pallas.dma_wait"


Pallas = Dialect("pallas", [CallOp, ScratchOp, DmaStartOp, DmaWaitOp], [WindowAttr])
