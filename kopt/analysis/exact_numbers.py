"""Values whose lanes are whole multiples of a power of two, and not large: which floats they are, exactly. Pure.

``(code & 7) * 0.5`` is a multiple of 0.5, at most 3.5: a number of every float type that has three digits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import IntegerType, Signedness, f32
from xdsl.ir import SSAValue

from kopt.analysis.bottom_up import bottom_up
from kopt.analysis.wide_facts import MOVES
from kopt.dialects.tile import CastOp, ElementwiseOp, FullOp, MaskOp, TileType, tile_type

#: Binary digits that f32 has.
_DIGITS = 24
_SMALLEST = 2.0**-100


@dataclass(frozen=True)
class Multiples:
    """Whole multiples of ``unit``, a power of two, from ``-most`` to ``most``."""

    unit: float
    most: float

    def fits(self, digits: int, unit: float, most: float) -> bool:
        """Whether all of them are numbers of a float type: of its digits, smallest and largest number."""
        return self.most <= self.unit * 2.0**digits and self.unit >= unit and self.most <= most


class ExactNumbers:
    """What the lanes of tiles are multiples of. It remembers what it was asked for."""

    def __init__(self) -> None:
        self._known: dict[SSAValue, Multiples | None] = {}

    @bottom_up()
    def of(self, value: SSAValue) -> Multiples | None:
        """What the lanes of a tile are multiples of; None where nothing tells, or where f32 might round."""
        if value not in self._known:
            self._known[value] = self._found(value)
        return self._known[value]

    def _found(self, value: SSAValue) -> Multiples | None:
        bits = _bits(value)
        if bits < 32:
            return Multiples(1.0, 2.0**bits) if bits > 1 else None
        found = self._computed(value)
        return found if found is not None and found.fits(_DIGITS, _SMALLEST, 2.0**_DIGITS) else None

    def _computed(self, value: SSAValue) -> Multiples | None:
        op = value.owner
        if isinstance(op, FullOp):
            return _number(op.number)
        if isinstance(op, CastOp):
            return self.of(op.input)
        if isinstance(op, MOVES):
            filled = [_number(op.fill_number)] if isinstance(op, MaskOp) else []
            return _any([*filled, *(self.of(moved) for moved in op.operands if _has_element(moved, value))])
        if not isinstance(op, ElementwiseOp):
            return None
        name, operands = op.ROW.name, [self.of(operand) for operand in op.inputs]
        if name in _OF_BITS:
            return _OF_BITS[name](operands[0], op.inputs[-1].owner)
        known = [operand for operand in operands if operand is not None]
        return _RULES[name](*known) if name in _RULES and len(known) == len(operands) else None


def _bits(value: SSAValue) -> int:
    """The width of integers; 32 of f32. 0 of other floats, which round, and of unsigned words, which wrap below 0."""
    element = tile_type(value).element_type
    if not isinstance(element, IntegerType):
        return 32 if element == f32 else 0
    wraps = element.signedness.data == Signedness.UNSIGNED and element.width.data >= 32
    return 0 if wraps else element.width.data


def _has_element(operand: SSAValue, value: SSAValue) -> bool:
    return isinstance(operand.type, TileType) and operand.type.element_type == tile_type(value).element_type


def _number(number: float) -> Multiples | None:
    size = abs(float(number))
    if not size < 2.0**_DIGITS:
        return None
    above, below = size.as_integer_ratio()
    return Multiples(max(1, above & -above) / below, size)


def _any(found: Sequence[Multiples | None]) -> Multiples | None:
    known = [one for one in found if one is not None]
    if not known or len(known) < len(found):
        return None
    return Multiples(min(one.unit for one in known), max(one.most for one in known))


def _sum(a: Multiples, b: Multiples) -> Multiples:
    return Multiples(min(a.unit, b.unit), a.most + b.most)


def _masked(_: Multiples | None, mask: object) -> Multiples | None:
    """Some bits of a number, none of them its sign."""
    return Multiples(1.0, mask.number) if isinstance(mask, FullOp) and mask.number >= 0 else None


def _shifted(a: Multiples | None, by: object) -> Multiples | None:
    """A quotient that is rounded down: of a number below 0 it may be further from 0."""
    return Multiples(1.0, math.ceil(a.most / 2 ** int(by.number))) if a and isinstance(by, FullOp) else None


_RULES: dict[str, Callable[..., Multiples | None]] = {
    "add": _sum,
    "sub": _sum,
    "mul": lambda a, b: Multiples(a.unit * b.unit, a.most * b.most),
    "neg": lambda a: a,
    "abs": lambda a: a,
    "maximum": lambda *values: _any(values),
    "minimum": lambda *values: _any(values),
}
#: Ops on the bits of integers, by their second operand.
_OF_BITS: dict[str, Callable[[Multiples | None, object], Multiples | None]] = {"and": _masked, "shr": _shifted}
