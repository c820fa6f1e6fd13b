"""The opt tool: read, parse, verify, run passes, verify, print."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from kopt.registry import did_you_mean
from kopt.tools.command_line import usage_error
from kopt.tools.files import read_input, write_output
from kopt.tools.opt_options import TARGETS, parse_options, print_help


def run(argv: Sequence[str]) -> int:
    """The opt tool on one command line; returns the exit code, or raises ``kopt.KoptError``."""
    args = parse_options(argv)
    if args.version or args.show_passes or args.show_pipelines or args.show_dialects or args.show_plugins:
        return _show(args)
    if not argv and sys.stdin.isatty():
        print_help()
        return 0
    if args.target not in TARGETS:
        hint = did_you_mean(args.target, TARGETS) or f"; known are {', '.join(TARGETS)}"
        raise usage_error(argv, args.target, f"unknown output target '{args.target}'{hint}")
    return _run(args, argv)


def _show(args: argparse.Namespace) -> int:
    from kopt.tools import listing

    if args.version:
        print(listing.version())
    if args.show_passes:
        print(listing.passes())
    if args.show_pipelines:
        print(listing.pipelines())
    if args.show_dialects:
        print(listing.dialects())
    if args.show_plugins:
        print(listing.plugins())
    return 0


def _run(args: argparse.Namespace, argv: Sequence[str]) -> int:
    from kopt.tools.opt_session import Session

    name, text = read_input(args.input or "-")
    session = Session(args, argv, name)
    ok = session.process(text)
    if ok or args.output == "-":
        write_output(args.output, session.output())
    return 0 if ok else session.exit_code
