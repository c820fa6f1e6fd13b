"""The rows of `gpu_static` as a section of a page: where they are from, a table, and what stands out in it."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from support import ROOT
from support.side_by_side import LESS, shown

Facts = dict[str, Any]
#: The columns of a page by their keys, with how their figures are written.
_COLUMNS = {
    "example": ("kernel", ""),
    "version": ("version", ""),
    "programs": ("programs", ","),
    "issue": ("issue", ",.0f"),
    "sass": ("instructions", ","),
    "loop_per_work": ("of the loop, for its work", ".1f"),
    "registers": ("registers", ","),
    "spill_bytes": ("spilled bytes", ","),
    "occupancy": ("occupancy", ".2f"),
    "moved": ("moved", ".2f"),
    "moved_busiest": ("by the busiest", ".2f"),
}
#: What kopt's figures may be over the best of the others.
_AS_GOOD = 1.05


def section(
    chip: str,
    dtype: str,
    found: Sequence[Sequence[Facts]],
    over: Sequence[Facts],
    spilled: Mapping[str, int],
    idle: Mapping[str, int],
) -> list[str]:
    """The lines; kernels that one version only has are counted, and not in the table."""
    formats = {key: spec for key, (_, spec) in _COLUMNS.items()}
    compared = [pair for pair in zip(found, over, strict=True) if _compared(pair[0])]
    rows = [line for pair in compared for line in shown(*pair, formats)[:-1]]
    day, commit = datetime.now(UTC).date(), _commit()
    said = [
        f"`python benchmarks/gpu_static.py --markdown --chip {chip} --dtype {dtype}` wrote what follows, at {commit}",
        f"on {day}, with Triton {version('triton')}.",
        "",
        "| " + " | ".join(name for name, _ in _COLUMNS.values()) + " |",
        "|" + "---|" * len(_COLUMNS),
        *("| " + " | ".join(value or "–" for value in line.values()) + " |" for line in rows),
        "",
        f"- Of {len(found)} kernels spill: {_listed(spilled, ' bytes')}.",
        f"- Multiprocessors without a program, where arrays have more than 1 MB: {_listed(idle, '')}.",
    ]
    return [
        *said,
        *(f"- kopt over the best of the others in `{key}`: {_listed(_worse(over, key), '')}." for key in LESS),
    ]


def _compared(group: Sequence[Facts]) -> bool:
    return sum(row.get("sass") is not None for row in group) > 1


def _worse(over: Sequence[Facts], key: str) -> dict[str, str]:
    return {of["example"]: f"{of[key]:.2f}" for of in over if of.get(key) and of[key] > _AS_GOOD}


def _listed(values: Mapping[str, Any], unit: str) -> str:
    return ", ".join(f"`{name}` {value}{unit}" for name, value in values.items()) or "none"


def _commit() -> str:
    asked = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
