"""Index expressions and conditions as NumPy evaluates them, in 64 bits, for one block."""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np

from kopt.ir.atoms import Atom, BlockNumber, Element, Extremum, Lane, Select, Symbol, Wrap
from kopt.ir.condition import Comparison, Condition, Junction, Named, Truth
from kopt.ir.division import FloorDiv, Mod
from kopt.ir.index_expr import IndexExpr
from kopt.ir.polynomial import Coefficient, substituted


def evaluate(expr: IndexExpr, arrays: Mapping[Hashable, Any], shape: Sequence[int] = ()) -> np.ndarray:
    """The numbers of an expression, as NumPy has them, of a block of ``shape``; ``arrays`` has what names are."""
    return Evaluation(arrays, shape).expr(expr)


class Evaluation:
    """One block of ``shape``; ``arrays`` holds what names stand for, those of block numbers and sizes too.

    A name's array has a dimension for each one that the name stands along.
    """

    def __init__(self, arrays: Mapping[Hashable, Any], shape: Sequence[int] = ()):
        self._arrays = arrays
        self._rank = len(shape)
        self._known: dict[Atom, np.ndarray] = {}

    def expr(self, expr: IndexExpr) -> np.ndarray:
        """The numbers of an expression; they broadcast against the block."""
        total = np.asarray(self._size(expr.const), np.int64)
        for atom, factor in expr.terms.items():
            total = total + self._size(factor) * self._atom(atom)
        return np.asarray(total)

    def condition(self, condition: Condition) -> np.ndarray:
        """Where a condition holds."""
        if isinstance(condition, Comparison):
            return _RELATIONS[condition.relation](self.expr(condition.expr), 0)
        if isinstance(condition, Junction):
            join = np.logical_and if condition.every else np.logical_or
            return reduce(join, map(self.condition, condition.conditions))
        if isinstance(condition, Named):
            held = self._placed(np.asarray(self._arrays[condition.name], bool), condition.dims)
            return held if condition.holds else ~held
        assert isinstance(condition, Truth)
        return np.asarray(condition.value)

    def _size(self, value: Coefficient) -> int:
        found = value if isinstance(value, int) else substituted(value, self._arrays)
        assert isinstance(found, int), f"{found} has no number"
        return found

    def _atom(self, atom: Atom) -> np.ndarray:
        if atom not in self._known:
            self._known[atom] = _ATOMS[type(atom)](self, atom)
        return self._known[atom]

    def _placed(self, array: np.ndarray, dims: Sequence[int]) -> np.ndarray:
        """A name's array with its dimensions along some of the block's."""
        shape = [1] * self._rank if dims else []
        for dim, size in zip(dims, array.shape, strict=True):
            shape[dim] = size
        return np.transpose(array, np.argsort(dims)).reshape(shape) if dims else array

    def symbol(self, atom: Symbol) -> np.ndarray:
        """What a name stands for."""
        return self._placed(np.asarray(self._arrays[atom.name], np.int64), atom.dims)

    def element(self, atom: Element) -> np.ndarray:
        """The lanes of what a name stands for."""
        return np.asarray(self._arrays[atom.name], np.int64)[tuple(map(self.expr, atom.lanes))]

    def block_number(self, atom: BlockNumber) -> np.ndarray:
        """The number of the block that is looked at."""
        return np.asarray(self._arrays[atom.name], np.int64)

    def lane(self, atom: Lane) -> np.ndarray:
        """The numbers of the lanes."""
        return self._placed(np.arange(self._size(atom.size)), (atom.dim,))

    def floordiv(self, atom: FloorDiv) -> np.ndarray:
        """A quotient; by 0 it is 0."""
        with np.errstate(all="ignore"):
            return np.floor_divide(self.expr(atom.dividend), self.expr(atom.divisor))

    def mod(self, atom: Mod) -> np.ndarray:
        """A remainder; by 0 it is 0."""
        with np.errstate(all="ignore"):
            return np.mod(self.expr(atom.dividend), self.expr(atom.divisor))

    def extremum(self, atom: Extremum) -> np.ndarray:
        """The least or the largest."""
        return reduce(np.maximum if atom.largest else np.minimum, map(self.expr, atom.operands))

    def select(self, atom: Select) -> np.ndarray:
        """One of two."""
        return np.where(self.condition(atom.condition), self.expr(atom.then), self.expr(atom.otherwise))

    def wrap(self, atom: Wrap) -> np.ndarray:
        """What an integer type holds."""
        value = self.expr(atom.inner)
        if atom.bits >= 64:
            return value
        low = 1 << atom.bits - 1 if atom.signed else 0
        return ((value + low) & ((1 << atom.bits) - 1)) - low


_RELATIONS = {"ge": operator.ge, "eq": operator.eq, "ne": operator.ne}
_ATOMS: dict[type[Atom], Callable[[Evaluation, Any], np.ndarray]] = {
    Symbol: Evaluation.symbol,
    BlockNumber: Evaluation.block_number,
    Lane: Evaluation.lane,
    Element: Evaluation.element,
    FloorDiv: Evaluation.floordiv,
    Mod: Evaluation.mod,
    Extremum: Evaluation.extremum,
    Select: Evaluation.select,
    Wrap: Evaluation.wrap,
}
