"""How long `Lowered.report` takes, in seconds of processors, which other work on the machine does not change.

    python benchmarks/report_times.py [--json] [--target TARGET …] [--no-estimates] [NAME …]

A row is an example at its size ``real`` on a target. ``kopt_s`` is what kopt computes itself: figures, predictions and
advice. ``compiler_s`` is what the chip's compiler takes. ``start_s`` is what its process takes before, once for all
reports of a program. Caches are off: a report of what was reported before takes ``kopt_s`` alone. With
``--no-estimates`` it is asked whether the compiler takes the kernel, and for no bundles. Larger sizes of examples have
names too (``causal_attention_4096``); ``all`` are all of both.
"""

from __future__ import annotations

import argparse
import os
from multiprocessing import get_context
from pathlib import Path
from time import process_time
from typing import Any

from support import emit
from support.shapes import arguments, subject, subjects

from examples.registry import DTYPES
from kopt.lowered import Lowered
from kopt.runtime.worker import cpu_seconds

NAMES = ("softmax", "matmul", "attention", "cross_entropy", "grouped_matmul")
TARGETS = ("pallas:v6e", "triton:sm90")
COLUMNS = {"example": "", "target": "", "kopt_s": ".2f", "compiler_s": ".2f", "start_s": ".2f"}


def row(name: str, target: str, estimates: bool) -> dict[str, Any]:
    """The times of one example; the compiler has not started yet."""
    example = subject(name)
    low = example.kernel.lower(*arguments(example, DTYPES["bf16"]), target=target)
    _, first = _times(low, estimates)
    own, second = _times(low, estimates)
    return {"example": name, "target": target, "kopt_s": own, "compiler_s": second, "start_s": first - second}


def _times(low: Lowered, estimates: bool) -> tuple[float, float]:
    """Seconds of this process, and of the compiler's, for one report."""
    begin, compiled = process_time(), _children_seconds()
    low.report(estimates=estimates)
    return process_time() - begin, _children_seconds() - compiled


def _children_seconds() -> float:
    """Seconds that the processes have had which this one started, and which still run."""
    pids = [pid for path in Path("/proc/self/task").glob("*/children") for pid in path.read_text().split()]
    return sum(map(cpu_seconds, map(int, pids)))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"examples, or all (default: {', '.join(NAMES)})")
    parser.add_argument("--target", nargs="*", default=TARGETS, metavar="TARGET", help="kinds and chips")
    parser.add_argument("--no-estimates", action="store_true", help="ask for no bundles")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    os.environ["KOPT_CACHE_DIR"] = ""
    names = [each.name for each in subjects()] if args.names == ["all"] else args.names or NAMES
    jobs = [(name, target, not args.no_estimates) for name in names for target in args.target]
    with get_context("fork").Pool(1, maxtasksperchild=1) as pool:  # each row starts its compiler
        rows = pool.starmap(row, jobs, chunksize=1)
    emit({"rows": rows}, args.json, COLUMNS)


if __name__ == "__main__":
    main()
