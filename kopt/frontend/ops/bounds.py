"""Values inside bounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kopt.frontend.lanes import LaneValue
from kopt.frontend.ops.binary import same
from kopt.frontend.ops.rules import Formula, apply, are_booleans, row
from kopt.frontend.run_time_scalars import OpenNumber
from kopt.frontend.values import DeviceTensor, is_number


def at_least(x: LaneValue, bound: Any) -> LaneValue:
    """The larger, ``x`` itself where both are equal: zeros keep their sign."""
    return (x < bound).where(bound, x) if x.is_float else x.maximum(bound)


def at_most(x: LaneValue, bound: Any) -> LaneValue:
    """The smaller, ``x`` itself where both are equal."""
    return (x > bound).where(bound, x) if x.is_float else x.minimum(bound)


def hardtanh(x: LaneValue, min_val: float = -1.0, max_val: float = 1.0) -> LaneValue:
    """``hardtanh``."""
    return at_most(at_least(x, min_val), max_val)


def clamp(input: Any, min: Any = None, max: Any = None) -> DeviceTensor:
    """``clamp`` by numbers or tensors."""
    out = input if min is None else _bounded(input, min, at_least, "maximum")
    return out if max is None else _bounded(out, max, at_most, "minimum")


def _bounded(input: Any, bound: Any, formula: Formula, extreme: str) -> DeviceTensor:
    """A value inside a bound: NaN among tensors is one of the result, which selections would lose.

    The larger of two is one instruction; only beside 0 it may be the other zero, so there a selection keeps the sign.
    """
    if type(bound) is OpenNumber:
        return apply("same", lambda x, b: b.eq(b).where(formula(x, b), b), (input, bound))
    if is_number(bound) and bound == 0 and not are_booleans((input, bound)):
        return apply("same", formula, (input, bound))
    return same(extreme)(input, bound)


TABLE: dict[str, Callable[..., Any]] = {
    "relu": row("same", lambda x: at_least(x, 0), 1),
    "relu6": row("same", lambda x: hardtanh(x, 0, 6), 1),
    "hardtanh": row("same", hardtanh, 1),
    "clamp": clamp,
    "clamp_min": lambda input, min: clamp(input, min=min),
    "clamp_max": lambda input, max: clamp(input, max=max),
}
