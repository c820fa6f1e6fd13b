"""Reports of several targets as one table that people read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kopt.notebooks import preformatted
from kopt.targets.chips import GPU_CHIPS

#: What stands above the table's line for each key of a report; other keys show as they are.
LABELS = {
    "arg_bytes": "argument bytes",
    "out_bytes": "output bytes",
    "temp_bytes": "temporary bytes",
    "alias_bytes": "aliased bytes",
    "vmem_bytes": "scoped VMEM bytes",
    "hlo_ops": "HLO ops around it",
    "hlo_cycles": "libtpu's cycles of these",
    "bound": "bound by",
    "floor_cycles": "floor, cycles",
    "hbm_floor_cycles": "of HBM",
    "mxu_floor_cycles": "of the MXU",
    "share": "floor / cycles",
    "hbm_bytes": "HBM bytes moved",
    "least_hbm_bytes": "HBM bytes at least",
    "libtpu_cycles": "libtpu's cycles",
    "spill_bytes": "spilled bytes",
    "shared_bytes": "shared memory bytes",
    "compile_s": "compile seconds",
    "block_sizes": "block sizes",
    "planned_seconds": "planned seconds",
}
#: Shown in the table's head, below it, or in lines of their own; and another name of a line that is there.
_APART = ("target", "reason", "launches", "cycles_reason", "estimated_cycles")


class Report(dict[str, Any]):
    """A report: a dictionary that is printed as its table."""

    def __str__(self) -> str:
        return table([self])

    def _repr_html_(self) -> str:
        return preformatted(str(self))


def table(reports: Sequence[dict[str, Any]]) -> str:
    """A line for each key that any compiler answered, a column for each target and each of its launches."""
    columns = [column for report in reports for column in _columns(report)]
    keys = [key for key in _keys(columns) if any(column.get(key) is not None for column in columns)]
    rows = [["", *(str(column["target"]) for column in columns)]]
    rows += [[LABELS.get(key, key), *(_cell(column.get(key)) for column in columns)] for key in keys]
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    lines = [_line(row, widths) for row in rows]
    lines.insert(1, "-" * len(lines[0]))
    return "\n".join([*lines, *_reasons(columns), *_notes(reports)])


def _columns(report: dict[str, Any]) -> list[dict[str, Any]]:
    """The whole, then each launch where there are several."""
    launches = report.get("launches") or []
    if len(launches) < 2:
        return [report]
    target = report.get("target")
    return [report, *({**launch, "target": f"{target} #{i}"} for i, launch in enumerate(launches))]


def _keys(columns: Sequence[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(key for column in columns for key in column if key not in _APART))


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.2f}"
    if isinstance(value, dict):
        return ", ".join(f"{count} {name}" for name, count in value.items()) or "none"
    if isinstance(value, (list, tuple)):
        return _counted([str(item) for item in value])
    return f"{value:,}" if isinstance(value, int) else str(value)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    label, *values = cells
    aligned = [value.rjust(width) for value, width in zip(values, widths[1:], strict=True)]
    return "  ".join([label.ljust(widths[0]), *aligned]).rstrip()


def _reasons(columns: Sequence[dict[str, Any]]) -> list[str]:
    said = (("", "reason"), ("no cycles: ", "cycles_reason"))
    found = ((column, what, column.get(key)) for column in columns for what, key in said)
    return [f"\n{column['target']}: {what}{reason}" for column, what, reason in found if reason]


def _notes(reports: Sequence[dict[str, Any]]) -> list[str]:
    """What bounds each kernel, and what its compiler was short of."""
    said = ((report, note(report)) for report in reports for note in (_bound, _spills, _occupancy))
    return [f"\n{report['target']}: {text}" for report, text in said if text is not None]


def _bound(report: dict[str, Any]) -> str | None:
    bound, share = report.get("bound"), report.get("share")
    if bound is None:
        return None
    return f"bound by {bound}" + ("" if share is None else f"; the chip's own limit is {share:.0%} of the cycles")


def _spills(report: dict[str, Any]) -> str | None:
    spilled = report.get("spill_bytes")
    if not spilled:
        return None
    return f"warning: each thread spills {spilled:,} bytes of registers to memory; try smaller blocks or more warps"


def _occupancy(report: dict[str, Any]) -> str | None:
    """Of the largest launch: a program that takes more than half of the shared memory has no other beside it."""
    shared, chip = report.get("shared_bytes"), GPU_CHIPS.get(str(report["target"]).rpartition(":")[2])
    if not shared or chip is None or not chip.shared_bytes // 2 < shared <= chip.shared_bytes:
        return None
    return (
        f"warning: one program at a time on each multiprocessor: it takes {shared:,} of {chip.shared_bytes:,} bytes of"
        " shared memory; try smaller blocks or fewer stages where it waits for memory"
    )


def _counted(names: Sequence[str]) -> str:
    """``["copy", "copy", "pad"]`` → ``copy×2, pad``; nothing → none."""
    counts = {name: names.count(name) for name in dict.fromkeys(names)}
    return ", ".join(name if count == 1 else f"{name}×{count}" for name, count in counts.items()) or "none"
