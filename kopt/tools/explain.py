"""``kopt explain FILE[:NAME] SPEC…``: what became of a kernel, pass by pass, and why; a page, data, or a table."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kopt.errors import ConfigError, LoweringError, UnsupportedError
from kopt.tools.command_line import ArgumentParser
from kopt.tools.files import read_input, write_output
from kopt.tools.subject import Subject, add_subject_options, load_subject, parse_config

if TYPE_CHECKING:
    from kopt.explain import Compile
    from kopt.lowered import Lowered

PROG = "kopt explain"
#: What is read of each candidate of a tuner.
_KEYS = {"config", "predicted_ms", "measured_ms", "legal", "origin"}


def run(argv: Sequence[str]) -> int:
    """The subcommand on one command line: writes the page, or prints what is asked for; a refusal is explained too."""
    args = make_parser().parse(argv)
    subject = load_subject(args)
    config = parse_config(args.config)
    tuned = None if args.tuned is None else _tuned(args.tuned)
    from kopt.explain import Asked, explanation
    from kopt.explain.verdicts import verdicts_of
    from kopt.tools.arguments import specs_or_literals

    values = specs_or_literals(args.arguments or subject.default_arguments())
    found, lowered = _compile(subject, values, args.target, config)
    compiled = lowered.machine_code if args.profile and lowered is not None else None
    verdicts = verdicts_of(lowered) if args.verify and lowered is not None else ()
    asked = Asked(args.values, _arrays(values), compiled, verdicts, tuned)
    data = explanation(found, asked)
    _show(data, args)
    return 0 if lowered is not None else 1


def make_parser() -> ArgumentParser:
    """The arguments of ``kopt explain``."""
    parser = ArgumentParser(prog=PROG, description="Show what became of a kernel, pass by pass, and why.")
    add_subject_options(parser)
    parser.add_argument("--target", metavar="T", help="what it is lowered for, as pallas:v6e")
    parser.add_argument("-o", "--output", metavar="FILE", help="the page (default NAME.html), or where the data goes")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="the same as data, on stdout (schema: docs/explain.md)")
    form.add_argument("--terminal", action="store_true", help="a table of passes and plans in place of the page")
    parser.add_argument(
        "--values",
        action=argparse.BooleanOptionalAction,
        help="what values are at each stage, by the reference interpreter (default: where arguments are small)",
    )
    parser.add_argument("--profile", action="store_true", help="what the chip's compiler makes of it: bundles, SASS")
    parser.add_argument("--verify", action="store_true", help="validate every pass: results before and after it")
    parser.add_argument("--tuned", metavar="FILE.json", help="what a tuner found: drawn as a landscape")
    return parser


def _compile(
    subject: Subject, values: Sequence[Any], target: str | None, config: dict[str, Any]
) -> tuple[Compile, Lowered | None]:
    """The compile to explain; where a pass refuses the kernel, as far as it came."""
    from kopt.explain import Compile
    from kopt.runtime.devices import default_target
    from kopt.targets.target import parse_target

    try:
        lowered = subject.lower(values, target, config)
        return Compile.of(lowered), lowered
    except (LoweringError, UnsupportedError):
        imported = subject.lower(values, "reference", config)
    return Compile.refused(imported, default_target() if target is None else parse_target(target)), None


def _arrays(values: Sequence[Any]) -> dict[int, Any]:
    """Tensor arguments whose elements are there, from files, by their numbers among the tensors."""
    import numpy as np

    from kopt.specs import TensorSpec

    tensors = [value for value in values if isinstance(value, TensorSpec | np.ndarray)]
    return {number: value for number, value in enumerate(tensors) if isinstance(value, np.ndarray)}


def _tuned(path: str) -> Any:
    """What a tuner has said, as its ``json`` has it."""
    _, text = read_input(path)
    try:
        found = json.loads(text)
    except ValueError as error:
        raise ConfigError(f"'{path}' is no JSON: {error}", id="file") from error
    candidates = found.get("candidates") if isinstance(found, dict) else None
    if not isinstance(candidates, list) or not all(isinstance(one, dict) and one.keys() >= _KEYS for one in candidates):
        notes = [f"a tuner's result has 'candidates', each with {', '.join(sorted(_KEYS))}"]
        raise ConfigError(f"'{path}' has no result of a tuner", notes=notes)
    return found


def _show(data: dict[str, Any], args: argparse.Namespace) -> None:
    if args.json:
        write_output(args.output or "-", json.dumps(data, ensure_ascii=False, indent=1) + "\n")
    elif args.terminal:
        from kopt.explain.terminal import show

        show(data)
    else:
        from kopt.explain.page_text import page

        path = args.output or f"{data['kernel']['name']}.html"
        write_output(path, page(data))
        if path != "-":
            print(f"{path}: {_summary(data)}")


def _summary(data: dict[str, Any]) -> str:
    stages = data["stages"]
    changed = sum(stage["status"] == "changed" for stage in stages)
    said = sum(len(stage["remarks"]) for stage in stages)
    refused = f", refused by {stages[-1]['name']}" if data["kernel"]["refused"] else ""
    return f"{len(stages) - 1} passes, {changed} changed something, {said} remarks{refused}"
