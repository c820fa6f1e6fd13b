"""Index lists: how a memref or ref is addressed, one entry a dimension.

    %x[%i, :, 3, 0:64:2, %row, %idx]

| entry | means | gives dimensions |
|---|---|---|
| ``%i : !tile.range<b0=128>`` | the block's lanes, from its begin | one, tagged ``b0`` |
| ``:`` | the whole dimension | one, plain |
| ``lo:hi:step`` | a static slice; ``step`` is 1 when left out | one, plain |
| ``3`` | one row | none |
| ``%row : index`` | one row | none |
| ``%idx : !tile.tile<… x iN>`` | gathered rows | see below |

All gathering entries of a list have the same dimensions and are taken pointwise; those dimensions stand once, where
the first gathering entry stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from xdsl.dialects.builtin import ArrayAttr, IndexType, IntAttr, IntegerType, UnitAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation, irdl_attr_definition
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    OperandDirective,
    OperandVariable,
    OptionalOperandVariable,
    ParsingState,
    PrintingState,
    VariadicOperandVariable,
    irdl_custom_directive,
)
from xdsl.parser import AttrParser, Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.definition import Attr
from kopt.dialects.formats import WrittenType, defined
from kopt.dialects.tile.types import DimAttr, RangeType, TileType, as_dim


@irdl_attr_definition
class SliceAttr(Attr):
    """A static slice ``start:stop:step`` of one dimension, with 0 <= start <= stop and step >= 1."""

    name = "tile.slice"

    start: IntAttr
    stop: IntAttr
    step: IntAttr

    def __init__(self, start: int, stop: int, step: int = 1):
        super().__init__(IntAttr(start), IntAttr(stop), IntAttr(step))

    @property
    def length(self) -> int:
        """Number of elements."""
        return max(0, -(-(self.stop.data - self.start.data) // self.step.data))

    def verify(self) -> None:
        if self.start.data < 0 or self.stop.data < self.start.data or self.step.data < 1:
            raise VerifyException(f"a slice needs 0 <= start <= stop and step >= 1, found {self}")

    def __str__(self) -> str:
        step = f":{self.step.data}" if self.step.data != 1 else ""
        return f"{self.start.data}:{self.stop.data}{step}"

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            numbers = [IntAttr(parser.parse_integer())]
            while parser.parse_optional_punctuation(":"):
                numbers.append(IntAttr(parser.parse_integer()))
        return [*numbers, *([IntAttr(1)] if len(numbers) == 2 else [])]

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string(f"<{self}>")


@irdl_attr_definition
class AllAttr(Attr):
    """The whole of one dimension: ``:`` in an index list."""

    name = "tile.all"


#: An entry in Python: an SSA value, an ``int``, a `SliceAttr`, or ``ALL``.
Entry = SSAValue | int | SliceAttr | AllAttr
ALL = AllAttr()
_OPERAND = UnitAttr()


def split_entries(entries: Iterable[Entry]) -> tuple[list[SSAValue], ArrayAttr[Attribute]]:
    """Entries as an op stores them: the SSA values, and a layout that says where they go (``unit``)."""
    operands: list[SSAValue] = []
    layout: list[Attribute] = []
    for entry in entries:
        if isinstance(entry, SSAValue):
            operands.append(entry)
            layout.append(_OPERAND)
        else:
            layout.append(IntAttr(entry) if isinstance(entry, int) else entry)
    return operands, ArrayAttr(layout)


def join_entries(operands: Sequence[SSAValue], layout: ArrayAttr[Attribute]) -> tuple[Entry, ...]:
    """The inverse of `split_entries`."""
    values = iter(operands)
    return tuple([next(values) if type(attr) is UnitAttr else _constant_entry(attr) for attr in layout.data])


def _constant_entry(attr: Attribute) -> Entry:
    """An entry that is no SSA value."""
    if type(attr) is AllAttr:
        return attr
    if isinstance(attr, IntAttr):
        return attr.data
    assert isinstance(attr, SliceAttr)
    return attr


def is_gather(entry: Entry | None) -> TypeGuard[SSAValue]:
    """Whether an entry is a tile of row numbers."""
    return isinstance(entry, SSAValue) and isinstance(entry.type, TileType)


def is_range(entry: Entry | None) -> TypeGuard[SSAValue]:
    """Whether an entry is a loop's block."""
    return isinstance(entry, SSAValue) and isinstance(entry.type, RangeType)


def is_number(entry: Entry) -> TypeGuard[int | SSAValue]:
    """Whether an entry is the number of one element."""
    return isinstance(entry, int) or isinstance(entry, SSAValue) and isinstance(entry.type, IndexType)


@dataclass(frozen=True)
class IndexedDim:
    """Where one dimension of an indexed block comes from: the position in the list, and its lanes.

    ``gather`` says that the dimension is one of the gathering entries' own, number ``gather_dim``.
    """

    position: int
    dim: DimAttr
    gather_dim: int | None = None


def block_axes(entries: Sequence[Entry], shape: Sequence[int]) -> tuple[IndexedDim, ...]:
    """The dimensions of the block that ``entries`` address in an array of ``shape``, in order."""
    axes: list[IndexedDim] = []
    gathered = False
    for position, (entry, size) in enumerate(zip(entries, shape, strict=True)):
        if isinstance(entry, AllAttr):
            axes.append(IndexedDim(position, as_dim(size)))
        elif isinstance(entry, SliceAttr):
            axes.append(IndexedDim(position, as_dim(entry.length)))
        elif isinstance(entry, SSAValue) and isinstance(entry.type, RangeType):
            axes.append(IndexedDim(position, entry.type.dim))
        elif isinstance(entry, SSAValue) and isinstance(entry.type, TileType) and not gathered:
            gathered = True
            axes += [IndexedDim(position, dim, number) for number, dim in enumerate(entry.type.dims.data)]
    return tuple(axes)


def block_dims(entries: Sequence[Entry], shape: Sequence[int]) -> tuple[DimAttr, ...]:
    """The dimensions' lanes and tags of the addressed block."""
    return tuple(axis.dim for axis in block_axes(entries, shape))


def verify_slots(name: str, operands: Sequence[SSAValue], layout: ArrayAttr[Attribute]) -> None:
    """Checks that an index list, which can be joined then, has a place for each of an op's operands."""
    slots = sum(isinstance(attr, UnitAttr) for attr in layout.data)
    if slots != len(operands):
        raise VerifyException(f"{name} has {len(operands)} index operands for {slots} places in its list")


def verify_entries(entries: Sequence[Entry], shape: Sequence[int]) -> None:
    """Checks an index list against the shape it addresses; raises `VerifyException` with what is wrong."""
    if len(entries) != len(shape):
        raise VerifyException(f"{len(entries)} indices for an array of {len(shape)} dimensions")
    for position, (entry, size) in enumerate(zip(entries, shape, strict=True)):
        _verify_entry(position, entry, size)
    gathers = [entry.type for entry in entries if isinstance(entry, SSAValue) and isinstance(entry.type, TileType)]
    if any(type.dims != gathers[0].dims for type in gathers):
        raise VerifyException("gathering indices need the same dimensions: broadcast them first")


def _verify_entry(position: int, entry: Entry, size: int) -> None:
    if isinstance(entry, int) and not 0 <= entry < size:
        raise VerifyException(f"index {entry} is outside dimension {position} of {size} elements")
    if isinstance(entry, SliceAttr) and entry.stop.data > size:
        raise VerifyException(f"slice {entry} is outside dimension {position} of {size} elements")
    if not isinstance(entry, SSAValue):
        return
    if isinstance(entry.type, TileType):
        element = entry.type.element_type
        if not isinstance(element, IntegerType) or element.width.data == 1:
            raise VerifyException(f"index {position} gathers by a tile of integers, found {entry.type}")
    elif not isinstance(entry.type, RangeType | IndexType):
        raise VerifyException(f"index {position} is a range, an index or a tile of integers, found {entry.type}")


@irdl_custom_directive
class Indexed(CustomDirective):
    """A memref or ref and its index list: ``%x[%i, :, 3, 0:64, %idx]``; indices are defined before."""

    memory: OperandDirective
    indices: VariadicOperandVariable
    types: WrittenType
    layout: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        memory = parser.parse_unresolved_operand()
        assert isinstance(self.memory, OperandVariable | OptionalOperandVariable)
        self.memory.set(state, memory)
        entries = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: _parse_entry(parser))
        indices = [entry for entry in entries if isinstance(entry, UnresolvedOperand)]
        self.indices.set(state, indices)
        self.types.set(state, [defined(parser, index).type for index in indices])
        layout = [_OPERAND if isinstance(entry, UnresolvedOperand) else entry for entry in entries]
        self.layout.set(state, ArrayAttr(layout))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        layout = self.layout.get(op)
        assert isinstance(layout, ArrayAttr)
        self.memory.print(printer, state, op)
        with printer.in_square_brackets():
            printer.print_list(join_entries(self.indices.get(op), layout), lambda entry: _print_entry(printer, entry))

    def is_present(self, op: IRDLOperation) -> bool:
        return self.memory.is_present(op)

    def is_anchorable(self) -> bool:
        return self.memory.is_anchorable()

    def set_empty(self, state: ParsingState) -> None:
        for directive in (self.memory, self.indices, self.types):
            directive.set_empty(state)


def _parse_entry(parser: Parser) -> UnresolvedOperand | Attribute:
    if (index := parser.parse_optional_unresolved_operand()) is not None:
        return index
    if parser.parse_optional_punctuation(":"):
        return ALL
    start = parser.parse_integer(allow_boolean=False)
    if not parser.parse_optional_punctuation(":"):
        return IntAttr(start)
    stop = parser.parse_integer(allow_boolean=False)
    step = parser.parse_integer(allow_boolean=False) if parser.parse_optional_punctuation(":") else 1
    return SliceAttr(start, stop, step)


def _print_entry(printer: Printer, entry: Entry) -> None:
    if isinstance(entry, SSAValue):
        printer.print_ssa_value(entry)
    else:
        printer.print_string(":" if isinstance(entry, AllAttr) else str(entry))
