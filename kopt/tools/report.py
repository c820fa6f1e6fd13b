"""``kopt report FILE[:NAME] SPEC…``: what the chips' own compilers say, with no chip there."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kopt.errors import CompileError, ConfigError, LoweringError, UnsupportedError
from kopt.tools.command_line import ArgumentParser
from kopt.tools.progress import progress
from kopt.tools.subject import Subject, add_subject_options, load_subject, parse_config

if TYPE_CHECKING:
    from kopt.lowered import Lowered

PROG = "kopt report"
#: What ``--compare`` ends with where something is worse: neither success nor a mistake of the user's.
WORSE_EXIT_CODE = 2
DEFAULT_TARGETS = ("pallas:tpu7x", "triton:sm90")


def run(argv: Sequence[str]) -> int:
    """The subcommand on one command line: prints one table, or JSON; a chip that refuses is part of the report.

    0 is success; with ``--compare`` 2 where a chip refuses what it took before, or is predicted to take longer.
    """
    args = make_parser().parse(argv)
    before = [] if args.compare is None else _earlier(args.compare)
    subject = load_subject(args)
    config = parse_config(args.config)
    from kopt.runtime.report_table import Report, table
    from kopt.tools.arguments import specs_or_literals

    values = specs_or_literals(args.arguments or subject.default_arguments())
    targets = _targets(args.target)
    if args.compare is not None:
        _check_known(before, targets, args.compare)
    found = []
    with progress("reports", len(targets)) as step:
        for target in targets:
            step(target)
            found.append(_report(subject, values, target, config, args.profile))
    reports = [report for report, _ in found]
    if args.compare is not None:
        old = {one["target"]: one for one in before}
        compared = [Report(one).compare(old[one["target"]]) for one in reports]
        print(json.dumps([one.changes for one in compared], indent=2) if args.json else "\n\n".join(map(str, compared)))
        return WORSE_EXIT_CODE if any(one.worse for one in compared) else 0
    print(json.dumps(reports, indent=2) if args.json else table(reports))
    if not args.json:
        for remark in dict.fromkeys(remark for _, remarks in found for remark in remarks):
            print(remark)
    return 0


def make_parser() -> ArgumentParser:
    """The arguments of ``kopt report``."""
    parser = ArgumentParser(prog=PROG, description="Compile for chips that need not be there, and report.")
    add_subject_options(parser)
    parser.add_argument("--target", action="append", default=[], metavar="T[,T]",
                        help=f"a chip, as pallas:v6e (default {', '.join(DEFAULT_TARGETS)})")  # fmt: skip
    parser.add_argument("--json", action="store_true", help="a list of reports as JSON")
    parser.add_argument("--profile", action="store_true",
                        help="libtpu's own estimate of cycles too, which may take minutes")  # fmt: skip
    parser.add_argument("--compare", metavar="FILE",
                        help="beside reports that --json wrote: old, new, change; exit code 2 if worse")  # fmt: skip
    return parser


def _earlier(path: str) -> list[dict[str, Any]]:
    """The reports of a file that ``--json`` wrote."""
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read '{path}': {error.strerror}", id="file") from None
    except ValueError as error:
        raise ConfigError(f"'{path}' is no JSON: {error}", id="file") from None
    if not isinstance(found, list) or not all(isinstance(one, dict) and "target" in one for one in found):
        raise ConfigError(f"'{path}' has no reports: write it by 'kopt report … --json'")
    return found


def _check_known(before: Sequence[dict[str, Any]], targets: Sequence[str], path: str) -> None:
    """Raises `ConfigError` for a target that there is no earlier report of."""
    known = [one["target"] for one in before]
    for target in targets:
        if target not in known:
            raise ConfigError(f"'{path}' has no report for '{target}'; it has {', '.join(known) or 'none'}")


def _targets(given: Sequence[str]) -> list[str]:
    """The named targets, checked before the first is compiled, else those of the defaults that can be compiled for.

    Raises `CompileError` that says what to install for the others.
    """
    from kopt.runtime.report import require_compiler
    from kopt.targets.target import parse_target

    names = [name for value in given for name in value.split(",")] or list(DEFAULT_TARGETS)
    targets = [parse_target(name) for name in names]
    refusals = {str(target): refusal for target in targets if (refusal := _refusal(require_compiler, target))}
    if refusals and (given or len(refusals) == len(targets)):
        raise next(iter(refusals.values()))
    return [str(target) for target in targets if str(target) not in refusals]


def _refusal(check: Callable[[Any], None], target: Any) -> CompileError | None:
    try:
        check(target)
    except CompileError as error:
        return error
    return None


def _report(
    subject: Subject, values: Sequence[Any], target: str, config: dict[str, Any], profile: bool
) -> tuple[dict[str, Any], list[str]]:
    """One target's report, and what the passes remarked; where lowering refuses, the refusal is the report."""
    try:
        lowered = subject.lower(values, target, config)
        return dict(lowered.report(values=_integers(lowered, values), profile=profile)), [
            f"{target}: {remark}" for remark in lowered.remarks
        ]
    except (LoweringError, UnsupportedError, CompileError) as error:
        return {"target": target, "legal": False, "reason": str(error)}, []


def _integers(lowered: Lowered, values: Sequence[Any]) -> dict[str, Any]:
    """What arguments of integers hold whose elements are there, from files: figures go by these."""
    import numpy as np

    from kopt.specs import TensorSpec

    tensors = [value for value in values if isinstance(value, TensorSpec | np.ndarray)]
    names = [parameter.name for parameter in lowered.signature.parameters]
    pairs = zip(names, tensors, strict=True) if len(names) == len(tensors) else ()
    return {name: one for name, one in pairs if isinstance(one, np.ndarray) and one.dtype.kind in "iub"}
