"""The chip's roofline with a kernel on it: operations a second over operations a byte, both logarithmic."""

from __future__ import annotations

from collections.abc import Mapping
from math import log10
from typing import Any

from kopt.explain.drawings import svg
from kopt.explain.drawings.amounts import rate

_WIDTH, _HEIGHT, _LEFT, _TOP, _RIGHT = 460.0, 210.0, 84.0, 16.0, 24.0


def roofline(found: Mapping[str, Any]) -> str | None:
    """The picture; None where operations, bytes or seconds are not known."""
    if not (found["flops"] and found["bytes"] and found["seconds"]):
        return None
    intensity, achieved = found["flops"] / found["bytes"], found["flops"] / found["seconds"]
    peak, bandwidth = found["peak"], found["bandwidth"]
    ridge = peak / bandwidth
    xs = _span(min(intensity, ridge) / 8, max(intensity, ridge) * 8)
    ys = _span(min(achieved, peak / 30) / 2, peak * 2.5)

    def x(value: float) -> float:
        return _LEFT + (_WIDTH - _LEFT) * (log10(value) - xs[0]) / (xs[1] - xs[0])

    def y(value: float) -> float:
        return _TOP + _HEIGHT * (1 - (log10(value) - ys[0]) / (ys[1] - ys[0]))

    low = max(10 ** xs[0], 10 ** ys[0] / bandwidth)
    reached = min(peak, intensity * bandwidth)
    base = _TOP + _HEIGHT
    title = f"{rate(achieved, 'op/s')} at {intensity:.3g} op/byte: {achieved / reached:.0%} of the roof"
    parts = [
        *(svg.path([(x(10**n), _TOP), (x(10**n), base)], "rule") for n in range(xs[0], xs[1] + 1)),
        *(svg.text(x(10**n), base + 14, f"{10**n:g}", "quiet", "middle") for n in range(xs[0], xs[1] + 1)),
        *(svg.path([(_LEFT, y(10**n)), (_WIDTH, y(10**n))], "rule") for n in range(ys[0], ys[1] + 1)),
        *(svg.text(_LEFT - 6, y(10**n) + 4, rate(10**n, "op/s"), "quiet", "end") for n in range(ys[0], ys[1] + 1)),
        svg.path([(x(low), y(low * bandwidth)), (x(ridge), y(peak)), (_WIDTH, y(peak))], "roof"),
        svg.path([(x(intensity), y(reached)), (x(intensity), y(achieved))], "limit"),
        svg.circle(x(intensity), y(achieved), 5, "point", title),
        svg.text(x(intensity) + (9 if intensity < ridge * 3 else -9), y(achieved) + 14, f"{achieved / reached:.0%}", "",
                 "start" if intensity < ridge * 3 else "end"),
        svg.text((_LEFT + _WIDTH) / 2, base + 30, "operations a byte", "quiet", "middle"),
    ]  # fmt: skip
    return svg.picture(_WIDTH + _RIGHT, base + 38, title, *parts)


def _span(low: float, high: float) -> tuple[int, int]:
    """The powers of ten around two numbers."""
    start, end = int(log10(low) // 1), int(-(-log10(high) // 1))
    return start, max(end, start + 1)
