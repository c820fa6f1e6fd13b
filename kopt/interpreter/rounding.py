"""Element types in NumPy: rounding to the types that NumPy lacks, casts and bit casts, all as torch does them.

bf16 and fp8 values are held in ``float32`` arrays whose every element is a value of the type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np
from xdsl.ir import Attribute

from kopt.dtypes import DType, from_ir
from kopt.errors import UnsupportedError
from kopt.interpreter import ring
from kopt.runtime.wire import Packed, from_reference, to_reference


def dtype_of(type: Attribute) -> DType:
    """The dtype of an element type; raises `UnsupportedError` where kopt has no such dtype."""
    dtype = from_ir(type)
    if dtype is None:
        raise UnsupportedError(f"the interpreter has no element type {type}")
    return dtype


def numpy_type(type: Attribute) -> np.dtype:
    """The NumPy type that holds an element type: ``bf16`` → ``float32``."""
    return np.dtype(np.int64) if is_exact(type) else np.dtype(dtype_of(type).numpy)


def is_exact(type: Attribute) -> bool:
    """Whether values of an element type are exact numbers now."""
    return ring.active() and dtype_of(type).is_float


def constant(value: float | int, type: Attribute) -> float | int:
    """A number of the source as an element is held."""
    return int(ring.encode(value)) if is_exact(type) else value


def _round_bf16(array: np.ndarray) -> np.ndarray:
    """Round float32 to the nearest bf16, ties to even; what overflows is infinite."""
    bits = np.ascontiguousarray(array).view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
    return np.where(np.isnan(array), array, rounded.view(np.float32).reshape(array.shape))


def _round_small(array: np.ndarray, mantissa: int, least: int, largest: float, overflow: float) -> np.ndarray:
    """Round float32 to ``mantissa`` bits, exponents from ``least``; what is beyond ``largest`` is ``overflow``."""
    _, exponent = np.frexp(array)
    unit = np.ldexp(np.float32(1), np.maximum(exponent - 1, least) - mantissa).astype(np.float32)
    rounded = np.rint(array / unit) * unit
    beyond = np.copysign(np.float32(overflow), array)
    result = np.where(np.abs(rounded) > largest, beyond, np.where(np.isinf(array), beyond, rounded))
    return np.where(np.isnan(array), array, result).astype(np.float32)


def _round_e4m3fn(array: np.ndarray) -> np.ndarray:
    """Round to f8E4M3FN, which has no infinity: torch saturates at 448."""
    return _round_small(array, 3, -6, 448.0, 448.0)


def _round_e5m2(array: np.ndarray) -> np.ndarray:
    """Round to f8E5M2; what overflows is infinite."""
    return _round_small(array, 2, -14, 57344.0, np.inf)


_ROUND: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "bf16": _round_bf16,
    "f8E4M3FN": _round_e4m3fn,
    "f8E5M2": _round_e5m2,
}


def rounded(array: np.ndarray, type: Attribute) -> np.ndarray:
    """A floating-point or integer result as values of its element type, in the array type that holds them."""
    dtype = dtype_of(type)
    if is_exact(type):
        array = np.asarray(array)
        return ring.encode(array) if array.dtype.kind == "f" else array.astype(np.int64)
    with np.errstate(all="ignore"):
        held = np.asarray(array).astype(dtype.numpy, copy=False)
        return _ROUND[dtype.spec](held) if dtype.spec in _ROUND else held


def cast(array: np.ndarray, source: Attribute, target: Attribute) -> np.ndarray:
    """Convert elements as torch's ``to``: floats round (f64 by way of f32) or truncate to integers; integers wrap."""
    before, after = dtype_of(source), dtype_of(target)
    if after.kind == "bool":
        return array != 0
    if is_exact(target):
        return array if before.is_float else ring.encode(array.astype(np.float64))
    if is_exact(source):
        raise UnsupportedError(f"exact numbers have no {after.spec} of them")
    with np.errstate(all="ignore"):
        if before.is_float and after.is_integer:
            return _truncate(array, after)
        if after.is_float and after.bits < 32:
            array = array.astype(np.float32)
        return rounded(array, target)


def _truncate(array: np.ndarray, after: DType) -> np.ndarray:
    """Floats to integers: narrow ones by way of a wider one, whose low bits stay."""
    if after.kind == "uint":
        return array.astype(np.int64).astype(after.numpy)
    return array.astype(np.int32 if after.bits < 32 else after.numpy).astype(after.numpy)


def bitcast(array: np.ndarray, source: Attribute, target: Attribute) -> np.ndarray:
    """Read the bits of one element type as another of the same width."""
    if is_exact(source) or is_exact(target):
        raise UnsupportedError("exact numbers have no bits")
    before, after = dtype_of(source), dtype_of(target)
    bits = from_reference(array, before).bits
    carrier = from_reference(np.zeros(1, after.numpy), after).bits.dtype
    return to_reference(Packed(after, bits.view(carrier).reshape(array.shape)))


def bitcast_rows(words: np.ndarray, target: Attribute) -> np.ndarray:
    """Read each row of 32-bit words as rows of a narrower element type, the lowest bits first."""
    if is_exact(target):
        raise UnsupportedError("exact numbers have no bits")
    after = dtype_of(target)
    carrier = from_reference(np.zeros(1, after.numpy), after).bits.dtype
    *outer, rows, lanes = words.shape
    split = np.ascontiguousarray(words).view(carrier).reshape(*outer, rows, lanes, 4 // carrier.itemsize)
    return to_reference(Packed(after, np.swapaxes(split, -1, -2).reshape(*outer, -1, lanes)))


_poison: ContextVar[float | None] = ContextVar("kopt_poison", default=None)


@contextmanager
def poisoned(value: float | None) -> Iterator[None]:
    """Undefined lanes hold ``value``, as far as their type has it, inside of the ``with`` block; None: as always."""
    token = _poison.set(value)
    try:
        yield
    finally:
        _poison.reset(token)


def poison(type: Attribute) -> float | int:
    """What an undefined lane holds, so that using one shows: NaN, or a number that nothing computes."""
    dtype, other = dtype_of(type), _poison.get()
    if dtype.is_float:
        return constant(float("nan") if other is None else other, type)
    if dtype.kind == "bool":
        return 1 if other is None else 0
    return (0x5A5A5A5A if other is None else 0x33333333) & ((1 << (dtype.bits - 1)) - 1)
