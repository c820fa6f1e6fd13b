"""What a tuner found: its candidates in order, and a map of the two settings that differ most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import log
from typing import Any

from kopt.explain.drawings import svg

_WIDTH, _HEIGHT, _LEFT, _TOP = 460.0, 190.0, 70.0, 16.0
_CELL, _ROW = 62.0, 26.0
#: Candidates that are drawn, and values of a setting that a map has.
_MOST, _VALUES = 60, 9
#: Steps of colour from the best to the worst.
_STEPS = 5

Candidate = Mapping[str, Any]


def milliseconds(one: Candidate) -> float | None:
    """What a candidate takes, as far as is known: measured, else predicted."""
    return one["predicted_ms"] if one["measured_ms"] is None else one["measured_ms"]


def ranking(candidates: Sequence[Candidate]) -> str | None:
    """What each candidate is predicted to take, and was measured to, in their order; None where nothing is known."""
    shown = [one for one in candidates if milliseconds(one)][:_MOST]
    times = [ms for one in shown for ms in (one["predicted_ms"], one["measured_ms"]) if ms]
    if not times:
        return None
    low, high = log(min(times)), max(log(max(times)), log(min(times)) + 0.05)
    step = (_WIDTH - _LEFT) / len(shown)
    base = _TOP + _HEIGHT

    def y(ms: float) -> float:
        return base - 10 - (_HEIGHT - 20) * (log(ms) - low) / (high - low)

    parts = [svg.path([(_LEFT, _TOP), (_LEFT, base), (_WIDTH, base)], "axis")]
    parts += [svg.text(_LEFT - 6, y(ms) + 4, f"{ms:.3g} ms", "quiet", "end") for ms in {min(times), max(times)}]
    for number, one in enumerate(shown):
        x = _LEFT + (number + 0.5) * step
        for kind, key in (("dma", "predicted_ms"), ("point", "measured_ms")):
            if one[key]:
                parts.append(svg.circle(x, y(one[key]), 3.5, kind, f"{words(one['config'])}: {one[key]:.4g} ms"))
        if one["origin"] == "default":
            parts.append(svg.circle(x, y(milliseconds(one) or times[0]), 7, "best", "taken without tuning"))
    parts.append(svg.text((_LEFT + _WIDTH) / 2, base + 14, "candidates, best first", "quiet", "middle"))
    parts.append(svg.legend(_LEFT, base + 32, (("dma", "predicted"), ("point", "measured"))))
    parts.append(svg.text(_WIDTH, base + 32, "ringed: taken without tuning", "quiet", "end"))
    return svg.picture(_WIDTH + 8, base + 40, f"{len(shown)} candidates of a tuner", *parts)


def words(config: Mapping[str, Any]) -> str:
    """A configuration in a line."""
    return ", ".join(f"{key}={value}" for key, value in config.items()) or "the default"


def settings(config: Mapping[str, Any]) -> dict[str, str]:
    """A configuration as single settings: block sizes one by one."""
    found = {}
    for key, value in config.items():
        if isinstance(value, list):
            found |= {f"{key}[{number}]": str(one) for number, one in enumerate(value)}
        else:
            found[key] = str(value)
    return found


def heat_map(candidates: Sequence[Candidate]) -> str | None:
    """The best time at each pair of values of two settings; None where no two settings have several values.

    The pair is the one with most places known.
    """
    known = [(settings(one["config"]), ms) for one in candidates if (ms := milliseconds(one))]
    names = list(dict.fromkeys(name for found, _ in known for name in found))
    several = [name for name in names if 1 < len({found.get(name) for found, _ in known} - {None}) <= _VALUES]
    if len(several) < 2:
        return None
    first, second = max(combinations(several, 2), key=lambda pair: len(_best(known, *pair)))
    return _map(_best(known, first, second), first, second)


def _best(known: Sequence[tuple[Mapping[str, str], float]], first: str, second: str) -> dict[tuple[str, str], float]:
    """The least time at each place of a map."""
    best: dict[tuple[str, str], float] = {}
    for found, ms in known:
        if first in found and second in found:
            place = found[first], found[second]
            best[place] = min(ms, best.get(place, ms))
    return best


def _map(best: Mapping[tuple[str, str], float], first: str, second: str) -> str:
    rows, columns = (sorted({place[n] for place in best}, key=_order) for n in (0, 1))
    low, high = log(min(best.values())), log(max(best.values()))
    parts = [svg.text(_LEFT, 12, f"{first} down, {second} across; ms", "quiet")]
    for column, value in enumerate(columns):
        parts.append(svg.text(_LEFT + (column + 0.5) * _CELL, _TOP + 16, value, "quiet", "middle"))
    for row, value in enumerate(rows):
        y = _TOP + 24 + row * _ROW
        parts.append(svg.text(_LEFT - 8, y + 17, value, "quiet", "end"))
        for column, other in enumerate(columns):
            if (ms := best.get((value, other))) is not None:
                step = 0 if high == low else min(_STEPS - 1, int(_STEPS * (log(ms) - low) / (high - low)))
                x = _LEFT + column * _CELL
                parts.append(svg.box(x, y, _CELL - 2, _ROW - 2, f"heat{step}", f"{first}={value}, {second}={other}"))
                parts.append(svg.text(x + _CELL / 2 - 1, y + 16, f"{ms:.3g}", "", "middle"))
    width = max(_LEFT + len(columns) * _CELL, _LEFT + 6.2 * len(f"{first} down, {second} across; ms"))
    return svg.picture(width, _TOP + 28 + len(rows) * _ROW, f"times by {first} and {second}", *parts)


def _order(value: str) -> tuple[int, float, str]:
    """Numbers by size, then words."""
    return (0, float(value), "") if value.replace(".", "", 1).isdigit() else (1, 0.0, value)
