"""Exact arithmetic in place of floats: integers modulo a prime, in which sums in any order are the same bits.

A float of the source is the fraction that it is; sums, products and quotients are those of the field of
`PRIME` elements, held as the integers around 0. Other functions are hashes: equal where their operands are. Infinities
and NaN are numbers of their own beside the field. Casts between floats change nothing, and floats do not become
integers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

PRIME = (1 << 31) - 1
_HALF = PRIME // 2
#: What stands for minus infinity, infinity and NaN.
LOW, HIGH, NAN = -PRIME, PRIME, PRIME + 1

Array = np.ndarray

_active: ContextVar[bool] = ContextVar("kopt_ring", default=False)


@contextmanager
def exact(wanted: bool = True) -> Iterator[None]:
    """Inside of the ``with`` block floats are elements of the field."""
    token = _active.set(wanted)
    try:
        yield
    finally:
        _active.reset(token)


def active() -> bool:
    """Whether floats are elements of the field."""
    return _active.get()


def encode(values: Array | float) -> Array:
    """Floats as elements: each is the fraction that it is."""
    values = np.asarray(values, np.float64)
    finite = np.where(np.isfinite(values), values, 0.0)
    mantissa, exponent = np.frexp(finite)
    digits = np.ldexp(mantissa, 53).astype(np.int64) % PRIME
    result = _centred(digits * _powers_of_two(exponent.astype(np.int64) - 53))
    result = np.where(np.isposinf(values), HIGH, np.where(np.isneginf(values), LOW, result))
    return np.asarray(np.where(np.isnan(values), NAN, result), np.int64)


def _powers_of_two(exponents: Array) -> Array:
    """``2 ** n``, whose order is 31 modulo this prime."""
    return np.left_shift(np.int64(1), exponents % 31) % PRIME


def _centred(values: Array) -> Array:
    """The element that an integer is, around 0."""
    return (values + _HALF) % PRIME - _HALF


def is_finite(a: Array) -> Array:
    """Which are elements of the field."""
    return np.abs(a) <= _HALF


def _proxies(a: Array) -> Array:
    """Floats of which infinities, NaN, zero and the sign are those of elements."""
    named = np.where(a == HIGH, np.inf, np.where(a == LOW, -np.inf, np.nan))
    return np.where(is_finite(a), np.sign(a).astype(np.float64), named)


def _special(name: Callable[..., Array], result: Array, *operands: Array) -> Array:
    """``result`` where all operands are finite, else what floats of the same kind give."""
    finite = np.logical_and.reduce([is_finite(a) for a in np.broadcast_arrays(*operands)])
    if finite.all():
        return result
    with np.errstate(all="ignore"):
        found = np.asarray(name(*map(_proxies, operands)), np.float64)
    return np.where(finite, result, np.where(np.isfinite(found) & (found != 0), result, encode(found)))


def add(a: Array, b: Array) -> Array:
    """The sum."""
    return _special(np.add, _centred(a + b), a, b)


def multiply(a: Array, b: Array) -> Array:
    """The product."""
    return _special(np.multiply, _centred(a * b), a, b)


def divide(a: Array, b: Array) -> Array:
    """The quotient; by 0 as floats have it."""
    quotient = _centred(a * _inverse(np.where(is_finite(b), b, 1)))
    with np.errstate(all="ignore"):
        by_zero = encode(np.divide(_proxies(a), np.zeros(b.shape)))
    return np.where(b == 0, by_zero, _special(np.divide, quotient, a, b))


def _inverse(a: Array) -> Array:
    """``a ** (PRIME - 2)``."""
    result, power, rest = np.ones_like(a), a, PRIME - 2
    while rest:
        if rest & 1:
            result = _centred(result * power)
        power, rest = _centred(power * power), rest >> 1
    return result


def maximum(a: Array, b: Array) -> Array:
    """The larger one, of the integers that elements are; NaN where one is."""
    return np.maximum(a, b)


def minimum(a: Array, b: Array) -> Array:
    """The smaller one; NaN where one is."""
    return np.where((a == NAN) | (b == NAN), NAN, np.minimum(a, b))


#: How lanes are combined.
COMBINE: dict[str, Callable[[Array, Array], Array]] = {
    "add": add,
    "mul": multiply,
    "max": maximum,
    "min": minimum,
}


def reduce(kind: str, data: Array, dims: tuple[int, ...]) -> Array:
    """The lanes of some dimensions combined."""
    kept = [n for n in range(data.ndim) if n not in dims]
    shape = [data.shape[n] for n in kept]
    lanes = np.transpose(data, (*dims, *kept)).reshape(-1, *shape)
    while len(lanes) > 1:
        half = len(lanes) // 2
        lanes = np.concatenate([COMBINE[kind](lanes[:half], lanes[half : 2 * half]), lanes[2 * half :]])
    return lanes[0]


def accumulate(kind: str, data: Array, dim: int) -> Array:
    """What the lanes before and each lane come to."""
    lanes = list(np.moveaxis(data, dim, 0))
    for number in range(1, len(lanes)):
        lanes[number] = COMBINE[kind](lanes[number - 1], lanes[number])
    return np.moveaxis(np.asarray(lanes), 0, dim) if lanes else data


def matmul(left: Array, right: Array) -> Array:
    """The product of matrices."""
    a, b = (np.where(is_finite(x), x, 0) % PRIME for x in (left, right))
    high, low = a >> 16, a & 0xFFFF
    product = _centred(((np.matmul(high, b) % PRIME) << 16) + np.matmul(low, b))
    rows = np.any(~is_finite(left), axis=-1, keepdims=True)
    columns = np.any(~is_finite(right), axis=-2, keepdims=True)
    return np.where(np.logical_or(rows, columns), NAN, product)
