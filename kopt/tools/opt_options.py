"""The options of the opt tool, with mlir-opt's names and habits."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from kopt.tools.command_line import ArgumentParser

TARGETS = ("mlir", "pallas-py", "triton-py", "torch-py", "jax-py")
DEFAULT_REPRODUCER = "kopt-reproducer.mlir"

DESCRIPTION = "Rewrite kernel IR: parse FILE, run passes, print IR or the emitted Python module."
EPILOG = """\
subcommands:
  kopt import FILE.py:NAME SPEC...   print the IR of a Python kernel
  kopt run FILE[:NAME] SPEC...       run a kernel or IR file, --check it against the reference
  kopt report FILE[:NAME] SPEC...    compile for chips that need not be there, and print one table
  kopt explain FILE[:NAME] SPEC...   one page that shows every pass, the plan and its costs
  kopt tune FILE.py:NAME SPEC...     find the configuration that takes least time on a chip
  kopt calibrate FILE.csv            fit the constants of the cost model to measured times
  kopt cache [list|clear]            what is kept on disk between processes
  kopt completion bash|zsh           what completes this command line in a shell
  kopt diagnostics [ID]              what the id at the end of an error means
  kopt lsp                           the language server for editors
  (each has its own --help)

example:
  kopt examples/ir/softmax.mlir --pass-pipeline='builtin.module(canonicalize,cse)' -t mlir
"""


def parse_options(argv: Sequence[str]) -> argparse.Namespace:
    """The opt tool's arguments; a bare ``--print-ir-after`` means every pass, as in mlir-opt."""
    bare = {"--print-ir-before": "--print-ir-before-all", "--print-ir-after": "--print-ir-after-all"}
    bare |= {key.replace("--", "--mlir-", 1): value for key, value in bare.items()}
    bare["--verify-semantics"] = "--verify-semantics=0,2"
    return make_parser().parse([bare.get(word, word) for word in argv])


def print_help() -> None:
    """The help text, on stdout."""
    make_parser().print_help()


def make_parser() -> ArgumentParser:
    """The arguments of the opt tool."""
    parser = ArgumentParser(
        prog="kopt",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("input", nargs="?", metavar="FILE", help="IR text; '-' or nothing is stdin")
    for add in (_add_input, _add_output, _add_printing, _add_checking):
        add(parser)
    return parser


def _add_input(parser: ArgumentParser) -> None:
    add = parser.add_argument_group("input and passes").add_argument
    add("-p", "--pass-pipeline", "--passes", dest="pipeline", metavar="PIPELINE", default="",
        help="passes to run: 'builtin.module(a,b{key=value})' or 'a,b', or a target's own: pallas-tpu7x")  # fmt: skip
    add("--split-input-file", action="store_true", help="treat pieces between '// -----' lines one by one")
    add("--allow-unregistered-dialect", action="store_true", help="accept operations of unknown dialects")
    add("--show-passes", "--list-passes", action="store_true", help="list the passes and their options")
    add("--show-pipelines", action="store_true", help="list the pipelines that have a name")
    add("--show-dialects", "--list-dialects", action="store_true", help="list the dialects")
    add("--show-plugins", action="store_true", help="list what other packages add, and what is wrong with it")
    add("--version", action="store_true", help="print kopt's version")


def _add_output(parser: ArgumentParser) -> None:
    add = parser.add_argument_group("output").add_argument
    add("-o", "--output", metavar="FILE", default="-", help="write here; left untouched when anything fails")
    add("-t", "--target", metavar="KIND", default="mlir", help=f"what to print: {', '.join(TARGETS)}")
    add("--allow-inline", action="store_true", help="emit the code that IR brings along (triton.inline): trust it")
    add("--entry", metavar="NAME", help="the function to emit, where the module has several")
    add("--view-op-graph", action="store_true", help="print the module as a graph, in graphviz' language")
    add("--print-op-generic", "--mlir-print-op-generic", action="store_true", help="print the generic syntax")
    add("--print-debuginfo", "--mlir-print-debuginfo", action="store_true", help="print loc(...) of operations")


def _add_printing(parser: ArgumentParser) -> None:
    add = parser.add_argument_group("looking inside (on stderr)").add_argument
    for when in ("before", "after"):
        name = f"print-ir-{when}"
        add(f"--{name}", f"--mlir-{name}", action="append", metavar="PASS", default=[],
            help=f"print the IR {when} PASS[,PASS]; without a value, {when} every pass")  # fmt: skip
        add(f"--{name}-all", f"--mlir-{name}-all", action="store_true", help=argparse.SUPPRESS)
    add("--print-ir-after-change", "--mlir-print-ir-after-change", action="store_true",
        help="print the IR after passes that changed it")  # fmt: skip
    add("--print-ir-diff", "--mlir-print-ir-diff", action="store_true",
        help="print how each pass changed the IR, word by word")  # fmt: skip
    add("--print-ir-after-failure", "--mlir-print-ir-after-failure", action="store_true",
        help="print the IR that a pass leaves behind that fails")  # fmt: skip
    add("--print-ir-tree-dir", "--mlir-print-ir-tree-dir", metavar="DIR",
        help="print the IR into files below DIR, one a pass; of every pass by default")  # fmt: skip
    add("--dump-pass-pipeline", action="store_true", help="print the pipeline that runs, as --pass-pipeline takes it")
    add("--mlir-timing", "--timing", dest="timing", action="store_true", help="where the time went")
    add("--remarks", action="store_true", help="print what passes say they did or could not do")


def _add_checking(parser: ArgumentParser) -> None:
    add = parser.add_argument_group("checking").add_argument
    add("--verify-diagnostics", action="store_true",
        help="match errors, warnings and remarks with 'expected-error @+1 {{...}}' comments")  # fmt: skip
    add("--verify-each", action="store_true", help="verify after every pass")
    add("--verify-semantics", metavar="SEED,N",
        help="run modules before and after every pass on N inputs: no pass may change a value")  # fmt: skip
    add("--verify-roundtrip", action="store_true", help="print and parse again in both syntaxes, and compare")
    add("--crash-reproducer", "--mlir-pass-pipeline-crash-reproducer", metavar="FILE", default=DEFAULT_REPRODUCER,
        help=f"where a crash writes what reproduces it (default {DEFAULT_REPRODUCER})")  # fmt: skip
