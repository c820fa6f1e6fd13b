"""How far two correct computations of a kernel may differ, from the dtype and the length of its reductions.

A result is rounded once to its dtype by each side: 2 ulp. What came before ran in f32 (f64 for f64) in another order:
a few ulp for elementary functions, growing with the square root of the number of terms that were added.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kopt.dtypes import DType
from kopt.runtime.wire import pack, to_reference

_EPSILON = {"f64": 2**-52, "f32": 2**-23, "bf16": 2**-7, "f16": 2**-10, "f8E4M3FN": 2**-3, "f8E5M2": 2**-2}
_ELEMENTARY_ULPS = 16


def relative(dtype: DType, reduction_length: int = 1) -> float:
    """The relative tolerance of a dtype after sums of ``reduction_length`` terms; 0 for integers and bools."""
    if not dtype.is_float:
        return 0.0
    compute = _EPSILON["f64" if dtype.spec == "f64" else "f32"]
    return 2 * _EPSILON[dtype.spec] + _ELEMENTARY_ULPS * compute * math.sqrt(reduction_length)


def allclose(actual: Any, expected: Any, dtype: DType, reduction_length: int = 1) -> bool:
    """Whether arrays of any framework agree within the dtype's tolerance; see `mismatch`."""
    return mismatch(actual, expected, dtype, reduction_length) is None


def mismatch(actual: Any, expected: Any, dtype: DType, reduction_length: int = 1) -> str | None:
    """None where two arrays agree, else a sentence with the worst element.

    They agree where ``|a - e| <= r * (|e| + rms(e))``: the second term allows for cancellation in sums, at the scale
    of the other results. NaN agrees with NaN, and an infinity with itself.
    """
    got, wanted = _values(actual), _values(expected)
    if got.shape != wanted.shape:
        return f"shape {list(got.shape)}, expected {list(wanted.shape)}"
    with np.errstate(invalid="ignore", over="ignore"):
        error = np.abs(got - wanted)
        same = (got == wanted) | (np.isnan(got) & np.isnan(wanted))
    bad = ~(same | (error <= _allowed(wanted, dtype, reduction_length)))
    if not bad.any():
        return None
    where = np.unravel_index(np.argmax(np.where(bad, np.nan_to_num(error, nan=np.inf, posinf=np.inf), -1)), bad.shape)
    place = ", ".join(map(str, where))
    values = f"{got[where]:.9g}, expected {wanted[where]:.9g}"
    return f"{int(bad.sum())} of {bad.size} elements differ; at [{place}] {values}"


def _values(array: Any) -> np.ndarray:
    held = to_reference(pack(array))
    return held.astype(np.float64 if held.dtype.kind == "f" else np.longdouble if held.itemsize == 8 else np.float64)


def _allowed(wanted: np.ndarray, dtype: DType, reduction_length: int) -> np.ndarray:
    finite = wanted[np.isfinite(wanted)]
    scale = math.sqrt(float(np.mean(np.square(finite, dtype=np.float64)))) if finite.size else 0.0
    allowed = relative(dtype, reduction_length) * (np.abs(wanted) + scale)
    return np.where(np.isfinite(allowed), allowed, 0.0)
