"""The elementwise table over exact numbers: arithmetic is the field's, everything else a hash of its operands."""

from __future__ import annotations

import zlib
from collections.abc import Callable

import numpy as np

from kopt.errors import UnsupportedError
from kopt.interpreter import ring
from kopt.interpreter.ring import HIGH, LOW, NAN, PRIME, Array

_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def _is_nan(*operands: Array) -> Array:
    return np.logical_or.reduce([a == NAN for a in np.broadcast_arrays(*operands)])


def _compared(compare: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    return lambda a, b: compare(a, b) & ~_is_nan(a, b)


def _negated(a: Array) -> Array:
    return np.where(a == NAN, NAN, -a)


def _ignoring(pick: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    """The other one where one is NaN."""
    return lambda a, b: np.where(a == NAN, b, np.where(b == NAN, a, pick(a, b)))


def _magnitude(a: Array) -> Array:
    return np.where(a == NAN, NAN, np.abs(a))


#: What is more than a hash, by the name of the row.
EXACT: dict[str, Callable[..., Array]] = {
    "neg": _negated,
    "abs": _magnitude,
    "sign": lambda a: np.where(a == NAN, 0, np.sign(a)),
    "add": ring.add,
    "sub": lambda a, b: ring.add(a, _negated(b)),
    "mul": ring.multiply,
    "div": ring.divide,
    "reciprocal": lambda a: ring.divide(np.ones_like(a), a),
    "fma": lambda a, b, c: ring.add(ring.multiply(a, b), c),
    "maximum": ring.maximum,
    "minimum": ring.minimum,
    "fmax": _ignoring(ring.maximum),
    "fmin": _ignoring(ring.minimum),
    "eq": _compared(np.equal),
    "ne": lambda a, b: np.not_equal(a, b) | _is_nan(a, b),
    "lt": _compared(np.less),
    "le": _compared(np.less_equal),
    "gt": _compared(np.greater),
    "ge": _compared(np.greater_equal),
    "isnan": lambda a: a == NAN,
    "isinf": lambda a: (a == HIGH) | (a == LOW),
}


def compute(name: str, numpy: Callable[..., Array], *operands: Array) -> Array:
    """One operation on exact numbers; ``numpy`` is its meaning on floats, which infinities, NaN, 0 and 1 go by."""
    if name in EXACT:
        return np.asarray(EXACT[name](*operands))
    if len(operands) == 0:
        raise UnsupportedError(f"'{name}' of nothing has no exact value")
    hashed = _hashed(name, *operands)
    shared = np.broadcast_arrays(*operands)
    named = np.logical_and.reduce([~ring.is_finite(a) | (a == 0) | (a == 1) for a in shared])
    if not named.any():
        return hashed
    with np.errstate(all="ignore"):
        found = np.asarray(numpy(*(np.where(named, _float(a), 0.0) for a in shared)), np.float64)
    simple = named & (~np.isfinite(found) | (found == 0) | (found == 1) | (found == -1))
    return np.where(simple, ring.encode(found), hashed)


def _float(a: Array) -> Array:
    named = np.where(a == HIGH, np.inf, np.where(a == LOW, -np.inf, np.nan))
    return np.where(ring.is_finite(a), a.astype(np.float64), named)


def _hashed(name: str, *operands: Array) -> Array:
    """Another element for other operands: 64 bits are mixed, of which 30 are left."""
    state = np.asarray(np.uint64(zlib.crc32(name.encode())))
    with np.errstate(over="ignore"):
        for number, operand in enumerate(operands):
            state = (state ^ operand.astype(np.int64).view(np.uint64)) + np.uint64(number + 1)
            state = (state ^ (state >> np.uint64(30))) * _MIX[0]
            state = (state ^ (state >> np.uint64(27))) * _MIX[1]
            state = state ^ (state >> np.uint64(31))
    return (state >> np.uint64(34)).astype(np.int64) % PRIME - PRIME // 4
