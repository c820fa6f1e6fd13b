"""Python expressions as all printers write them: text, how strongly it binds, and which dimensions are really there.

Tables spell ops by templates such as ``{0} + {1}`` or ``jnp.where({0}, {1}, {2})``. `spell` puts operands in, and
parentheses where Python's precedence wants them:

    spell("{0} * {1}", Expr("a + b", SUM), Expr("c"))  →  (a + b) * c
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from xdsl.dialects.builtin import f32, i1
from xdsl.ir import Attribute

from kopt.dialects.tile.values import literal as rounded
from kopt.dialects.tile.values import literal_value

#: Python's binding strengths, weakest first; below them all stands what parentheses or commas end. Behind a number
#: there may be no dot.
COMPARE, OR, XOR, AND, SHIFT, SUM, PRODUCT, UNARY, NUMBER, ATOM = range(1, 11)
_OPERATORS: dict[type[ast.operator], int] = {
    ast.BitOr: OR,
    ast.BitXor: XOR,
    ast.BitAnd: AND,
    **dict.fromkeys((ast.LShift, ast.RShift), SHIFT),
    **dict.fromkeys((ast.Add, ast.Sub), SUM),
    **dict.fromkeys((ast.Mult, ast.Div, ast.FloorDiv, ast.Mod), PRODUCT),
}
#: What is no literal in Python, in any module and where `jnp` is there.
_PLAIN = {"inf": 'float("inf")', "-inf": 'float("-inf")', "nan": 'float("nan")'}
JNP = {"inf": "jnp.inf", "-inf": "-jnp.inf", "nan": "jnp.nan"}
_NAME = re.compile(r"[^\W\d]\w*(\[[:, None]+\])?\Z")
_SLOT = re.compile(r"\{(\d)\}")
_HELPER = re.compile(r"(?<![\w.])_[a-z]\w*(?=\()")


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
        """Whether the text may be repeated at no cost: a name, also with new dimensions, or a number."""
        return bool(_NAME.match(self.text)) or self.literal is not None

    def at(self, strength: int) -> str:
        """The text, in parentheses where it binds more weakly than ``strength``."""
        return self.text if self.strength >= strength else f"({self.text})"


@dataclass(frozen=True)
class Template:
    """A template that has been read: the text between its slots, and for each slot its operand and the strength that
    the operand needs there. ``helpers`` are the functions that it calls whose names begin with an underscore."""

    between: tuple[str, ...]
    slots: tuple[tuple[int, int], ...]
    strength: int
    helpers: tuple[str, ...]

    def is_repeated(self, operand: int) -> bool:
        """Whether an operand stands in several slots."""
        return sum(number == operand for number, _ in self.slots) > 1


@lru_cache(1 << 12)
def template(text: str) -> Template:
    """Reads a template: ``{0}`` is an operand, everything else Python."""
    between, numbers = _SLOT.split(text)[::2], [int(number) for number in _SLOT.findall(text)]
    names = [f"slot_{position}" for position in range(len(numbers))]
    joined = "".join(part for pair in zip(between, [*names, ""], strict=True) for part in pair)
    root = ast.parse(joined, mode="eval").body
    needed = dict(_needed(root, 0))
    slots = tuple((number, needed[name]) for number, name in zip(numbers, names, strict=True))
    return Template(tuple(between), slots, _strength(root), tuple(_HELPER.findall(text)))


def _strength(node: ast.expr) -> int:
    """How strongly a node binds what stands in it."""
    if isinstance(node, ast.BinOp):
        return _OPERATORS[type(node.op)]
    return COMPARE if isinstance(node, ast.Compare) else UNARY if isinstance(node, ast.UnaryOp) else ATOM


def _needed(node: ast.AST, strength: int) -> Iterator[tuple[str, int]]:
    """The names in a node, each with the strength that an expression in its place must have.

    Operands of an operator's own strength stand on its left only, and not in comparisons nor behind a sign.
    """
    if isinstance(node, ast.Name):
        yield node.id, strength
    elif isinstance(node, ast.BinOp):
        yield from _needed(node.left, _strength(node))
        yield from _needed(node.right, _strength(node) + 1)
    elif isinstance(node, ast.Attribute | ast.Subscript):
        yield from _needed(node.value, ATOM)
        yield from _needed(node.slice, 0) if isinstance(node, ast.Subscript) else ()
    else:
        inside = _strength(node) + 1 if isinstance(node, ast.Compare | ast.UnaryOp) else 0
        for child in ast.iter_child_nodes(node):
            yield from _needed(child, inside)


def spell(text: str, *operands: Expr, shape: tuple[int, ...] | None = None) -> Expr:
    """A template with its operands; they have ``shape`` together unless told."""
    read = template(text)
    shape = joint_shape(operands) if shape is None else shape
    if read.between == ("", ""):
        return replace(operands[read.slots[0][0]], shape=shape)
    spelt = [operands[number].at(strength) for number, strength in read.slots]
    joined = "".join(part for pair in zip(read.between, [*spelt, ""], strict=True) for part in pair)
    return Expr(joined, read.strength, shape)


def add(left: Expr, right: Expr) -> Expr:
    """``left + right`` of integers, shorter where one is 0."""
    if left.literal is not None and right.literal is not None:
        return number(int(left.literal + right.literal))
    if left.literal == 0:
        return right
    if right.literal is not None and right.literal < 0:
        return spell("{0} - {1}", left, number(-int(right.literal)))
    return left if right.literal == 0 else spell("{0} + {1}", left, right)


def subtract(left: Expr, right: Expr) -> Expr:
    """``left - right`` of integers, shorter where the second is 0."""
    if left.literal is not None and right.literal is not None:
        return number(int(left.literal - right.literal))
    return left if right.literal == 0 else spell("{0} - {1}", left, right)


def times(left: Expr, right: Expr) -> Expr:
    """``left * right`` of integers, shorter where one is 0 or 1."""
    if left.literal is not None and right.literal is not None:
        return number(int(left.literal * right.literal))
    if 0 in (left.literal, right.literal):
        return number(0)
    if left.literal == 1:
        return right
    return left if right.literal == 1 else spell("{0} * {1}", left, right)


def known(text: str, function: Callable[[Any, Any], int]) -> Callable[[Expr, Expr], Expr]:
    """A template for integers, or its value where both operands are numbers."""

    def computed(left: Expr, right: Expr) -> Expr:
        if left.literal is None or right.literal is None:
            return spell(text, left, right)
        return number(function(left.literal, right.literal))

    return computed


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


# Numbers


def number(value: float | int, type: Attribute | None = None, special: Mapping[str, str] = _PLAIN) -> Expr:
    """A Python literal; of a type, the shortest text that gives the same value in it: ``0.3`` for an f32."""
    if type == i1:
        return Expr(str(bool(value)), literal=bool(value))
    text = repr(value) if isinstance(value, int) else _shortest(repr(value), type)
    text = special.get(text, text)
    return Expr(text, UNARY if text.startswith("-") else NUMBER, literal=value)


def literal(attr: Attribute, special: Mapping[str, str] = _PLAIN) -> Expr:
    """The number of an attribute, in its type."""
    return number(literal_value(attr), getattr(attr, "type", None), special)


@lru_cache(1024)
def _shortest(text: str, type: Attribute | None) -> str:
    """The shortest text that rounds to a value of a type: it is read as an f64, which may become an f32 first."""
    value = float(text)
    if type is not None and math.isfinite(value):
        for digits in range(1, 10):
            read = float(f"{value:.{digits}g}")
            narrow = literal_value(rounded(read, f32))
            if all(literal_value(rounded(each, type)) == value for each in (read, narrow)):
                return repr(math.copysign(read, value))
    return repr(float(value))
