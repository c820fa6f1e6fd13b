"""The reference of scaled operands: every number times the scale of its group, in f32."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from xdsl.dialects.builtin import Float8E4M3FNType, f32

from kopt.dialects.tile import ScalingExtfOp, tile_type
from kopt.interpreter.machine import Handler, Machine
from kopt.interpreter.rounding import cast
from kopt.interpreter.values import TileValue, ValidLanes, both

#: The numbers of 4 bits by their codes.
_OF_4_BITS = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)


def _scaling(m: Machine, op: ScalingExtfOp) -> TileValue:
    value, scale, dim = m.tile(op.input), m.tile(op.scale), op.dim.data
    numbers = cast(value.data, tile_type(op.input).element_type, f32)
    if op.numbers_each == 2:
        codes = value.data.astype(np.int32)
        numbers = np.stack([_OF_4_BITS[codes & 15], _OF_4_BITS[codes >> 4]], dim + 1).reshape(
            tile_type(op.result).shape
        )
    factors = np.repeat(_factors(op, scale.data), op.group, 1)
    with np.errstate(all="ignore"):
        data = numbers * (factors.T if dim == 0 else factors)
    rows = _repeated(scale.valid, 1, op.group)
    rows = tuple(replace(lanes, dims=tuple(abs(each - 1 + dim) for each in lanes.dims)) for lanes in rows)
    valid = both(_repeated(value.valid, dim, op.numbers_each), rows)
    return TileValue(np.asarray(cast(data, f32, tile_type(op.result).element_type)), valid)


def _factors(op: ScalingExtfOp, scale: np.ndarray) -> np.ndarray:
    element = tile_type(op.scale).element_type
    if isinstance(element, Float8E4M3FNType):
        return cast(scale, element, f32)
    return np.where(scale == 255, np.float32("nan"), np.exp2(scale.astype(np.float32) - 127))


def _repeated(valid: tuple[ValidLanes, ...], dim: int, times: int) -> tuple[ValidLanes, ...]:
    """Valid lanes, where each of a dimension became several."""
    return tuple(
        replace(lanes, mask=np.repeat(lanes.mask, times, lanes.dims.index(dim))) if dim in lanes.dims else lanes
        for lanes in valid
    )


HANDLERS: dict[type, Handler] = {ScalingExtfOp: _scaling}
