"""Python expressions of Triton values: text, binding strength, and which dimensions are really there.

Triton broadcasts in arithmetic, so a broadcast tile is kept narrow (``m[:, None]``) until someone needs its lanes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

#: Python's binding strengths, weakest first.
COMPARE, OR, XOR, AND, SHIFT, SUM, PRODUCT, UNARY, ATOM = 1, 2, 3, 4, 5, 6, 7, 8, 10


@dataclass(frozen=True)
class Expr:
    """An expression. ``shape`` has one size a dimension of the tile, 1 where it is still to be broadcast, and is
    empty for scalars, which broadcast to anything. ``literal`` is the number of a plain Python literal."""

    text: str
    strength: int = ATOM
    shape: tuple[int, ...] = ()
    literal: float | int | None = None

    @property
    def is_name(self) -> bool:
        """Whether the text may be repeated at no cost: a name or a number."""
        return self.text.isidentifier() or self.literal is not None

    def at(self, strength: int) -> str:
        """The text, in parentheses where it binds more weakly than ``strength``."""
        return self.text if self.strength >= strength else f"({self.text})"


def number(value: float | int, kind: str = "") -> Expr:
    """A literal as Python spells it; ``kind`` ``f32`` takes the shortest text that rounds to it, ``i1`` a boolean."""
    if kind == "i1":
        return Expr(str(bool(value)), literal=bool(value))
    if isinstance(value, int):
        return Expr(str(value), ATOM if value >= 0 else UNARY, literal=value)
    if math.isnan(value) or math.isinf(value):
        return Expr(f'float("{value}")', literal=value)
    text = str(np.float32(value)) if kind == "f32" else repr(value)
    return Expr(text, ATOM if math.copysign(1, value) > 0 else UNARY, literal=value)


def infix(operator: str, strength: int, left: Expr, right: Expr) -> Expr:
    """``left operator right``; operands of the same strength stand on the left only, and not in comparisons."""
    left_text = left.at(strength + (strength == COMPARE))
    return Expr(f"{left_text} {operator} {right.at(strength + 1)}", strength, joint_shape([left, right]))


def prefix(operator: str, operand: Expr) -> Expr:
    """``-operand`` or ``~operand``."""
    return Expr(f"{operator}{operand.at(UNARY + 1)}", UNARY, operand.shape)


def call(function: str, operands: Sequence[Expr], extra: str = "") -> Expr:
    """``function(operands, extra)`` with the joint shape of the operands."""
    texts = [operand.text for operand in operands] + ([extra] if extra else [])
    return Expr(f"{function}({', '.join(texts)})", ATOM, joint_shape(operands))


def method(operand: Expr, text: str) -> Expr:
    """``operand.text``."""
    return Expr(f"{operand.at(ATOM)}.{text}", ATOM, operand.shape)


def joint_shape(operands: Sequence[Expr]) -> tuple[int, ...]:
    """The shape that operands have together: each dimension's size where any has it."""
    shapes = [operand.shape for operand in operands if operand.shape]
    return tuple(max(sizes) for sizes in zip(*shapes, strict=True)) if shapes else ()


def place(operand: Expr, positions: Sequence[int], rank: int) -> Expr:
    """Dimensions of ``operand`` at ``positions`` among ``rank``; the others are 1: ``m[:, None]``."""
    if not operand.shape:
        return operand
    sizes = dict(zip(positions, operand.shape, strict=True))
    shape = tuple(sizes.get(number, 1) for number in range(rank))
    if len(positions) == rank:
        return replace(operand, shape=shape)
    slots = ", ".join(":" if number in sizes else "None" for number in range(rank))
    return Expr(f"{operand.at(ATOM)}[{slots}]", ATOM, shape)
