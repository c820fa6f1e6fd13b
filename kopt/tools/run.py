"""``kopt run FILE[:NAME] SPEC…``: run a kernel on made-up or given inputs, and check it.

The reference interprets the kernel's IR; the target ``eager`` runs its Python, where it has any.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from kopt.errors import ConfigError, KoptError
from kopt.runtime.pallas_interpret import as_list
from kopt.tools.command_line import ArgumentParser
from kopt.tools.progress import progress
from kopt.tools.subject import Subject, add_subject_options, load_subject, parse_config

PROG = "kopt run"

#: What results are compared with, in words.
_JUDGES = {"reference": "the reference", "eager": "the kernel's Python"}


class CheckFailed(KoptError):
    """The target's results are not the reference's, or not those of the kernel's Python."""


def run(argv: Sequence[str]) -> int:
    """The subcommand on one command line: prints a line a result, returns the exit code."""
    args = make_parser().parse(argv)
    subject = load_subject(args)
    config = parse_config(args.config)
    from kopt.tools.arguments import specs_or_literals

    values = specs_or_literals(args.arguments or subject.default_arguments())
    judges = subject.judges if args.check else ()
    with progress(PROG, 1 + len(judges)) as step:
        step(args.target or "default target")
        outputs = _execute(subject, values, args.target, config, args)
        for name, value in outputs.items():
            print(f"{name}: {_summary(value)}")
        if args.output:
            _save(args.output, outputs)
        for judge in judges:
            step(f"check by {_JUDGES[judge]}")
            _check(outputs, _judged(subject, values, judge, config, args), judge, _longest_extent(values))
    return 0


def _save(path: str, outputs: dict[str, Any]) -> None:
    """Write the results to an ``.npz`` file, bf16 and fp8 as float32."""
    arrays: dict[str, Any] = {name.replace(" ", "_"): _plain(value) for name, value in outputs.items()}
    try:
        np.savez(path, **arrays)
    except OSError as error:
        raise ConfigError(f"cannot write '{path}': {error.strerror}", id="file") from error


def make_parser() -> ArgumentParser:
    """The arguments of ``kopt run``."""
    parser = ArgumentParser(prog=PROG, description="Run a kernel, optionally check its results.")
    add_subject_options(parser)
    parser.add_argument("--target", metavar="T", help="where to run (default: this machine's default target)")
    parser.add_argument(
        "--check",
        action="store_true",
        help="compare with the target 'reference', and a Python kernel with 'eager'; differing is an error",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the made-up inputs (default 0)")
    parser.add_argument("-o", "--output", metavar="FILE.npz", help="save the results")
    return parser


def _execute(
    subject: Subject, values: Sequence[Any], target: str | None, config: dict[str, Any], args: argparse.Namespace
) -> dict[str, Any]:
    """Results by name: each result, then each argument that the kernel changed."""
    from kopt.runtime.made_up import make_arguments
    from kopt.runtime.wire import pack

    executable = subject.executable(values, target, config)
    inputs = make_arguments(values, args.seed)
    untouched = make_arguments(values, args.seed)
    start = time.perf_counter()
    results = executable(*inputs)
    seconds = time.perf_counter() - start
    print(f"{executable.target}: {1e3 * seconds:.1f} ms")
    outputs = {f"result {i}": value for i, value in enumerate(as_list(results))}
    for i, (after, before) in enumerate(zip(inputs, untouched, strict=True)):
        if hasattr(after, "dtype") and not np.array_equal(pack(after).bits, pack(before).bits):
            outputs[f"argument {i}"] = after
    return outputs


def _judged(
    subject: Subject, values: Sequence[Any], judge: str, config: dict[str, Any], args: argparse.Namespace
) -> dict[str, Any] | None:
    """What a judge gives; None, with the reason printed, where the kernel's Python cannot stand for the kernel."""
    if judge != "eager":
        return _execute(subject, values, judge, config, args)
    from kopt.eager.state import WithoutMeaning

    try:
        return _execute(subject, values, judge, config, args)
    except WithoutMeaning as error:
        print(f"check: the kernel's Python is not compared: {error.message}")
        return None


def _plain(value: Any) -> np.ndarray:
    """A result as NumPy computes with it: bf16 and fp8 as float32."""
    from kopt.runtime.wire import pack, to_reference

    return to_reference(pack(value))


def _summary(value: Any) -> str:
    from kopt.specs import spec_of

    array = _plain(value)
    if array.size == 0:
        return f"{spec_of(value)} empty"
    numbers = array.astype(np.float64)
    return f"{spec_of(value)} min {numbers.min():.6g} max {numbers.max():.6g} mean {numbers.mean():.6g}"


def _check(outputs: dict[str, Any], wanted: dict[str, Any] | None, judge: str, reduction_length: int) -> None:
    """Compare every output; prints what agrees, raises where one differs."""
    from kopt.runtime.tolerance import mismatch, relative
    from kopt.specs import spec_of

    if wanted is None:
        return
    name = _JUDGES[judge]
    if list(outputs) != list(wanted):
        raise CheckFailed(f"the target gives {', '.join(outputs)}, {name} {', '.join(wanted)}")
    for output, value in outputs.items():
        got, reference = spec_of(value), spec_of(wanted[output])
        if (got.shape, got.dtype) != (reference.shape, reference.dtype):
            raise CheckFailed(f"{output} is {got}, in {name} {reference}")
        if problem := mismatch(value, wanted[output], got.dtype, reduction_length):
            raise CheckFailed(f"{output} differs from {name}: {problem}")
        within = f"within {relative(got.dtype, reduction_length):.2g}" if got.dtype.is_float else "exactly"
        print(f"check: {output} agrees with {name} {within}")


def _longest_extent(values: Sequence[Any]) -> int:
    """A bound on the number of terms of the kernel's sums: each runs over an extent of some argument."""
    return max((extent for value in values for extent in getattr(value, "shape", ())), default=1)
