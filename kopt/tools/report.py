"""``kopt report FILE[:NAME] SPEC…``: what the chips' own compilers say, with no chip there."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from kopt.errors import CompileError, LoweringError, UnsupportedError
from kopt.tools.command_line import ArgumentParser
from kopt.tools.subject import Subject, add_subject_options, load_subject, parse_config

if TYPE_CHECKING:
    from kopt.lowered import Lowered

PROG = "kopt report"
DEFAULT_TARGETS = ("pallas:tpu7x", "triton:sm90")


def run(argv: Sequence[str]) -> int:
    """The subcommand on one command line: prints one table, or JSON; a chip that refuses is part of the report."""
    args = make_parser().parse(argv)
    subject = load_subject(args)
    config = parse_config(args.config)
    from kopt.runtime.report_table import table
    from kopt.tools.arguments import specs_or_literals

    values = specs_or_literals(args.arguments or subject.default_arguments())
    found = [_report(subject, values, target, config) for target in _targets(args.target)]
    reports = [report for report, _ in found]
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
    return parser


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
    subject: Subject, values: Sequence[Any], target: str, config: dict[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    """One target's report, and what the passes remarked; where lowering refuses, the refusal is the report."""
    try:
        lowered = subject.lower(values, target, config)
        return dict(lowered.report(values=_integers(lowered, values))), [
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
