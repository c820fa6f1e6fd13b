"""Values none of whose lanes has its sign bit set, -0.0 among them: to add 0.0 to these changes nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence

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
#: Values that are looked at, at most.
_MOST = 256


def is_unsigned(value: SSAValue) -> bool:
    """Whether every lane of a tile of floats is NaN, or has no sign: 0.0, or greater."""
    seen, left = set[SSAValue](), [value]
    while left and len(seen) < _MOST:
        if (one := left.pop()) not in seen:
            seen.add(one)
            if (of := _signs_of(one)) is None:
                return False
            left += of
    return not left


def _signs_of(value: SSAValue) -> Sequence[SSAValue] | None:
    """The values of which none has a sign where a value has none: nothing where it never has; None where it may."""
    op = value.owner
    if not isinstance(op, Operation):
        return None
    if isinstance(op, FullOp):
        return () if _has_no_sign(op.number) else None
    if isinstance(op, CastOp) and isinstance(element := _element(op.input), IntegerType):
        return () if element == i1 or element.signedness.data.name == "UNSIGNED" else None
    if isinstance(op, ElementwiseOp) and (op.ROW.name in _UNSIGNED or _is_square(op)):
        return ()
    parts = [one for one in op.operands if _element(one) == _element(value) or isinstance(op, CastOp)]
    return parts if parts and _keeps(op) else None


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


def _element(value: SSAValue) -> object:
    return value.type.element_type if isinstance(value.type, TileType) else None
