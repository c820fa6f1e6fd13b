"""Figures of several launches taken together, those of kopt over the best of others, and both as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from support import ratio

Facts = dict[str, Any]


def _one(values: Sequence[Any]) -> Any:
    """What all of them are, else None."""
    return values[0] if all(value == values[0] for value in values) else None


def _counted(values: Sequence[Mapping[str, int]]) -> dict[str, int]:
    return dict(sum((Counter(value) for value in values), Counter()))


#: How the figures of launches make one of the whole.
_TOGETHER: dict[str, Callable[[Sequence[Any]], Any]] = {
    "blocks": _one,
    "programs": min,
    "idle": max,
    "warps": max,
    "stages": max,
    "registers": max,
    "spill_bytes": max,
    "shared_bytes": max,
    "occupancy": min,
    "sass": sum,
    "issue": sum,
    "tma": any,
    "loads": _counted,
    "stores": _counted,
    "moved": _one,
    "moved_busiest": _one,
    "read_from": _one,
}
#: Figures of which less is better, and those of which more is.
LESS = ("issue", "registers", "spill_bytes", "sass", "loop_per_work", "moved", "moved_busiest")
MORE = ("programs", "occupancy")


def together(launches: Sequence[Facts]) -> Facts:
    """The figures of a module; one that is unknown of any launch is unknown."""
    if not launches:
        return {}
    whole = {key: _all(key, launches, join) for key, join in _TOGETHER.items()}
    # The loop that matters is one with matrix instructions, or the longest.
    hot = max(launches, key=lambda launch: (launch["loop_mma"] or 0, launch["loop"] or 0))
    kinds = {launch["mma"] for launch in launches if launch["mma"] != "none"}
    loop = {key: hot[key] for key in ("loop", "loop_per_work", "waits")}
    return {**whole, **loop, "mma": "+".join(sorted(kinds)) or "none"}


def _all(key: str, launches: Sequence[Facts], join: Callable[[Sequence[Any]], Any]) -> Any:
    values = [launch.get(key) for launch in launches]
    return None if any(value is None for value in values) else join(values)


def ratios(rows: Sequence[Facts]) -> Facts:
    """kopt's figures over the best of the other versions that are legal, each key by itself; None over nothing or 0.

    kopt's own with other configurations, whose names begin with its own, are none of these.
    """
    kopt, others = rows[0], [row for row in rows[1:] if not row["version"].startswith("kopt ")]
    best = {**dict.fromkeys(LESS, min), **dict.fromkeys(MORE, max)}
    found: Facts = {"example": kopt["example"]}
    for key, choose in best.items():
        known = [row[key] for row in others if row.get("legal") and row.get(key) is not None]
        found[key] = ratio(kopt.get(key), choose(known)) if known and choose(known) else None
    return found


def shown(rows: Sequence[Facts], over: Facts, columns: Mapping[str, str]) -> list[dict[str, str | None]]:
    """The cells of a kernel's versions and of its ratios, each column by its format."""
    below = {**over, "example": rows[0]["example"], "version": "kopt / best"}
    formats = {key: ".2f" if key in (*LESS, *MORE) else "" for key in columns}
    return [_cells(row, columns) for row in rows] + [_cells(below, formats)]


def _cells(row: Facts, columns: Mapping[str, str]) -> dict[str, str | None]:
    return {key: _cell(row.get(key), spec) for key, spec in columns.items()}


def _cell(value: Any, spec: str) -> str | None:
    if isinstance(value, Mapping):
        return "+".join(f"{count}x{width}" for width, count in value.items()) or "none"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "x".join(map(str, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return None if value is None else format(value, spec)
