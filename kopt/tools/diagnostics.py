"""``kopt diagnostics [ID]``: what the id at the end of an error means, why it is refused, and how to mend it."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from kopt.catalogue import CATALOGUE, entry
from kopt.tools.command_line import ArgumentParser


def run(argv: Sequence[str]) -> int:
    """The subcommand on one command line: one entry, or a line for each."""
    args = make_parser().parse(argv)
    lines = "".join(f"{id:24} {kind.what}\n" for id, kind in CATALOGUE.items())
    sys.stdout.write(lines if args.id is None else entry(args.id))
    return 0


def make_parser() -> ArgumentParser:
    """The arguments of ``kopt diagnostics``."""
    parser = ArgumentParser(prog="kopt diagnostics", description="The kinds of errors, warnings and remarks, by id.")
    parser.add_argument("id", nargs="?", metavar="ID", help="as an error ends in: unknown-name; default: list all")
    return parser
