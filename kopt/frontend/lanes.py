"""Arithmetic on IR values in one element type, as formulas read: ``x * x.sigmoid()``.

Used to expand a torch function inside its compute type, where nothing rounds in between.
"""

from __future__ import annotations

from typing import Any

from xdsl.ir import SSAValue

from kopt.dialects.tile import ELEMENTWISE, FullOp, SelectOp, TileType
from kopt.frontend.state import current


class Lane:
    """A value of the IR; operators and the names of the elementwise table make ops on it."""

    __slots__ = ("ssa",)

    def __init__(self, ssa: SSAValue):
        self.ssa = ssa

    def constant(self, number: Any) -> Lane:
        """A number in this value's type."""
        type = self.ssa.type
        assert isinstance(type, TileType)
        return Lane(current().emit(FullOp(number, type)))

    def op(self, name: str, *others: Any) -> Lane:
        """An op of the table on this value and others (numbers become constants)."""
        values = [self.ssa, *(o.ssa if isinstance(o, Lane) else self.constant(o).ssa for o in others)]
        return Lane(current().emit(ELEMENTWISE[name](*values)))

    def where(self, then: Any, otherwise: Any) -> Lane:
        """``then`` where this condition holds."""
        like = then if isinstance(then, Lane) else otherwise
        then, otherwise = (v if isinstance(v, Lane) else like.constant(v) for v in (then, otherwise))
        return Lane(current().emit(SelectOp(self.ssa, then.ssa, otherwise.ssa)))

    def __getattr__(self, name: str) -> Any:
        if name not in ELEMENTWISE:
            raise AttributeError(name)
        return lambda *others: self.op(name, *others)

    def __neg__(self) -> Lane:
        return self.op("neg")

    def __invert__(self) -> Lane:
        return self.op("not")


def _operator(name: str, swapped: bool = False) -> Any:
    def method(self: Lane, other: Any) -> Lane:
        if swapped:
            return self.constant(other).op(name, self)
        return self.op(name, other)

    return method


_OPERATORS = {
    "add": "add",
    "sub": "sub",
    "mul": "mul",
    "truediv": "div",
    "and": "and",
    "or": "or",
    "lt": "lt",
    "le": "le",
    "gt": "gt",
    "ge": "ge",
}
for _name, _operation in _OPERATORS.items():
    setattr(Lane, f"__{_name}__", _operator(_operation))
    if _name not in ("lt", "le", "gt", "ge"):
        setattr(Lane, f"__r{_name}__", _operator(_operation, swapped=True))
