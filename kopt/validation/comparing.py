"""How values before and after a pass are compared: by their bits, or within what the pass states."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from xdsl.ir import Attribute

from kopt.interpreter.rounding import dtype_of
from kopt.passes.meaning import Meaning
from kopt.runtime.tolerance import relative


@dataclass(frozen=True)
class Difference:
    """The element that differs most."""

    place: tuple[int, ...]
    expected: object
    found: object
    count: int
    size: int


def same_bits(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Where two arrays hold the same: zeros of one sign, or NaN both."""
    if one.dtype.kind != "f":
        return one == other
    with np.errstate(invalid="ignore"):
        return ((one == other) & (np.signbit(one) == np.signbit(other))) | (np.isnan(one) & np.isnan(other))


def difference(
    expected: np.ndarray, found: np.ndarray, element: Attribute, meaning: Meaning, terms: int, known: np.ndarray | None
) -> Difference | None:
    """The worst element beyond what a pass states, None where there is none; ``known`` are the elements that count."""
    if expected.shape != found.shape:
        return Difference((), f"shape {list(expected.shape)}", f"shape {list(found.shape)}", 1, 1)
    bad = ~same_bits(expected, found)
    if bad.any() and meaning.kind != "exact" and dtype_of(element).is_float:
        bad &= ~_near(expected, found, element, meaning, terms)
    if known is not None:
        bad &= known
    if not bad.any():
        return None
    with np.errstate(all="ignore"):
        error = np.nan_to_num(np.abs(expected.astype(np.float64) - found.astype(np.float64)), nan=np.inf)
    place = np.unravel_index(int(np.argmax(np.where(bad, error, -1))), bad.shape)
    where = tuple(int(n) for n in place)
    return Difference(where, expected[place].item(), found[place].item(), int(bad.sum()), bad.size)


def _near(expected: np.ndarray, found: np.ndarray, element: Attribute, meaning: Meaning, terms: int) -> np.ndarray:
    """Where ``|e - f|`` is at most ``r`` times ``|e|`` and the scale of the results: cancellation is allowed for."""
    wide = expected.astype(np.float64)
    finite = wide[np.isfinite(wide)]
    scale = np.sqrt(np.mean(np.square(finite))) if finite.size else 0.0
    allowed = relative(dtype_of(element), terms) + meaning.ulps * 2.0**-23
    with np.errstate(all="ignore"):
        near = np.abs(wide - found.astype(np.float64)) <= allowed * (np.abs(wide) + scale)
        return near | (wide == found)  # a zero's sign is that of the order in which its terms come
