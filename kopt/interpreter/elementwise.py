"""The NumPy meaning of every row of the elementwise table, and of select, cast and bitcast.

Each entry takes arrays of the operands' type and gives an array that is converted to the result's type.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from kopt.dialects.tile import ELEMENTWISE, BitcastOp, CastOp, ElementwiseOp, SelectOp, tile_type
from kopt.interpreter import ring_functions
from kopt.interpreter.machine import Handler, Machine
from kopt.interpreter.rounding import bitcast, cast, is_exact, rounded
from kopt.interpreter.values import TileValue, both

Array = np.ndarray


def _is_float(array: Array) -> bool:
    return np.issubdtype(array.dtype, np.floating)


def _truncdiv(a: Array, b: Array) -> Array:
    if _is_float(a):
        return np.trunc(a / b)
    down, left = np.divmod(a, b)
    return down + ((left != 0) & ((a < 0) != (b < 0)) & (b != 0)).astype(a.dtype)


def _mod(a: Array, b: Array) -> Array:
    """NumPy's own, but for zeros: they have the sign of the dividend."""
    if not _is_float(a):
        return np.mod(a, b)
    left = np.fmod(a, b)
    return np.where((left != 0) & ((left < 0) != (b < 0)), left + b, left)


def _pow(a: Array, b: Array) -> Array:
    """Integers to a negative power are 0, but for 1 and -1."""
    if _is_float(a):
        return np.power(a, b)
    power = np.power(a, np.where(b < 0, 0, b))
    odd = (b & 1) == 1
    inverse = np.where(a == 1, 1, np.where(a == -1, np.where(odd, -1, 1), 0))
    return np.where(b < 0, inverse, power).astype(a.dtype)


def _fma(a: Array, b: Array, c: Array) -> Array:
    """In double precision the product of two f32 is exact, so this rounds once (nearly: the sum rounds twice)."""
    return a.astype(np.float64) * b.astype(np.float64) + c.astype(np.float64)


_erf = np.frompyfunc(math.erf, 1, 1)

#: NumPy meaning by the name of the row.
NUMPY: dict[str, Callable[..., Array]] = {
    "neg": np.negative,
    "abs": np.abs,
    "sign": lambda a: np.where(a == a, np.sign(a), 0),
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "floordiv": np.floor_divide,
    "truncdiv": _truncdiv,
    "mod": _mod,
    "rem": np.fmod,
    "pow": _pow,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "fmax": np.fmax,
    "fmin": np.fmin,
    "atan2": np.arctan2,
    "copysign": np.copysign,
    "fma": _fma,
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sqrt": np.sqrt,
    "rsqrt": lambda a: 1 / np.sqrt(a),
    "reciprocal": lambda a: 1 / a,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "erf": _erf,
    "sigmoid": lambda a: 1 / (1 + np.exp(-a)),
    "floor": np.floor,
    "ceil": np.ceil,
    "round": np.rint,
    "trunc": np.trunc,
    "not": np.invert,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "shl": np.left_shift,
    "shr": np.right_shift,
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "isnan": np.isnan,
    "isinf": np.isinf,
}


def compute(name: str, *arrays: Array) -> Array:
    """One elementwise operation on plain arrays; overflow, division by zero and NaN are silent, as on a device."""
    with np.errstate(all="ignore"):
        return np.asarray(NUMPY[name](*arrays))


def _elementwise(m: Machine, op: ElementwiseOp) -> TileValue:
    tiles = [m.tile(value) for value in op.inputs]
    arrays, name = [tile.data for tile in tiles], op.ROW.name
    exact = is_exact(tile_type(op.inputs[0]).element_type)
    data = ring_functions.compute(name, NUMPY[name], *arrays) if exact else compute(name, *arrays)
    return TileValue(rounded(data, tile_type(op.result).element_type), both(*(tile.valid for tile in tiles)))


def _select(m: Machine, op: SelectOp) -> TileValue:
    condition, on_true, on_false = (m.tile(value) for value in op.operands)
    data = np.asarray(np.where(condition.data, on_true.data, on_false.data))
    return TileValue(data, both(condition.valid, on_true.valid, on_false.valid))


def _cast(m: Machine, op: CastOp) -> TileValue:
    source, target = tile_type(op.input), tile_type(op.result)
    value = m.tile(op.input)
    return TileValue(np.asarray(cast(value.data, source.element_type, target.element_type)), value.valid)


def _bitcast(m: Machine, op: BitcastOp) -> TileValue:
    source, target = tile_type(op.input), tile_type(op.result)
    value = m.tile(op.input)
    return TileValue(bitcast(value.data, source.element_type, target.element_type), value.valid)


HANDLERS: dict[type, Handler] = {
    **dict.fromkeys(ELEMENTWISE.values(), _elementwise),
    SelectOp: _select,
    CastOp: _cast,
    BitcastOp: _bitcast,
}
