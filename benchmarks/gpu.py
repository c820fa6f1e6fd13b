"""Every example on this machine's GPU: right against torch, and its time beside torch's and, where installed, Helion's.

    python benchmarks/gpu.py [--json] [--dtype bf16] [--size real] [NAME …]

kopt and Helion run with the configurations that they choose by themselves (Helion without autotuning). Times are of
the device, between CUDA events, after a warm-up, with the L2 cache overwritten between calls; medians in microseconds.
Ratios are kopt's time over the other's, measured side by side in this run. Without a GPU it says so and ends.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from typing import Any

from support import emit, helion_function, median, ratio

import kopt
from examples.check import configured, mismatches
from examples.registry import DTYPES, EXAMPLES, Example

COLUMNS = {
    "example": "",
    "correct": "",
    "kopt_us": ".1f",
    "torch_us": ".1f",
    "helion_us": ".1f",
    "over_torch": ".2f",
    "over_helion": ".2f",
}
WARM_UP, REPEATS = 5, 30
CACHE_BYTES = 256 << 20


def device_time(function: Callable[[], Any]) -> float:
    """Median microseconds of a call on the device."""
    import torch

    cache = torch.empty(CACHE_BYTES, dtype=torch.int8, device="cuda")
    for _ in range(WARM_UP):
        function()
    events = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(REPEATS)]
    for start, end in events:
        cache.zero_()
        start.record()
        function()
        end.record()
    torch.cuda.synchronize()
    return 1e3 * (median([start.elapsed_time(end) for start, end in events]) or 0.0)


def helion_call(example: Example, size: str, args: tuple[Any, ...]) -> Callable[[], Any]:
    """The example compiled by Helion with its default configuration."""
    import helion

    os.environ.setdefault("HELION_AUTOTUNE_EFFORT", "none")
    blocks = example.sizes[size].config
    config = helion.Config(**blocks) if blocks else None
    kernel = helion.kernel(helion_function(example.kernel.fn), config=config, static_shapes=True)
    return lambda: kernel(*args)


def measure(example: Example, size: str, dtype: str) -> tuple[dict[str, Any], list[str]]:
    """A row of the table, and what went wrong."""
    args = example.make_args(size, DTYPES[dtype], "cuda")
    row: dict[str, Any] = {"example": example.name, "correct": "-"}
    problems: list[str] = []
    kernel = configured(example, size)
    try:
        wrong = mismatches(example, size, kernel(*args), example.reference(*args))
        row["correct"] = "no" if wrong else "yes"
        problems += [f"kopt: {example.name}: {problem}" for problem in wrong]
    except Exception as error:  # any refusal is a row without numbers
        problems.append(_problem("kopt", example, error))
    calls = {
        "kopt": lambda: lambda: kernel(*args),
        "torch": lambda: lambda: example.reference(*args),
        "helion": lambda: helion_call(example, size, args),
    }
    for name, make in calls.items():
        row[f"{name}_us"] = None if name == "kopt" and row["correct"] == "-" else _time(name, make, example, problems)
    row["over_torch"] = ratio(row["kopt_us"], row["torch_us"])
    row["over_helion"] = ratio(row["kopt_us"], row["helion_us"])
    return row, problems


def _time(name: str, make: Callable[[], Callable[[], Any]], example: Example, problems: list[str]) -> float | None:
    try:
        return device_time(make())
    except ImportError:
        return None
    except Exception as error:  # a compiler that refuses has no time
        problems.append(_problem(name, example, error))
        return None


def _problem(name: str, example: Example, error: Exception) -> str:
    return f"{name}: {example.name}: {type(error).__name__}: {(str(error).splitlines() or [''])[0]}"


def _gpu_name() -> str | None:
    import torch

    return torch.cuda.get_device_name() if torch.cuda.is_available() else None


def _versions() -> str:
    from importlib.metadata import version

    import torch

    return f"kopt {kopt.__version__}, torch {torch.__version__}, triton {version('triton')}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", help="examples; all when left out")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--dtype", choices=DTYPES, default="bf16")
    parser.add_argument("--size", choices=("tiny", "ragged", "real"), default="real")
    options = parser.parse_args()
    gpu = _gpu_name()
    if gpu is None:
        print("benchmarks/gpu.py: this machine has no GPU that torch can use; nothing was measured")
        return
    measured = [
        measure(example, options.size, options.dtype)
        for example in EXAMPLES
        if not options.names or example.name in options.names
    ]
    rows = [row for row, _ in measured]
    result = {
        "rows": rows,
        "gpu": gpu,
        "versions": _versions(),
        "dtype": options.dtype,
        "size": options.size,
        "median_over_torch": median([row["over_torch"] for row in rows]),
        "median_over_helion": median([row["over_helion"] for row in rows]),
        "problems": [problem for _, problems in measured for problem in problems],
    }
    emit(result, options.json, COLUMNS)


if __name__ == "__main__":
    main()
