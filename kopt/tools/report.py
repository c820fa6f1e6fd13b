"""``kopt report FILE[:NAME] SPEC…``: what the chips' own compilers say, with no chip there."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from kopt.errors import CompileError, LoweringError, UnsupportedError
from kopt.tools.command_line import ArgumentParser
from kopt.tools.subject import Subject, add_subject_options, load_subject, parse_config

PROG = "kopt report"
DEFAULT_TARGETS = ("pallas:tpu7x", "triton:sm90")

#: What stands above the table's line for each key of a report; other keys show as they are.
LABELS = {
    "arg_bytes": "argument bytes",
    "out_bytes": "output bytes",
    "temp_bytes": "temporary bytes",
    "alias_bytes": "aliased bytes",
    "vmem_bytes": "scoped VMEM bytes",
    "hlo_ops": "HLO ops around it",
    "estimated_cycles": "estimated cycles",
    "spill_bytes": "spilled bytes",
    "shared_bytes": "shared memory bytes",
    "compile_s": "compile seconds",
}
#: Shown in the table's head, below it, or in lines of their own.
_APART = ("target", "reason", "launches")


def run(argv: Sequence[str]) -> int:
    """The subcommand on one command line: prints one table, or JSON; a chip that refuses is part of the report."""
    args = _parser().parse(argv)
    subject = load_subject(args)
    config = parse_config(args.config)
    from kopt.tools.arguments import specs_or_literals

    values = specs_or_literals(args.arguments or subject.default_arguments())
    reports = [_report(subject, values, target, config) for target in _targets(args.target)]
    print(json.dumps(reports, indent=2) if args.json else table(reports))
    return 0


def _parser() -> ArgumentParser:
    parser = ArgumentParser(prog=PROG, description="Compile for chips that need not be there, and report.")
    add_subject_options(parser)
    parser.add_argument("--target", action="append", default=[], metavar="T[,T]",
                        help=f"a chip, as pallas:v6e (default {', '.join(DEFAULT_TARGETS)})")  # fmt: skip
    parser.add_argument("--json", action="store_true", help="a list of reports as JSON")
    return parser


def _targets(given: Sequence[str]) -> list[str]:
    """The named targets, checked before the first is compiled."""
    from kopt.runtime.targets import parse_target

    names = [name for value in given for name in value.split(",")] or list(DEFAULT_TARGETS)
    return [str(parse_target(name)) for name in names]


def _report(subject: Subject, values: Sequence[Any], target: str, config: dict[str, Any]) -> dict[str, Any]:
    """One target's report; where lowering refuses, the refusal is the report."""
    try:
        return dict(subject.lower(values, target, config).report())
    except (LoweringError, UnsupportedError, CompileError) as error:
        return {"target": target, "legal": False, "reason": str(error)}


def table(reports: Sequence[dict[str, Any]]) -> str:
    """A line for each key that any compiler answered, a column for each target and each of its launches."""
    columns = [column for report in reports for column in _columns(report)]
    keys = [key for key in _keys(columns) if any(column.get(key) is not None for column in columns)]
    rows = [["", *(str(column["target"]) for column in columns)]]
    rows += [[LABELS.get(key, key), *(_cell(column.get(key)) for column in columns)] for key in keys]
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    lines = [_line(row, widths) for row in rows]
    lines.insert(1, "-" * len(lines[0]))
    return "\n".join([*lines, *_reasons(columns)])


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
        return ", ".join(map(str, value)) or "none"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    label, *values = cells
    aligned = [value.rjust(width) for value, width in zip(values, widths[1:], strict=True)]
    return "  ".join([label.ljust(widths[0]), *aligned]).rstrip()


def _reasons(columns: Sequence[dict[str, Any]]) -> list[str]:
    return [f"\n{column['target']}: {column['reason']}" for column in columns if column.get("reason")]
