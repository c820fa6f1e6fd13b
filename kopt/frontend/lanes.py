"""Arithmetic on IR values in one element type, as formulas read: ``x * x.sigmoid()``.

Used to expand a torch function inside its compute type, where nothing rounds in between.
"""

from __future__ import annotations

from typing import Any

from xdsl.ir import SSAValue

from kopt.dialects.tile import ELEMENTWISE, FullOp, SelectOp, is_float, tile_type
from kopt.frontend.state import current


def _operator(name: str, swapped: bool = False) -> Any:
    def method(self: LaneValue, other: Any) -> LaneValue:
        if swapped:
            return self.constant(other).op(name, self)
        return self.op(name, other)

    return method


class LaneValue:
    """A value of the IR; operators and the names of the elementwise table make ops on it."""

    __slots__ = ("ssa",)

    __add__: Any = _operator("add")
    __radd__: Any = _operator("add", swapped=True)
    __sub__: Any = _operator("sub")
    __rsub__: Any = _operator("sub", swapped=True)
    __mul__: Any = _operator("mul")
    __rmul__: Any = _operator("mul", swapped=True)
    __truediv__: Any = _operator("div")
    __rtruediv__: Any = _operator("div", swapped=True)
    __and__: Any = _operator("and")
    __rand__: Any = _operator("and", swapped=True)
    __or__: Any = _operator("or")
    __ror__: Any = _operator("or", swapped=True)
    __lt__: Any = _operator("lt")
    __le__: Any = _operator("le")
    __gt__: Any = _operator("gt")
    __ge__: Any = _operator("ge")

    def __init__(self, ssa: SSAValue):
        self.ssa = ssa

    @property
    def is_float(self) -> bool:
        """Whether its elements are floating-point numbers."""
        return is_float(tile_type(self.ssa).element_type)

    def constant(self, number: Any) -> LaneValue:
        """A number in this value's type."""
        type = tile_type(self.ssa)
        return LaneValue(current().emit(FullOp(number, type)))

    def op(self, name: str, *others: Any) -> LaneValue:
        """An op of the table on this value and others (numbers become constants)."""
        values = [self.ssa, *(o.ssa if isinstance(o, LaneValue) else self.constant(o).ssa for o in others)]
        return LaneValue(current().emit(ELEMENTWISE[name](*values)))

    def where(self, then: Any, otherwise: Any) -> LaneValue:
        """``then`` where this condition holds."""
        like = then if isinstance(then, LaneValue) else otherwise
        then, otherwise = (v if isinstance(v, LaneValue) else like.constant(v) for v in (then, otherwise))
        return LaneValue(current().emit(SelectOp(self.ssa, then.ssa, otherwise.ssa)))

    def __getattr__(self, name: str) -> Any:
        if name not in ELEMENTWISE:
            raise AttributeError(name)
        return lambda *others: self.op(name, *others)

    def __neg__(self) -> LaneValue:
        return self.op("neg")

    def __invert__(self) -> LaneValue:
        return self.op("not")
