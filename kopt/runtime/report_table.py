"""Reports of several targets as one table that people read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kopt.notebooks import preformatted
from kopt.planning.summary import percent
from kopt.runtime.report_changes import ReportComparison, compared
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
    "predicted_ms": "predicted ms",
    "predicted_low_ms": "at least (9 of 10)",
    "predicted_high_ms": "at most (9 of 10)",
    "predicted_bound": "bound by, predicted",
    "predicted_share": "floor / predicted",
    "floor_ms": "floor, ms",
    "hbm_floor_ms": "of HBM, ms",
    "mxu_floor_ms": "of products, ms",
    "exposed_ms": "exposed waits, ms",
    "block_sizes": "block sizes",
}
#: A multiprocessor is seldom kept busy by fewer threads than this share of those that it can hold.
_LOW = 0.2
_PROGRAM = {"num_warps": "warp", "num_stages": "stage"}
#: Shown in the table's head, below it, or in lines of their own; and other names of lines that are there.
_APART = (
    *("target", "reason", "launches", "cycles_reason", "estimated_cycles", "hlo_uncounted", "planned_seconds", "loops"),
    *("items_ms", "assumes", "vmem_items", "shared_items", "occupancy", "chosen", "runner_up", "next", "warnings"),
)


class Report(dict[str, Any]):
    """A report: a dictionary that is printed as its table."""

    def __str__(self) -> str:
        return table([self])

    def _repr_html_(self) -> str:
        return preformatted(str(self))

    def compare(self, other: Mapping[str, Any]) -> ReportComparison:
        """This report beside an earlier one: ``other`` is the old one."""
        return compared(other, self)


def table(reports: Sequence[dict[str, Any]]) -> str:
    """A line for each key that any compiler answered, a column for each target and each of its launches."""
    columns = [column for report in reports for column in _columns(report)]
    keys = [key for key in _keys(columns) if any(column.get(key) is not None for column in columns)]
    rows = [["", *(str(column["target"]) for column in columns)]]
    rows += [[LABELS.get(key, key), *(_cell(column.get(key), key) for column in columns)] for key in keys]
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    lines = [_line(row, widths) for row in rows]
    lines.insert(1, "-" * len(lines[0]))
    return "\n".join([*lines, *(["", *said] if (said := [*_reasons(columns), *_notes(reports)]) else ())])


def _columns(report: dict[str, Any]) -> list[dict[str, Any]]:
    """The whole, then each launch where there are several."""
    launches = report.get("launches") or []
    if len(launches) < 2:
        return [report]
    target = report.get("target")
    return [report, *({**launch, "target": f"{target} #{i}"} for i, launch in enumerate(launches))]


def _keys(columns: Sequence[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(key for column in columns for key in column if key not in _APART))


def _cell(value: Any, key: str = "") -> str:
    if value is None:
        return "-"
    if key.endswith("_ms"):
        return f"{value:.3g}"
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
    return [f"{column['target']}: {what}{reason}" for column, what, reason in found if reason]


def _notes(reports: Sequence[dict[str, Any]]) -> list[str]:
    """What bounds each kernel, where its memory and its time go, what was chosen, warnings, and what to try next."""
    notes = (_bound, _parts, _chosen, _second)
    said = [(report, text) for report in reports for note in notes for text in note(report)]
    said += [
        (report, f"warning: {text}") for report in reports for text in report.get("warnings") or warnings_of(report)
    ]
    said += [(report, text) for report in reports for text in _next(report)]
    return [f"{report['target']}: {text}" for report, text in said]


def warnings_of(report: Mapping[str, Any]) -> list[str]:
    """What a compiler was short of though the code is legal: registers, and shared memory for a second program."""
    return [*_spills(report), *_occupancy(report)]


def _bound(report: Mapping[str, Any]) -> Iterator[str]:
    bound, share = report.get("bound"), report.get("share")
    if bound is not None:
        yield f"bound by {bound}" + ("" if share is None else f"; the chip's own limit is {share:.0%} of the cycles")


def _spills(report: Mapping[str, Any]) -> Iterator[str]:
    if spilled := report.get("spill_bytes"):
        yield f"each thread spills {spilled:,} bytes of registers to memory; try smaller blocks or more warps"


def _occupancy(report: Mapping[str, Any]) -> Iterator[str]:
    """Of the largest launch: a program that takes more than half of the shared memory has no other beside it.

    Of registers as well, where it is known how many threads a program has.
    """
    shared, chip = report.get("shared_bytes"), GPU_CHIPS.get(str(report["target"]).rpartition(":")[2])
    held = report.get("occupancy") or {}
    if shared and chip is not None and chip.shared_bytes // 2 < shared <= chip.shared_bytes:
        yield (
            f"one program at a time on each multiprocessor: it takes {shared:,} of {chip.shared_bytes:,} bytes of"
            " shared memory; try smaller blocks or fewer stages where it waits for memory"
        )
    elif held and held["share"] < _LOW:
        yield (
            f"{held['share']:.0%} of the threads that a multiprocessor can hold: {held['limited_by']} leave room for"
            f" {_amount(held['programs'], 'program')}; try smaller blocks where it waits for memory"
        )


def _amount(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"


def _parts(report: Mapping[str, Any]) -> Iterator[str]:
    """Where the time and the memory on the chip go."""
    if assumed := report.get("assumes"):
        yield "predicted for items of " + ", ".join(f"{size:,} elements of {axis}" for axis, size in assumed.items())
    if items := report.get("items_ms"):
        parts = sorted(items.items(), key=lambda item: -item[1])
        yield "each unit alone: " + ", ".join(f"{name} {value:.3g} ms" for name, value in parts if value)
    for key, what in (("vmem_items", "VMEM"), ("shared_items", "shared memory")):
        found: Any = report.get(key) or ()
        for items in [found] if isinstance(found, dict) else found:
            if items:
                yield f"{what}: " + ", ".join(f"{name} {size:,}" for name, size in items.items())
    if held := report.get("occupancy"):
        yield (
            f"occupancy: {held['share']:.0%}, {_amount(held['programs'], 'program')} on each multiprocessor"
            f" (limited by {held['limited_by']})"
        )


def _chosen(report: Mapping[str, Any]) -> Iterator[str]:
    chosen = report.get("chosen") or {}
    launches: Any = chosen.get("launches") or ()
    for number, plan in enumerate(launches):
        words = [f"loop {name} {schedule}" for name, schedule in plan.get("loops", {}).items()]
        words += [f"order {', '.join(plan['order'])}"] if plan["order"] else []
        words += [_amount(plan[key], word) for key, word in _PROGRAM.items() if key in plan]
        yield f"chosen{f' #{number}' if len(launches) > 1 else ''}: {'; '.join(words)}"


def _second(report: Mapping[str, Any]) -> Iterator[str]:
    if second := report.get("runner_up"):
        yield f"runner-up: {second['change']}: {second['lost']}"


def _next(report: Mapping[str, Any]) -> Iterator[str]:
    found = report.get("next")
    if found:
        best, *others = found
        config = f" (config {best['config']})" if best["config"] else ""
        yield f"next thing to try: {best['change']}: {percent(best['gain'])}{config}"
        yield from (f"or: {one['change']}: {percent(one['gain'])}" for one in others)
    elif found is not None:
        yield "next thing to try: no single change is predicted to gain more than the model can tell"


def _counted(names: Sequence[str]) -> str:
    """``["copy", "copy", "pad"]`` → ``copy×2, pad``; nothing → none."""
    counts = {name: names.count(name) for name in dict.fromkeys(names)}
    return ", ".join(name if count == 1 else f"{name}×{count}" for name, count in counts.items()) or "none"
