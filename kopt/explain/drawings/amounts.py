"""Amounts as people read them."""

from __future__ import annotations

from collections.abc import Sequence

_TIMES: Sequence[tuple[float, str]] = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_RATES: Sequence[tuple[float, str]] = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def seconds(value: float | None) -> str:
    """A time."""
    if value is None:
        return "not known"
    unit, name = next((one for one in _TIMES if abs(value) >= one[0]), _TIMES[-1])
    return f"{value / unit:.3g} {name}"


def size(value: float | None) -> str:
    """Bytes."""
    if value is None:
        return "not known"
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if value >= unit:
            return f"{value / unit:.4g} {name}"
    return f"{value:,.0f} bytes"


def rate(value: float, unit: str) -> str:
    """A number of something, with a prefix."""
    factor, name = next((one for one in _RATES if value >= one[0]), (1.0, ""))
    return f"{value / factor:.3g} {name}{unit}"


def count(value: float | None) -> str:
    """A number."""
    if value is None:
        return "not known"
    return f"{value:,.0f}" if value == int(value) else f"{value:,.4g}"
