"""Windows: which block of an array one step of a grid or of a pipeline sees."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, IntAttr, MemRefType, StringAttr
from xdsl.ir import Attribute
from xdsl.ir.affine import AffineMap
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.definition import Attr
from kopt.dialects.tile.types import SPACES, RefType
from kopt.open_extents import is_open

#: What index maps compute beyond affine expressions.
NUMBERS = ("load", "min", "max")


@irdl_attr_definition
class NumberAttr(Attr):
    """A number that an index map computes: ``#pallas.number<load 0, (d0) -> (d0)>``, the element of operand 0 there.

    The operand is in scalar memory before the grid runs. The map may depend on the numbers before it: the smaller one
    of the first number and 9 is ``<min, (d0)[s0] -> (s0, 9)>``; there is ``max`` too.
    """

    name = "pallas.number"

    kind: StringAttr
    of: AffineMapAttr
    operand: IntAttr

    def __init__(self, kind: str, of: AffineMap, operand: int | None = None):
        super().__init__(StringAttr(kind), AffineMapAttr(of), IntAttr(-1 if operand is None else operand))

    def verify(self) -> None:
        if self.kind.data not in NUMBERS:
            raise VerifyException(f"unknown number '{self.kind.data}': one of {', '.join(NUMBERS)}")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            kind = StringAttr(parser.parse_identifier())
            operand = IntAttr(parser.parse_integer(allow_negative=False) if kind.data == "load" else -1)
            parser.parse_punctuation(",")
            return [kind, AffineMapAttr(parser.parse_affine_map()), operand]

    def print_parameters(self, printer: Printer) -> None:
        operand = f" {self.operand.data}" if self.kind.data == "load" else ""
        printer.print_string(f"<{self.kind.data}{operand}, {self.of.data}>")


@irdl_attr_definition
class WindowAttr(Attr):
    """What one step of a grid sees of an array: ``#pallas.window<[128, _, 64], (d0, d1) -> (d0, d1, 0), vmem>``.

    It has three parts: the lanes of the block in each dimension, the block's number at a grid step, and the memory
    where the kernel finds it. ``_`` is a dimension of one element, which the kernel's ref leaves out. Symbols of the
    number are the ``numbers``: ``<[_, 64], (d0)[s0] -> (s0, 0), vmem, [<load 0, (d0) -> (d0)>]>``; of a pipeline's
    window, what its op is given.
    """

    name = "pallas.window"

    block: ArrayAttr[IntAttr]
    index: AffineMapAttr
    space: StringAttr
    numbers: ArrayAttr[NumberAttr]

    def __init__(self, block: Sequence[int], index: AffineMap, space: str = "vmem", numbers: Sequence[NumberAttr] = ()):
        sizes = ArrayAttr([IntAttr(size) for size in block])
        super().__init__(sizes, AffineMapAttr(index), StringAttr(space), ArrayAttr(numbers))

    @property
    def sizes(self) -> tuple[int, ...]:
        """Lanes of the block in each dimension; 0 where one element is taken and the dimension squeezed away."""
        return tuple(size.data for size in self.block.data)

    @property
    def grid_dims(self) -> frozenset[int]:
        """The dimensions of the grid that the block moves with, through numbers too."""
        maps = (self.index, *(number.of for number in self.numbers.data))
        return frozenset().union(*(map.data.used_dims() for map in maps))

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
            space = StringAttr(parser.parse_identifier())
            numbers: list[NumberAttr] = []
            if parser.parse_optional_punctuation(","):
                numbers = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: _parse_number(parser))
            return [ArrayAttr(sizes), AffineMapAttr(index), space, ArrayAttr(numbers)]

    def print_parameters(self, printer: Printer) -> None:
        sizes = ", ".join(str(size) if is_open(size) or size else "_" for size in self.sizes)
        printer.print_string(f"<[{sizes}], {self.index.data}, {self.space.data}")
        if self.numbers.data:
            printer.print_string(", ")
            with printer.in_square_brackets():
                printer.print_list(self.numbers.data, lambda number: number.print_parameters(printer))
        printer.print_string(">")


def _parse_size(parser: AttrParser) -> IntAttr:
    return IntAttr(0 if parser.parse_optional_keyword("_") else parser.parse_integer(allow_negative=False))


def _parse_number(parser: AttrParser) -> NumberAttr:
    return NumberAttr.new(NumberAttr.parse_parameters(parser))


def parse_window(parser: Parser) -> WindowAttr:
    """The parameters of a window, without its name."""
    return WindowAttr.new(WindowAttr.parse_parameters(parser))


def verify_window(
    array: MemRefType | RefType, block: Attribute, window: WindowAttr, dims: int, symbols: int = 0
) -> None:
    """That ``block`` is the ref of a window of an array, whose block number depends on so many numbers."""
    shape = array.get_shape() if isinstance(array, MemRefType) else array.shape
    if not isinstance(block, RefType):
        raise VerifyException(f"the block of a window is a ref, found {block}")
    if len(window.sizes) != len(shape):
        raise VerifyException(f"{window} has {len(window.sizes)} dimensions for {array}")
    if (window.index.data.num_dims, window.index.data.num_symbols) != (dims, symbols):
        of = f"the {dims} dimensions of its grid" + (f" and {symbols} numbers" if symbols else "")
        raise VerifyException(f"the block number of {window} is a function of {of}")
    seen = tuple(size for size in window.sizes if is_open(size) or size)
    if block.shape != seen or block.element_type != array.element_type or block.space != window.space:
        raise VerifyException(f"{window} of {array} is not {block}")


def verify_numbers(window: WindowAttr, prefetched: Sequence[Attribute], dims: int) -> None:
    """That each number of a window is made of those before it; what it loads is there before the grid runs."""
    for count, number in enumerate(window.numbers.data):
        of = number.of.data
        if (of.num_dims, of.num_symbols) != (dims, count):
            raise VerifyException(f"number s{count} of {window} is a function of {dims} dimensions and {count} numbers")
        if number.kind.data != "load":
            continue
        operand = number.operand.data
        if operand >= len(prefetched):
            raise VerifyException(f"{window} loads from operand {operand}, which is not there before the grid runs")
        array = prefetched[operand]
        if not isinstance(array, MemRefType) or len(of.results) != len(array.get_shape()):
            raise VerifyException(f"{of} is no place of {array}")
