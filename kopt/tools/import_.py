"""``kopt import FILE.py:NAME SPEC…``: the IR of a Python kernel, or every stage of its lowering."""

from __future__ import annotations

from collections.abc import Sequence

from kopt.tools.command_line import ArgumentParser
from kopt.tools.files import write_output
from kopt.tools.subject import add_subject_options, load_subject, parse_config

PROG = "kopt import"


def run(argv: Sequence[str]) -> int:
    """The subcommand on one command line; prints the IR and returns the exit code."""
    args = make_parser().parse(argv)
    subject = load_subject(args)
    config = parse_config(args.config)
    from kopt.tools.arguments import specs_or_literals

    values = specs_or_literals(args.arguments or subject.default_arguments())
    # The reference only looks at what was imported: what is printed is the import, which no target can refuse.
    lowers = args.stages or args.source
    lowered = subject.lower(values, args.target or (None if lowers else "reference"), config)
    write_output(args.output, _text(lowered, args))
    return 0


def make_parser() -> ArgumentParser:
    """The arguments of ``kopt import``."""
    parser = ArgumentParser(prog=PROG, description="Print the IR of a kernel for the given arguments.")
    add_subject_options(parser)
    parser.add_argument("--target", metavar="T", help="what it is imported for (block sizes depend on the chip)")
    parser.add_argument("--stages", action="store_true", help="the IR after every pass of the target's pipeline")
    parser.add_argument("--source", action="store_true", help="the emitted Python module instead of IR")
    parser.add_argument("--print-op-generic", action="store_true", help="print the generic syntax")
    parser.add_argument("--print-debuginfo", action="store_true", help="print loc(...) of operations")
    parser.add_argument("-o", "--output", metavar="FILE", default="-", help="write here instead of to stdout")
    return parser


def _text(lowered, args) -> str:
    if args.source:
        return lowered.source
    if args.stages:
        return "".join(f"// -----// {name} //----- //\n{text.rstrip()}\n\n" for name, text in lowered.stages())
    if args.print_op_generic or args.print_debuginfo:
        from kopt.tools.opt_session import print_module

        return print_module(lowered.module, generic=args.print_op_generic, locations=args.print_debuginfo)
    return lowered.ir.rstrip("\n") + "\n"
