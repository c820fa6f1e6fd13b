"""From import to emitted source: kopt beside Helion's bind and code generation of the same kernels, in one process.

    python benchmarks/compile_time.py [--json] [--repeats N] [NAME …]

Every repeat starts from a new kernel object with kopt's and Helion's caches of kernels cleared; the process is warm
(each kernel was compiled once before by both). kopt's result is verified, as by default. No accelerator is needed:
kopt emits for ``pallas:tpu7x`` and ``triton:sm90``, Helion generates code for its Pallas and Triton backends from CPU
tensors. ``median_ratio`` is kopt's time over Helion's, the median over all rows that both can compile.
"""

from __future__ import annotations

import argparse
import gc
from collections.abc import Callable
from typing import Any

from support import emit, helion_function, median, ratio, timed

import kopt
from examples.registry import DTYPES, EXAMPLES, Example

#: kopt's target and the Helion backend of the same kind.
TARGETS = {"pallas:tpu7x": "pallas", "triton:sm90": "triton"}
SIZE = "ragged"
COLUMNS = {"example": "", "target": "", "kopt_ms": ".1f", "helion_ms": ".1f", "ratio": ".2f"}


def kopt_step(example: Example, args: tuple[Any, ...], target: str) -> Callable[[], Any]:
    """One import, lowering and emission by kopt."""
    config = example.sizes[SIZE].config

    def step() -> str:
        return kopt.kernel(example.kernel.fn).lower(*args, target=target, config=config).source

    return step


def helion_step(example: Example, args: tuple[Any, ...], target: str) -> Callable[[], Any]:
    """One bind and code generation by Helion, or a failure where it is not installed."""
    import helion

    config = helion.Config(**example.sizes[SIZE].config)
    function = helion_function(example.kernel.fn)

    def step() -> str:
        kernel = helion.kernel(function, config=config, backend=TARGETS[target], static_shapes=True)
        return kernel.bind(args).to_code()

    return step


def measure(example: Example, target: str, repeats: int, dtype: str) -> tuple[dict[str, Any], list[str]]:
    """A row of the table, and what went wrong. The two take turns, so that a busy machine slows both."""
    args = example.make_args(SIZE, DTYPES[dtype])
    steps: dict[str, Callable[[], Any]] = {}
    problems = []
    for name, make in (("kopt", kopt_step), ("helion", helion_step)):
        try:
            step = make(example, args, target)
            step()
            steps[name] = step
        except Exception as error:  # any refusal is a row without that number
            problems.append(f"{name}: {example.name} for {target}: {_first_line(error)}")
    times = [{name: _one(step) for name, step in steps.items()} for _ in range(repeats)]
    row: dict[str, Any] = {"example": example.name, "target": target}
    row |= {f"{name}_ms": median([time.get(name) for time in times]) for name in ("kopt", "helion")}
    return row | {"ratio": ratio(row["kopt_ms"], row["helion_ms"])}, problems


def _one(step: Callable[[], Any]) -> float:
    gc.collect()
    return timed(step)


def _first_line(error: Exception) -> str:
    lines = str(error).splitlines() or [""]
    return f"{type(error).__name__}: {lines[0]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", help="examples; all when left out")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--repeats", type=int, default=5, help="timed repeats of each row (default 5)")
    parser.add_argument("--dtype", choices=DTYPES, default="f32")
    options = parser.parse_args()
    rows, problems = [], []
    for example in EXAMPLES:
        for target in TARGETS if not options.names or example.name in options.names else ():
            row, found = measure(example, target, options.repeats, options.dtype)
            rows.append(row)
            problems += found
    result = {
        "rows": rows,
        "kopt_median_ms": median([row["kopt_ms"] for row in rows]),
        "helion_median_ms": median([row["helion_ms"] for row in rows]),
        "median_ratio": median([row["ratio"] for row in rows]),
        "problems": problems,
    }
    emit(result, options.json, COLUMNS)


if __name__ == "__main__":
    main()
