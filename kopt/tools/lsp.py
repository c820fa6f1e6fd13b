"""``kopt lsp``: the language server for IR files, which an editor starts and talks to by stdin and stdout."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout

from kopt.tools.command_line import ArgumentParser

PROG = "kopt lsp"


def run(argv: Sequence[str]) -> int:
    """The subcommand on one command line: serves until the editor ends it."""
    args = make_parser().parse(argv)
    if args.grammar:
        from kopt.dialects import ALL_DIALECTS
        from kopt.lsp.grammar import grammar

        print(json.dumps(grammar(ALL_DIALECTS), indent=2))
        return 0
    from kopt.lsp.server import make_server
    from kopt.tools.listing import version

    # pygls closes what it writes to. What else prints must not come between its messages.
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as answers, redirect_stdout(sys.stderr):
        make_server(version()).start_io(stdout=answers)
    return 0


def make_parser() -> ArgumentParser:
    """The arguments of ``kopt lsp``."""
    parser = ArgumentParser(prog=PROG, description="Serve an editor that shows IR files, by stdin and stdout.")
    parser.add_argument("--stdio", action="store_true", help="the default, and all that there is: editors may say so")
    parser.add_argument("--grammar", action="store_true", help="print the TextMate grammar, with the ops of plug-ins")
    return parser
