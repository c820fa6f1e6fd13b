"""Arrays as kernels move them: parts of rows of 128 lanes, padded to whole tiles of the chip, and back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ArrayAttr, FixedBitwidthType, IntegerAttr, MemRefType, UnitAttr, i64
from xdsl.ir import SSAValue

from kopt.dialects.host import CallOp, ReshapeOp, SliceOp
from kopt.dialects.tile import array_type, literal
from kopt.targets.tiling import LANES, round_up

#: Rows of 128 lanes that a kernel holds on the chip at a time: in each of its blocks, or in those of all ranks.
PIECE_ROWS = 1024
SHARED_ROWS = 4096


def bits_of(type: MemRefType) -> int:
    """The bits of an element."""
    assert isinstance(type.element_type, FixedBitwidthType)
    return type.element_type.bitwidth


def tile_rows(type: MemRefType) -> int:
    """The rows of a tile of the chip: 8 of 32 bits, more of narrower elements."""
    return 8 * 32 // bits_of(type)


@dataclass(frozen=True)
class RowParts:
    """``count`` parts of so many elements, each as ``rows`` of 128 lanes, moved ``piece`` rows at a time."""

    type: MemRefType
    count: int
    elements: int
    most: int = PIECE_ROWS

    @property
    def piece(self) -> int:
        """Rows that are moved at a time, in whole tiles: all, or as many as there may be."""
        unit = tile_rows(self.type)
        return min(max(unit, self.most // unit * unit), round_up(-(-self.elements // LANES), unit))

    @property
    def rows(self) -> int:
        """Rows of a part, in whole pieces."""
        return round_up(-(-self.elements // LANES), self.piece)

    @property
    def whole(self) -> MemRefType:
        """The type of all parts."""
        return MemRefType(self.type.element_type, (self.count, self.rows, LANES))

    @property
    def single(self) -> MemRefType:
        """The type of one part."""
        return MemRefType(self.type.element_type, (self.rows, LANES))


def parts_of(type: MemRefType, count: int, most: int = PIECE_ROWS) -> RowParts:
    """An array cut into so many parts of equal size, the last of them padded; at most so many rows move at a time."""
    return RowParts(type, count, -(-math.prod(type.get_shape()) // count), most)


def to_rows(value: SSAValue, shape: Sequence[int]) -> SSAValue:
    """The elements of an array in another shape, after as many zeros as it takes: before a kernel.

    Each part along the first of three dimensions is padded by itself where the elements divide among them.
    """
    elements, size = math.prod(array_type(value).get_shape()), math.prod(shape)
    count = shape[0] if len(shape) == 3 and elements % shape[0] == 0 else 1
    flat = reshaped(value, (count, elements // count))
    return reshaped(padded(flat, (count, size // count)), shape)


def from_rows(value: SSAValue, parts: int, type: MemRefType) -> SSAValue:
    """The inverse: the elements without the zeros at the end of each part, in a shape: after a kernel."""
    size, elements = math.prod(array_type(value).get_shape()), math.prod(type.get_shape())
    count = parts if elements % parts == 0 else 1
    return reshaped(cropped(reshaped(value, (count, size // count)), (count, elements // count)), type.get_shape())


def reshaped(value: SSAValue, shape: Sequence[int]) -> SSAValue:
    """The elements in another shape."""
    if array_type(value).get_shape() == tuple(shape):
        return value
    return _called_like(ReshapeOp(value, MemRefType(array_type(value).element_type, shape)).result, value)


def padded(value: SSAValue, shape: Sequence[int]) -> SSAValue:
    """The array with zeros after it in each dimension, up to a shape."""
    assert isinstance(value.type, MemRefType)
    sizes = value.type.get_shape()
    if sizes == tuple(shape):
        return value
    pairs = [(0, new - old) for old, new in zip(sizes, shape, strict=True)]
    widths = ArrayAttr([IntegerAttr(width, i64) for pair in reversed(pairs) for width in pair])
    type, zero = MemRefType(value.type.element_type, shape), literal(0, value.type.element_type)
    call = CallOp("aten.constant_pad_nd.default", [value], [UnitAttr(), widths, zero], [type])
    return _called_like(call.outputs[0], value)


def cropped(value: SSAValue, shape: Sequence[int]) -> SSAValue:
    """The first elements of each dimension."""
    if array_type(value).get_shape() == tuple(shape):
        return value
    zeros, ones = [0] * len(shape), [1] * len(shape)
    type = MemRefType(array_type(value).element_type, shape)
    return _called_like(SliceOp(value, zeros, list(shape), ones, type).result, value)


def _called_like(value: SSAValue, other: SSAValue) -> SSAValue:
    value.name_hint = other.name_hint
    return value
