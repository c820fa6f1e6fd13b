"""What a call costs beside what it starts: CPU time of a kernel's second call, of its emitted function, of others.

    python benchmarks/launch.py [--json] [--repeats N]

A row is a sum of arrays on one target. ``emitted_us`` calls the emitted function by itself (on Pallas targets compiled
by ``jax.jit``, torch tensors going there and back by DLPack), ``kopt_us`` the kernel; ``more_us`` is what lies between.
For GPUs the launch is a stub, and ``plain_us`` is Triton's own ``jit[grid](…)``, without the output's allocation;
``helion_us`` the same kernel by Helion, where it is installed. All of a row is measured side by side in turns, and the
least time of the turns counts. No accelerator is needed.
"""

from __future__ import annotations

import argparse
import functools
from collections.abc import Callable, Mapping
from time import thread_time
from typing import Any

import jax
import jax.numpy as jnp
import torch
from support import emit, helion_function, ratio
from support.no_launch import no_launch

import kopt
import kopt.language as hl

ROWS, COLUMNS_OF_ARRAYS = 64, 256
CALLS = 50
COLUMNS = {
    "target": "",
    "arrays": "",
    "tensors": "",
    "emitted_us": ".1f",
    "kopt_us": ".1f",
    "more_us": ".1f",
    "plain_us": ".1f",
    "over_plain": ".2f",
    "helion_us": ".1f",
    "over_helion": ".2f",
}


@kopt.kernel(config={"block_sizes": [16]})
def add_2(a, b):
    out = torch.empty_like(a)
    for rows in hl.tile(a.size(0)):
        out[rows, :] = a[rows, :] + b[rows, :]
    return out


@kopt.kernel(config={"block_sizes": [16]})
def add_6(a, b, c, d, e, f):
    out = torch.empty_like(a)
    for rows in hl.tile(a.size(0)):
        out[rows, :] = a[rows, :] + b[rows, :] + c[rows, :] + d[rows, :] + e[rows, :] + f[rows, :]
    return out


KERNELS = {2: add_2, 6: add_6}


def microseconds(calls: Mapping[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """The least time that this thread computes for one call of each, measured in turns."""
    least = dict.fromkeys(calls, float("inf"))
    for function in calls.values():
        function()
        function()
    for _ in range(repeats):
        for name, function in calls.items():
            start = thread_time()
            for _ in range(CALLS):
                function()
            least[name] = min(least[name], (thread_time() - start) / CALLS * 1e6)
    return least


def arrays(count: int) -> list[torch.Tensor]:
    return [torch.full((ROWS, COLUMNS_OF_ARRAYS), float(number)) for number in range(count)]


def on_gpu(count: int) -> dict[str, Callable[[], Any]]:
    """The calls for a GPU."""
    args, kernel = arrays(count), KERNELS[count].on("triton:sm90")
    emitted = kernel.executable(*args).executable.function
    launch = next(value for name, value in emitted.__globals__.items() if name.endswith("_kernel"))
    out = torch.empty_like(args[0])
    plain = functools.partial(lambda *all: launch[(4,)](*all, BLOCK_0=16, num_warps=4, num_stages=1), *args, out)
    calls = {"emitted": lambda: emitted(*args), "kopt": lambda: kernel(*args), "plain": plain}
    try:
        import helion
    except ImportError:
        return calls
    config = helion.Config(block_sizes=[16])
    other = helion.kernel(helion_function(kernel.fn), config=config, static_shapes=True)
    return {**calls, "helion": lambda: other(*args)}


def on_pallas(count: int, framework: str) -> dict[str, Callable[[], Any]]:
    """The calls for the interpreter of Pallas."""
    args, kernel = arrays(count), KERNELS[count].on("pallas:interpret")
    emitted = jax.jit(kernel.executable(*args).executable.function)
    if framework == "jax":
        given = [jnp.from_dlpack(array) for array in args]
        return {
            "emitted": lambda: emitted(*given).block_until_ready(),
            "kopt": lambda: kernel(*given).block_until_ready(),
        }

    def through_jax() -> torch.Tensor:
        return torch.from_dlpack(emitted(*map(jnp.from_dlpack, args)).block_until_ready())

    return {"emitted": through_jax, "kopt": lambda: kernel(*args)}


def row(
    target: str, framework: str, count: int, calls: Mapping[str, Callable[[], Any]], repeats: int
) -> dict[str, Any]:
    """The least times of calls, and how they compare."""
    found = {f"{name}_us": time for name, time in microseconds(calls, repeats).items()}
    return {
        "target": target,
        "arrays": framework,
        "tensors": str(count),
        **found,
        "more_us": found["kopt_us"] - found["emitted_us"],
        "over_plain": ratio(found["kopt_us"], found.get("plain_us")),
        "over_helion": ratio(found["kopt_us"], found.get("helion_us")),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--repeats", type=int, default=60, help="turns (default 60)")
    options = parser.parse_args()
    rows = []
    for count in KERNELS:
        with no_launch():
            rows.append(row("triton:sm90, launch stubbed", "torch", count, on_gpu(count), options.repeats))
        for framework in ("torch", "jax"):
            calls = on_pallas(count, framework)
            rows.append(row("pallas:interpret", framework, count, calls, options.repeats))
    emit({"rows": rows}, options.json, COLUMNS)


if __name__ == "__main__":
    main()
