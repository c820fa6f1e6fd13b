"""What the lanes outside their range hold, where that is known: ``padding(value, tag)``.

Used to leave out masks whose fill is already there: ``exp`` of a load padded with ``-inf`` holds 0, so summing it
needs no mask.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import SSAValue

from kopt.dialects.tile import (
    BroadcastOp,
    CastOp,
    ElementwiseOp,
    FullOp,
    LoadOp,
    MaskOp,
    RangeType,
    TileType,
    TransposeOp,
    is_float,
    literal_value,
)

Number = float | int

#: Elementwise ops whose value on known numbers is the same on every target, exactly.
_EXACT: dict[str, Callable[..., Any]] = {
    "neg": lambda a: -a,
    "abs": lambda a: abs(a),
    "maximum": lambda a, b: math.nan if math.isnan(a) or math.isnan(b) else max(a, b),
    "minimum": lambda a, b: math.nan if math.isnan(a) or math.isnan(b) else min(a, b),
    "exp": lambda a: {-math.inf: 0.0, 0.0: 1.0}.get(a, math.nan),
    "exp2": lambda a: {-math.inf: 0.0, 0.0: 1.0}.get(a, math.nan),
}


def padding(value: SSAValue, tag: str) -> Number | None:
    """The number that every lane of ``value`` outside the range tagged ``tag`` holds, or None if not known."""
    op = value.owner
    if isinstance(op, FullOp):
        return op.number
    if isinstance(op, LoadOp):
        return literal_value(op.pad) if op.pad is not None and op.mask is None else None
    if isinstance(op, MaskOp):
        return _of_mask(op, tag)
    if isinstance(op, CastOp):
        return _of_cast(op, tag)
    if isinstance(op, TransposeOp):
        return padding(op.input, tag)
    if isinstance(op, BroadcastOp):
        return padding(op.input, tag) if tag in op.input_type.tags or isinstance(op.input.owner, FullOp) else None
    if isinstance(op, ElementwiseOp) and op.ROW.name in _EXACT:
        inputs = [padding(operand, tag) for operand in op.inputs]
        known = [number for number in inputs if number is not None]
        return _EXACT[op.ROW.name](*known) if len(known) == len(inputs) else None
    return None


def _of_mask(op: MaskOp, tag: str) -> Number | None:
    for limit in op.limits:
        if limit is not None and isinstance(limit.type, RangeType) and limit.type.tag == tag:
            return op.fill_number
    inner = padding(op.input, tag)
    return inner if inner == op.fill_number else None


def _of_cast(op: CastOp, tag: str) -> Number | None:
    number = padding(op.input, tag)
    type = op.result.type
    assert isinstance(type, TileType)
    exact = number is not None and (math.isinf(number) or number in (-1, 0, 1))
    if not exact or number is None:
        return None
    if is_float(type.element_type):
        return float(number)
    return int(number) if isinstance(type.element_type, IntegerType) and not math.isinf(number) else None
