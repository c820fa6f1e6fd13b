"""What the first call of a process takes, where an earlier process has compiled the kernel: beside its imports.

    python benchmarks/first_call.py [--json] [--repeats N] [NAME …]

A row is an example on one target, at the size ``ragged``. ``cold_s`` is the first call in a process that compiles it,
``kept_s`` in one that finds it on disk, after `kopt` and the framework are imported; ``again_s`` is the second call
there, and ``start_s`` what the first one took more. Each is the least of the repeats, which are processes of their own.
No accelerator is needed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

from support import emit

from examples.registry import BY_NAME, DTYPES

TARGETS = ("triton:interpret", "pallas:interpret")
EXAMPLES = ("softmax", "matmul", "layer_norm", "attention")
COLUMNS = {"example": "", "target": "", "cold_s": ".3f", "kept_s": ".3f", "again_s": ".3f", "start_s": ".3f"}

#: Of another package for each target: what a user's program has imported anyway.
_FRAMEWORKS = {"triton:interpret": "triton", "pallas:interpret": "jax"}


def _call(name: str, target: str) -> None:
    """Prints the seconds of two calls of an example."""
    __import__(_FRAMEWORKS[target])
    from time import perf_counter

    example = BY_NAME[name]
    arguments, kernel = example.make_args("ragged", DTYPES["f32"]), example.kernel.on(target)
    times = []
    for _ in range(2):
        start = perf_counter()
        kernel(*arguments)
        times.append(perf_counter() - start)
    print(json.dumps(times))


def _process(name: str, target: str, cache: str) -> list[float]:
    environment = {**os.environ, "KOPT_CACHE_DIR": cache, "TRITON_INTERPRET": "1", "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, __file__, "--call", name, target]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=True)
    return json.loads(run.stdout.splitlines()[-1])


def row(name: str, target: str, repeats: int) -> dict[str, Any]:
    """The least seconds of a target's processes."""
    cold, kept = [], []
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as cache:
            cold.append(_process(name, target, cache))
            kept.append(_process(name, target, cache))
    return {
        "example": name,
        "target": target,
        "cold_s": min(first for first, _ in cold),
        "kept_s": min(first for first, _ in kept),
        "again_s": min(second for _, second in kept),
        "start_s": min(first - second for first, second in kept),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", default=EXAMPLES)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--call", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.call:
        _call(*options.call)
        return
    rows = [row(name, target, options.repeats) for name in options.names for target in TARGETS]
    emit(rows, COLUMNS, options.json)


if __name__ == "__main__":
    main()
