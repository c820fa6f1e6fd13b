"""Runs examples beside torch: ``python examples/softmax.py`` checks the kernels of one file on every CPU target."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import torch

import kopt
from examples.registry import DTYPES, EXAMPLES, Example

#: Targets that run on any machine, and the dtypes that each takes: a TPU has no f16.
TARGETS = {
    "reference": ("f32", "bf16", "f16"),
    "pallas:interpret": ("f32", "bf16"),
    "triton:interpret": ("f32", "bf16", "f16"),
}


def configured(example: Example, size: str) -> kopt.Kernel:
    """The example's kernel with the block sizes of a size."""
    return kopt.kernel(example.kernel, config=example.sizes[size].config)


def mismatches(example: Example, size: str, got: Any, wanted: Any) -> list[str]:
    """What differs between a kernel's results and torch's, beyond what the dtypes allow; empty where they agree."""
    from kopt.runtime.tolerance import mismatch
    from kopt.specs import spec_of

    found, expected = _as_tuple(got), _as_tuple(wanted)
    if len(found) != len(expected):
        return [f"{len(found)} results, expected {len(expected)}"]
    terms = example.reduction_length(size)
    problems = []
    for position, (value, truth) in enumerate(zip(found, expected, strict=True)):
        if value.dtype != truth.dtype:
            problems.append(f"result {position} has dtype {value.dtype}, expected {truth.dtype}")
        elif problem := mismatch(value.cpu(), truth.cpu(), spec_of(truth).dtype, terms):
            problems.append(f"result {position}: {problem}")
    return problems


def run(example: Example, size: str, dtype: torch.dtype, target: str) -> list[str]:
    """Runs an example on a target and compares it with torch; see `mismatches`."""
    args = example.make_args(size, dtype)
    wanted = example.reference(*args)
    return mismatches(example, size, configured(example, size).on(target)(*args), wanted)


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def main(file: str, size: str = "ragged") -> None:
    """Checks all kernels of a file on all CPU targets, prints a line for each, exits with 1 where one is wrong."""
    examples = [example for example in EXAMPLES if example.file == Path(file).stem]
    failed = [row for example in examples for row in _rows() if not _report(example, size, *row)]
    raise SystemExit(1 if failed else 0)


def _rows() -> Sequence[tuple[str, str]]:
    return [(target, dtype) for target, dtypes in TARGETS.items() for dtype in dtypes]


def _report(example: Example, size: str, target: str, dtype: str) -> bool:
    start = time.perf_counter()
    try:
        problems = run(example, size, DTYPES[dtype], target)
    except kopt.KoptError as error:
        problems = [str(error)]
    took = time.perf_counter() - start
    verdict = "wrong" if problems else "ok"
    dims = "x".join(map(str, example.sizes[size].dims))
    print(f"{verdict:5}  {example.name:20} {target:17} {dtype:5} {dims:>14} {took:7.2f} s", flush=True)
    for problem in problems:
        print(f"       {problem}")
    return not problems
