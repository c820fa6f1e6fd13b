"""Are two results the same, as far as the dtype allows?

Two right implementations round at the same places but add in different orders. The error of a long sum grows with the
square root of its length, and is relative to the size of what was added, not of what is left: so the tolerance is a
few units in the last place of the element, plus as many of the largest element of the result.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kopt.dtypes import DType

#: Units in the last place. f32 sums of some thousand terms differ by tens of units when reordered; the narrow types are
#: computed in f32 and rounded once, so that only a rounding that falls the other way is left, after each other cast.
ULPS = {"f64": 256, "f32": 256, "f16": 4, "bf16": 4, "f8E4M3FN": 2, "f8E5M2": 2}
EPSILONS = {
    "f64": 2.0**-52,
    "f32": 2.0**-23,
    "f16": 2.0**-10,
    "bf16": 2.0**-7,
    "f8E4M3FN": 2.0**-3,
    "f8E5M2": 2.0**-2,
}


@dataclass(frozen=True)
class Comparison:
    """The largest error, what was allowed there, and where the values differ most beyond that."""

    error: float
    allowed: float
    worst: tuple[int, ...] | None
    got: str = ""
    wanted: str = ""

    @property
    def same(self) -> bool:
        """Whether every element is within its tolerance."""
        return self.worst is None


def compare(got: np.ndarray, wanted: np.ndarray, dtype: DType) -> Comparison:
    """Compare element by element; integers and booleans exactly, NaN and infinities by kind and sign.

    Args: arrays of the same shape as the reference interpreter holds them; ``dtype`` their real type.
    """
    if got.size == 0:
        return Comparison(0.0, 0.0, None)
    if not dtype.is_float:
        return _judge(got, wanted, (got != wanted).astype(np.float64), np.zeros(got.shape))
    wide_got, wide_wanted = got.astype(np.float64), wanted.astype(np.float64)
    both_finite = np.isfinite(wide_got) & np.isfinite(wide_wanted)
    same_special = (np.isnan(wide_got) & np.isnan(wide_wanted)) | (wide_got == wide_wanted)
    with np.errstate(invalid="ignore"):
        error = np.where(both_finite, np.abs(wide_got - wide_wanted), np.where(same_special, 0.0, np.inf))
    largest = np.max(np.abs(wide_wanted), where=np.isfinite(wide_wanted), initial=0.0)
    unit = ULPS[dtype.spec] * EPSILONS[dtype.spec]
    allowed = unit * (np.where(both_finite, np.abs(wide_wanted), 0.0) + _share(dtype) * largest)
    return _judge(got, wanted, error, allowed)


def _share(dtype: DType) -> float:
    """How much of the largest element's rounding a small element may show: narrow types were summed in f32."""
    return 1.0 if dtype.bits >= 32 else 0.1


def _judge(got: np.ndarray, wanted: np.ndarray, error: np.ndarray, allowed: np.ndarray) -> Comparison:
    excess = error - allowed
    at = np.unravel_index(int(np.argmax(excess)), got.shape) if got.shape else ()
    worst = tuple(map(int, at))
    if excess[at] <= 0:
        return Comparison(float(error.max()), float(allowed.max()), None)
    return Comparison(float(error[at]), float(allowed[at]), worst, str(got[at]), str(wanted[at]))
