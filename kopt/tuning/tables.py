"""Results of tuning as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kopt.tuning.results import Candidate, Tuned, TunedShapes

_HEAD = ("", "config", "predicted ms", "measured ms", "legal", "")
#: The most of a reason that a table shows.
_REASON = 160


def text(result: Tuned) -> str:
    """A table of the candidates, and below it what was searched."""
    head = f"{result.kernel}({', '.join(result.specs)}) for {result.target}"
    rows = [_row(number, one, result.best) for number, one in enumerate(result.candidates)]
    lines = [head, *aligned([_HEAD, *rows]), *_notes(result)]
    return "\n".join(lines)


def shapes_text(result: TunedShapes) -> str:
    """A table for each shape, and the configuration for all."""
    parts = [text(one) for one in result.results]
    if result.best is None:
        parts.append("no configuration is legal for all shapes")
    elif result.loss is not None:
        parts.append(f"for all shapes: {config_text(result.best.config)}, at most {100 * result.loss:.1f} % slower")
    return "\n\n".join(parts)


def config_text(config: Any) -> str:
    """A configuration as ``-c`` takes it."""
    return " ".join(f"{key}={_plain(value)}" for key, value in config.items()) or "(default)"


def _plain(value: Any) -> str:
    return str(value).replace(" ", "") if isinstance(value, list | tuple | dict) else str(value)


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows whose columns stand below one another."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _row(number: int, one: Candidate, best: Candidate | None) -> tuple[str, ...]:
    mark = "*" if one is best else "=" if one.tie else ""
    legal = {True: "yes", False: "no", None: "not known" if one.reason else "not compiled"}[one.legal]
    words = [one.origin if one.origin != "search" else "", "tie" if one.tie and one is not best else ""]
    words += [f"spills {one.spills} bytes"] if one.spills else []
    reason = " ".join((one.reason or "").split())
    words.append(reason if len(reason) <= _REASON else f"{reason[:_REASON]}…")
    said = "; ".join(word for word in words if word)
    return mark, config_text(one.config), _number(one.predicted_ms), _number(one.measured_ms), legal, said


def _number(ms: float | None) -> str:
    return "-" if ms is None else f"{ms:.4g}"


def _notes(result: Tuned) -> Iterable[str]:
    counts = result.counts
    said = [f"{counts.get('searched', 0)} configurations searched"]
    said += [f"{counts[key]} {words}" for key, words in _COUNTED.items() if counts.get(key)]
    yield ", ".join(said)
    if result.interrupted:
        yield "interrupted: the best of what was looked at so far"
    if result.best is None and result.candidates:
        yield "no legal configuration: the table says why each failed"
    if (error := result.model_error) is not None:
        yield f"the model is off by {100 * error:.1f} % on average"
    yield from result.remarks


_COUNTED = {
    "impossible": "not possible on the chip",
    "too_large": "too large for its memory",
    "unknown": "of unknown time",
    "compiled": "compiled",
    "illegal": "of these illegal",
    "late": "not in time",
    "wrong": "with wrong results",
    "measured": "measured",
}
