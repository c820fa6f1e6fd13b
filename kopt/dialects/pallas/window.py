"""Windows: which block of an array one step of a grid or of a pipeline sees."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, IntAttr, MemRefType, StringAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.ir.affine import AffineMap
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.tile.types import SPACES, RefType


@irdl_attr_definition
class WindowAttr(ParametrizedAttribute):
    """What one step of a grid sees of an array: ``#pallas.window<[128, _, 64], (d0, d1) -> (d0, d1, 0), vmem>``.

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


def parse_window(parser: Parser) -> WindowAttr:
    """The parameters of a window, without its name."""
    block, index, space = WindowAttr.parse_parameters(parser)
    return WindowAttr.new([block, index, space])


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
    seen = tuple(size for size in window.sizes if size)
    if block.shape != seen or block.element_type != array.element_type or block.space != window.space:
        raise VerifyException(f"{window} of {array} is not {block}")
