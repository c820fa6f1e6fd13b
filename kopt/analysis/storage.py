"""The element types that a TPU kernel is given arrays in: the host casts those that Mosaic has no loads for. Pure."""

from __future__ import annotations

from xdsl.dialects.builtin import FixedBitwidthType, IntegerType, MemRefType, f16, f32, i1, i32
from xdsl.ir import Attribute

from kopt.dialects.tile.values import is_float, is_integer

#: The element type that an array has outside Mosaic's reach, and the one that the kernel is given.
_OUTSIDE: dict[Attribute, Attribute] = {i1: IntegerType(8), f16: f32, IntegerType(64): i32}


def stored_element(type: MemRefType) -> Attribute:
    """The element type that a kernel is given an array in: a TPU has scalars of 32 bits only."""
    element = _OUTSIDE.get(type.element_type, type.element_type)
    return element if type.get_shape() else wide(element)


def stored_bits(type: MemRefType) -> int:
    """The width of that type."""
    element = stored_element(type)
    assert isinstance(element, FixedBitwidthType)
    return element.bitwidth


def wide(element: Attribute) -> Attribute:
    """The 32-bit type that a narrower one is computed in; 32 bits and more stay as they are, and so does ``index``."""
    if is_float(element):
        return f32 if element.bitwidth < 32 else element  # pyright: ignore[reportAttributeAccessIssue]
    return i32 if isinstance(element, IntegerType) and element.width.data < 32 else element


def is_narrow(element: Attribute) -> bool:
    """Whether an element type is narrower than 32 bits, predicates included."""
    return wide(element) != element


def is_narrow_integer(element: Attribute) -> bool:
    """Whether an element type is an integer type of 8 or 16 bits."""
    return is_integer(element) and is_narrow(element)
