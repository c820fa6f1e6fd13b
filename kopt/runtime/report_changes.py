"""Two reports of one target beside each other: old, new, change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kopt.notebooks import preformatted

#: What is longer by more is worse: less is within what the model can tell.
WORSE = 0.03
#: Times, of which the first that both reports know is the one that counts.
_TIMES = ("predicted_ms", "cycles")
#: Figures that differ from run to run.
_NOISE = ("compile_s",)


@dataclass(frozen=True)
class ReportComparison:
    """What differs: ``changes`` has ``old``, ``new`` and, of numbers, ``change`` as a share, by key.

    ``worse`` is whether the chip refuses what it took before, or takes longer by more than the model can tell.
    """

    target: str
    changes: Mapping[str, Mapping[str, Any]]
    worse: bool

    def __str__(self) -> str:
        rows = [["", "old", "new", "change"]]
        rows += [[key, *map(_text, (one["old"], one["new"])), _change(one["change"])] for key, one in self._shown()]
        widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
        aligned = ([cells[0].ljust(widths[0]), *map(str.rjust, cells[1:], widths[1:])] for cells in rows)
        lines = ["  ".join(cells).rstrip() for cells in aligned]
        lines.insert(1, "-" * (sum(widths) + 2 * len(widths) - 2))
        verdict = "worse" if self.worse else "no worse" if self.changes else "nothing differs"
        return "\n".join([f"{self.target}: {verdict}", *(lines if len(rows) > 1 else ())])

    def _repr_html_(self) -> str:
        return preformatted(str(self))

    def _shown(self) -> list[tuple[str, Mapping[str, Any]]]:
        """What fits a cell."""
        return [
            (key, one) for key, one in self.changes.items() if not isinstance(one["old"] or one["new"], dict | list)
        ]


def compared(old: Mapping[str, Any], new: Mapping[str, Any]) -> ReportComparison:
    """The differences, in the order of the new report."""
    keys = [key for key in dict.fromkeys((*new, *old)) if key not in (*_NOISE, "target")]
    changes = {key: _difference(old.get(key), new.get(key)) for key in keys if old.get(key) != new.get(key)}
    return ReportComparison(str(new.get("target")), changes, _is_worse(old, new))


def _difference(old: Any, new: Any) -> dict[str, Any]:
    numbers = all(isinstance(one, int | float) and not isinstance(one, bool) for one in (old, new))
    return {"old": old, "new": new, "change": round(new / old - 1, 4) if numbers and old else None}


def _is_worse(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    if old.get("legal") and new.get("legal") is False:
        return True
    known = [(old[key], new[key]) for key in _TIMES if old.get(key) and new.get(key)]
    return bool(known) and known[0][1] > (1 + WORSE) * known[0][0]


def _text(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}" if isinstance(value, float) else str(value)


def _change(share: float | None) -> str:
    return "" if share is None else f"{100 * share:+.1f} %".replace("-", "−")
