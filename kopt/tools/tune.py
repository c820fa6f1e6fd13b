"""``kopt tune FILE.py:NAME SPEC… --target T``: the configuration that takes least time, with no chip there."""

from __future__ import annotations

import argparse
import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kopt.errors import ConfigError
from kopt.tools.command_line import ArgumentParser
from kopt.tools.files import write_output
from kopt.tools.subject import PythonKernel, add_subject_options, load_subject, parse_config

PROG = "kopt tune"
DEFAULT_TARGET = "pallas:tpu7x"


def run(argv: Sequence[str]) -> int:
    """The subcommand on one command line: prints a table, keeps the best where it is asked to.

    It gives 1 where no configuration is legal.
    """
    args = make_parser().parse(argv)
    subject = load_subject(args)
    if not isinstance(subject, PythonKernel):
        raise ConfigError(f"'{args.subject}' is IR, whose block sizes are those that it has: tune the Python kernel")
    kernel = subject.kernel._configured(parse_config(args.config) or None)
    shapes = [shlex.split(shape) for shape in args.shapes]
    if not shapes and not args.arguments:
        subject.default_arguments()  # which asks for them
    from kopt.tools.arguments import specs_or_literals

    calls = [specs_or_literals(one) for one in ([args.arguments] if args.arguments else []) + shapes]
    result = kernel.tune(
        target=args.target,
        effort=args.effort,
        seed=args.seed,
        start=args.start,
        shapes=calls,
        scheduler=args.scheduler,
    )
    found = result if len(calls) > 1 else result.results[0]
    print(found)
    _keep(found, args)
    return 0 if any(one.best is not None for one in result.results) else 1


def _keep(found: Any, args: argparse.Namespace) -> None:
    """Writes what was asked for."""
    if args.candidates:
        write_output(args.candidates, json.dumps(found.json, indent=2, allow_nan=False) + "\n")
    if args.json or args.save:
        print(f"kept in {found.save(Path(args.json) if args.json else None)}")


def make_parser() -> ArgumentParser:
    """The arguments of ``kopt tune``."""
    parser = ArgumentParser(prog=PROG, description="Find a configuration by the cost model and the chip's compiler.")
    add_subject_options(parser)
    parser.add_argument(
        "--target", metavar="T", default=DEFAULT_TARGET, help=f"a chip, as pallas:v6e (default {DEFAULT_TARGET})"
    )
    parser.add_argument("--effort", default="quick", metavar="E", help="none, quick (default) or full")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the search (default 0)")
    parser.add_argument("--start", action="append", default=[], metavar="FILE",
                        help="a configuration to begin with: NAME.kopt.json, or a file of Helion's")  # fmt: skip
    parser.add_argument("--shapes", nargs="+", action="extend", default=[], metavar="'SPEC…'",
                        help="further sets of arguments, each in quotes: one for all, or a table")  # fmt: skip
    parser.add_argument("--json", metavar="FILE", help="keep the best in a file, as NAME.kopt.json")
    parser.add_argument("--save", action="store_true", help="keep it beside the kernel's file, where calls find it")
    parser.add_argument("--candidates", metavar="FILE", help="write all candidates as JSON ('-': print them)")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="a Dask scheduler whose workers compile")
    return parser
