"""Values none of whose lanes has its sign bit set, -0.0 among them: to add 0.0 to these changes nothing."""

from __future__ import annotations

import math

from xdsl.dialects.builtin import IntegerType, i1
from xdsl.ir import Operation, SSAValue

from kopt.dialects.tile.constants import FullOp
from kopt.dialects.tile.elementwise import CastOp, ElementwiseOp, SelectOp
from kopt.dialects.tile.reductions import MaskOp, ReduceOp
from kopt.dialects.tile.shape import BroadcastOp, ConcatOp, ReshapeOp, SliceOp, TransposeOp
from kopt.dialects.tile.types import TileType

#: Ops whose results have no sign, and those of which that holds where it holds of all operands.
_UNSIGNED = ("abs", "exp", "exp2", "sigmoid")
_KEEPS = ("add", "mul", "div", "fma", "maximum", "minimum", "fmax", "fmin", "sqrt", "rsqrt", "reciprocal", "pow")
_SUMS = ("add", "mul")
_MOVES = (BroadcastOp, ConcatOp, ReshapeOp, SelectOp, SliceOp, TransposeOp)
#: How far back is looked.
_DEPTH = 12


def is_unsigned(value: SSAValue, depth: int = _DEPTH) -> bool:
    """Whether every lane of a tile of floats is NaN, or has no sign: 0.0, or greater."""
    op = value.owner
    if not isinstance(op, Operation) or depth == 0:
        return False
    if isinstance(op, FullOp):
        return _has_no_sign(op.number)
    if isinstance(op, CastOp) and (found := _of_integers(op.input)) is not None:
        return found
    if isinstance(op, ElementwiseOp) and (op.ROW.name in _UNSIGNED or _is_square(op)):
        return True
    parts = [one for one in op.operands if _element(one) == _element(value) or isinstance(op, CastOp)]
    return _keeps(op) and bool(parts) and all(is_unsigned(one, depth - 1) for one in parts)


def _keeps(op: Operation) -> bool:
    """Whether results of an op have no sign where its operands have none."""
    if isinstance(op, ElementwiseOp):
        return op.ROW.name in _KEEPS
    if isinstance(op, ReduceOp):
        return op.kind.data in _SUMS
    return isinstance(op, (CastOp, *_MOVES)) or isinstance(op, MaskOp) and _has_no_sign(op.fill_number)


def _is_square(op: ElementwiseOp) -> bool:
    return op.ROW.name == "mul" and op.inputs[0] == op.inputs[1]


def _has_no_sign(number: float) -> bool:
    return number != number or math.copysign(1, number) > 0


def _of_integers(value: SSAValue) -> bool | None:
    """Whether integers that are cast have no sign; None of floats."""
    element = _element(value)
    if not isinstance(element, IntegerType):
        return None
    return element == i1 or element.signedness.data.name == "UNSIGNED"


def _element(value: SSAValue) -> object:
    return value.type.element_type if isinstance(value.type, TileType) else None
