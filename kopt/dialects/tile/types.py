"""Types of the ``tile`` dialect: values (`tile`), loop bindings (`range`) and on-chip memory (`ref`).

A dimension is a concrete number, tagged with the loop binding it walks: ``b0=128`` is the 128 lanes of one
block of range ``b0``; an untagged ``64`` is a plain extent. Equality and broadcasting consult the tag: two
loops over the same block size are different axes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from xdsl.dialects.builtin import ArrayAttr, FixedBitwidthType, IntAttr, IntegerType, MemRefType, StringAttr
from xdsl.ir import Attribute, SSAValue, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.definition import Attr
from kopt.open_extents import is_open

#: A tag must not read as an element type (``i32``) or as a hexadecimal size.
_TAG = re.compile(r"[a-z_][a-z_0-9]*\Z")
_NOT_A_TAG = re.compile(r"(?:(?:i|si|ui|f|bf|tf)\d\w*|index|none|x|x\d\w*)\Z")


@irdl_attr_definition
class DimAttr(Attr):
    """One dimension: ``size`` lanes, and the ``tag`` of the range they walk (empty for a plain extent)."""

    name = "tile.dim"

    size: IntAttr
    tag: StringAttr

    def __init__(self, size: int, tag: str = ""):
        super().__init__(IntAttr(size), StringAttr(tag))

    def verify(self) -> None:
        if not is_open(self.size.data) and self.size.data < 0:
            raise VerifyException(f"a dimension cannot have {self.size.data} lanes")
        tag = self.tag.data
        if tag and (not _TAG.match(tag) or _NOT_A_TAG.match(tag)):
            raise VerifyException(f"'{tag}' is not a usable tag: take a lower-case name that is no type, such as b0")

    def __str__(self) -> str:
        return f"{self.tag.data}={self.size.data}" if self.tag.data else str(self.size.data)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            dim = parse_dim(parser)
        return [dim.size, dim.tag]

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string(f"<{self}>")


#: What may be given for a dimension: a plain extent, ``("b0", 128)``, or the attribute itself.
DimLike = DimAttr | int | tuple[str, int]


def as_dim(dim: DimLike) -> DimAttr:
    """A dimension from any of its spellings in Python."""
    if isinstance(dim, DimAttr):
        return dim
    size, tag = (dim, "") if isinstance(dim, int) else (dim[1], dim[0])
    return DimAttr(size, tag) if is_open(size) else _dim(size, tag)


@lru_cache(maxsize=4096)
def _dim(size: int, tag: str) -> DimAttr:
    return DimAttr(size, tag)


def parse_dim(parser: AttrParser) -> DimAttr:
    """``b0=128`` or ``64``."""
    tag = parser.parse_optional_identifier()
    if tag is not None:
        parser.parse_punctuation("=")
    return DimAttr(parser.parse_shape_dimension(allow_dynamic=False), tag or "")


def parse_dims_and_type(parser: AttrParser) -> tuple[ArrayAttr[DimAttr], Attribute]:
    """``b0=128 x 64 x f32``: dimensions, then the element type."""
    dims: list[DimAttr] = []
    while (element_type := parser.parse_optional_type()) is None:
        dims.append(parse_dim(parser))
        parser.parse_shape_delimiter()
    return ArrayAttr(dims), element_type


def print_dims_and_type(printer: Printer, dims: Iterable[DimAttr], element_type: Attribute) -> None:
    """The inverse of `parse_dims_and_type`."""
    for dim in dims:
        printer.print_string(f"{dim} x ")
    printer.print_attribute(element_type)


def parse_tile_type(parser: AttrParser) -> TileType:
    """A ``!tile.tile`` type; a parse error says what stands there instead."""
    start = parser.pos
    type = parser.parse_type()
    if not isinstance(type, TileType):
        parser.raise_error(f"expected a !tile.tile type, found {type}", start, parser.pos)
    return type


def parse_known_types(parser: AttrParser, types: Iterable[Attribute]) -> None:
    """The types of values that are known already, separated by commas; a parse error where the text says otherwise."""
    for number, known in enumerate(types):
        if number:
            parser.parse_punctuation(",")
        start = parser.pos
        found = parser.parse_type()
        if found != known:
            parser.raise_error(f"expected the type {known}, found {found}", start, parser.pos)


class _Shaped:
    """Accessors shared by types that have dimensions and an element type."""

    dims: ArrayAttr[DimAttr]

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the dimensions, in lanes."""
        return tuple([dim.size.data for dim in self.dims.data])

    @property
    def tags(self) -> tuple[str, ...]:
        """Tags of the dimensions; empty for plain extents."""
        return tuple([dim.tag.data for dim in self.dims.data])

    @property
    def rank(self) -> int:
        """Number of dimensions; 0 is a scalar."""
        return len(self.dims.data)


@irdl_attr_definition
class TileType(_Shaped, Attr, TypeAttribute):
    """A block being computed: an immutable value. ``!tile.tile<b0=128 x 64 x f32>``; rank 0 is a scalar."""

    name = "tile.tile"

    dims: ArrayAttr[DimAttr]
    element_type: Attribute

    def __init__(self, dims: Iterable[DimLike], element_type: Attribute):
        super().__init__(ArrayAttr([as_dim(dim) for dim in dims]), element_type)

    def with_element(self, element_type: Attribute) -> TileType:
        """The same dimensions with another element type."""
        return TileType.new([self.dims, element_type])

    def with_dims(self, dims: Iterable[DimLike]) -> TileType:
        """The same element type with other dimensions."""
        return TileType(dims, self.element_type)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return parse_dims_and_type(parser)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            print_dims_and_type(printer, self.dims.data, self.element_type)


@irdl_attr_definition
class RangeType(Attr, TypeAttribute):
    """One block of a loop: where it begins, and the limit beyond which lanes are not valid.

    ``!tile.range<b0=128>`` has 128 lanes and names the axis ``b0``. The limit belongs to the range that
    the loop binds, not to the type.
    """

    name = "tile.range"

    dim: DimAttr

    def __init__(self, tag: str, size: int):
        super().__init__(_dim(size, tag))

    @property
    def tag(self) -> str:
        """The axis that the range names."""
        return self.dim.tag.data

    @property
    def size(self) -> int:
        """Number of lanes of a block."""
        return self.dim.size.data

    def verify(self) -> None:
        if not self.tag:
            raise VerifyException("a range needs a tag, such as !tile.range<b0=128>")
        if self.size < 1:
            raise VerifyException("a range needs at least one lane")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return [parse_dim(parser)]

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string(f"<{self.dim}>")


#: Memories a `ref` may live in, semaphores that copies count bytes with, and counters of signals.
SPACES = ("vmem", "smem", "hbm", "any", "semaphore", "counter")


@irdl_attr_definition
class RefType(_Shaped, Attr, TypeAttribute):
    """A mutable buffer on the chip: ``!tile.ref<b0=128 x 64 x f32, vmem>``, read by `get`, written by `put`."""

    name = "tile.ref"

    dims: ArrayAttr[DimAttr]
    element_type: Attribute
    space: StringAttr

    def __init__(self, dims: Iterable[DimLike], element_type: Attribute, space: str = "vmem"):
        super().__init__(ArrayAttr([as_dim(dim) for dim in dims]), element_type, StringAttr(space))

    def verify(self) -> None:
        if self.space.data not in SPACES:
            raise VerifyException(f"unknown memory space '{self.space.data}': one of {', '.join(SPACES)}")
        if not isinstance(self.element_type, FixedBitwidthType):
            raise VerifyException(f"buffers hold integers or floats, found {self.element_type}")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            dims, element_type = parse_dims_and_type(parser)
            parser.parse_punctuation(",")
            return [dims, element_type, StringAttr(parser.parse_identifier())]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            print_dims_and_type(printer, self.dims.data, self.element_type)
            printer.print_string(f", {self.space.data}")


def tile_type(value: SSAValue) -> TileType:
    """The type of a value that is a tile."""
    assert isinstance(value.type, TileType)
    return value.type


def element_of(value: SSAValue | Attribute) -> Attribute:
    """The element type of a tile, or the type of a scalar: of a value or a type, as MLIR's ``getElementTypeOrSelf``."""
    type = value.type if isinstance(value, SSAValue) else value
    return type.element_type if isinstance(type, TileType) else type


def width_of(type: Attribute) -> int:
    """The bits of a scalar that is an integer, or an index."""
    return type.width.data if isinstance(type, IntegerType) else 64


def range_type(value: SSAValue) -> RangeType:
    """The type of a value that is a range."""
    assert isinstance(value.type, RangeType)
    return value.type


def tag_of(range: SSAValue) -> str:
    """The tag of a range."""
    return range_type(range).tag


def array_type(value: SSAValue) -> MemRefType:
    """The type of a value that is an array."""
    assert isinstance(value.type, MemRefType)
    return value.type
