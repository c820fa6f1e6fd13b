"""Every pass checked by meaning: the examples, on the way to each target, before and after each pass.

    python benchmarks/validation.py [--target NAME] [--dtype f32|bf16] [--exact] [--size tiny|ragged] [NAME …]

For each example kopt lowers the kernel and runs the interpreter before and after every pass: on the example's own
arguments, and on others with zeros of both signs, infinities and NaN among the floats. ``--exact`` computes in a finite
ring instead, in which sums in any order are equal. It prints a line a module, what differs, and the figures that
docs/trust.md has; a difference is exit status 1. No accelerator is needed.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence

from support import ROOT  # noqa: F401  # finds examples

import kopt
from examples.check import configured
from examples.registry import BY_NAME, DTYPES, EXAMPLES, Example
from kopt.errors import MeaningError
from kopt.validation import Validation

TARGETS = ("pallas:v6e", "triton:sm90")
KINDS = ("f32", "bf16")

Row = tuple[str, Validation | kopt.KoptError]


def validate(example: Example, size: str, dtype: str, target: str, exact: bool, n: int) -> Validation:
    """Validates one module. Raises `MeaningError`, or what lowering raises."""
    args = example.make_args(size, DTYPES[dtype])
    low = configured(example, size).lower(*args, target=target)
    return low.verify(n=n, exact=exact, args=args)


def rows(options: argparse.Namespace) -> Iterator[Row]:
    """Every module that the options name, and what was found of it."""
    examples = [BY_NAME[name] for name in options.names] or EXAMPLES
    for target in options.target or TARGETS:
        for dtype in options.dtype or KINDS:
            for example in examples:
                name = f"{example.name} {dtype} {target}"
                try:
                    yield name, validate(example, options.size, dtype, target, options.exact, options.inputs)
                except kopt.KoptError as error:
                    yield name, error


def main(argv: Sequence[str]) -> int:
    """Prints a line for each module, then the figures."""
    options = _options().parse_args(argv)
    figures: Counter[str] = Counter()
    unknown: Counter[str] = Counter()
    for name, found in rows(options):
        if isinstance(found, Validation):
            print(f"{name}: {found}", flush=True)
            figures["modules"] += 1
            figures["passes"] += len(found.verdicts)
            figures["validated"] += len(found.validated)
            figures["changed"] += sum(verdict.state == "validated" for verdict in found.verdicts)
            unknown.update(found.not_run.values())
        elif isinstance(found, MeaningError):
            figures["wrong"] += 1
            print(f"{name}: WRONG: {found}", flush=True)
        else:
            figures["refused"] += 1
            print(f"{name}: refused: {found.message.splitlines()[0]}", flush=True)
    for reason, count in unknown.most_common():
        print(f"not run: {count} passes: {reason}")
    print(
        f"{figures['validated']} of {figures['passes']} passes × modules validated in {figures['modules']} modules, "
        f"of which {figures['changed']} changed a module; {figures['wrong']} wrong, {figures['refused']} refused"
    )
    return 1 if figures["wrong"] else 0


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Run the interpreter before and after every pass of the examples.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="examples (default: all)")
    parser.add_argument("--target", action="append", metavar="NAME", help="a target (default: a TPU and a GPU)")
    parser.add_argument("--dtype", action="append", choices=sorted(DTYPES), help="a dtype (default: f32 and bf16)")
    parser.add_argument("--size", default="tiny", choices=["tiny", "ragged"], help="the examples' size (default tiny)")
    parser.add_argument("--inputs", type=int, default=2, metavar="N", help="sets of arguments a module (default 2)")
    parser.add_argument("--exact", action="store_true", help="a finite ring in the place of floats")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
