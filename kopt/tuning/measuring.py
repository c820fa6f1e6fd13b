"""Candidates on the chip, where this machine has it: their results are checked, then they are timed by turns.

A `Measurer` runs what a candidate was lowered to. Timing goes round: each candidate once, then all again, so that a
clock that drifts is shared out.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from statistics import median
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from kopt.targets.target import Target

if TYPE_CHECKING:
    from kopt.lowered import Lowered

#: Rounds of timing, and bytes that are written between two runs so that no cache has the arguments.
_ROUNDS, _COLD_BYTES = 20, 512 * 2**20

Run = Callable[[], Any]


class Measurer(Protocol):
    """A chip on which candidates run."""

    def prepare(self, low: Lowered, arguments: Sequence[Any]) -> Run:
        """What runs a candidate once, on copies of the arguments, and gives its results as a list of arrays."""
        ...

    def time(self, runs: Sequence[Run]) -> list[float]:
        """Milliseconds of each run, the median of several rounds."""
        ...


def measurer_for(target: Target) -> Measurer | None:
    """The measurer of a target whose chip is here; None where it is not."""
    from kopt.errors import ConfigError
    from kopt.runtime.devices import require
    from kopt.runtime.machine import has_gpu, has_tpu

    if target.mode != "chip" or not (has_gpu() if target.family == "triton" else has_tpu()):
        return None
    with suppress(ConfigError):
        require(target)
        return GpuMeasurer() if target.family == "triton" else JaxMeasurer()
    return None


def results_of(returned: Any, arguments: Sequence[Any]) -> list[Any]:
    """Results of a call, then the arguments, which it may have changed."""
    results = [] if returned is None else list(returned) if isinstance(returned, tuple | list) else [returned]
    return [*results, *(value for value in arguments if hasattr(value, "dtype"))]


def difference(got: Sequence[Any], wanted: Sequence[Any], terms: int) -> str | None:
    """How results differ by more than rounding; None where they agree. ``terms`` bounds the terms of their sums."""
    from kopt.runtime.tolerance import mismatch
    from kopt.specs import spec_of

    if len(got) != len(wanted):
        return f"{len(got)} results instead of {len(wanted)}"
    for number, (one, other) in enumerate(zip(got, wanted, strict=True)):
        spec, known = spec_of(one), spec_of(other)
        if (spec.shape, spec.dtype) != (known.shape, known.dtype):
            return f"result {number} is {spec} instead of {known}"
        if problem := mismatch(one, other, spec.dtype, terms):
            return f"result {number} is wrong: {problem}"
    return None


class GpuMeasurer:
    """A GPU of torch's: CUDA graphs, replayed when no cache has the arguments, and timed by events."""

    def prepare(self, low: Lowered, arguments: Sequence[Any]) -> Run:
        import torch

        from kopt.runtime.exchange import convert

        executable = low.compile()
        own = [convert(value, "torch").clone().cuda() if hasattr(value, "dtype") else value for value in arguments]

        def run() -> list[Any]:
            returned = executable(*own)
            torch.cuda.synchronize()
            return results_of(returned, own)

        run.launch = lambda: executable(*own)  # pyright: ignore[reportFunctionMemberAccess]
        return run

    def time(self, runs: Sequence[Run]) -> list[float]:
        import torch

        flush = torch.empty(_COLD_BYTES, dtype=torch.int8, device="cuda")
        replays = [self._graph(run.launch) for run in runs]  # pyright: ignore[reportFunctionMemberAccess]
        times: list[list[float]] = [[] for _ in runs]
        for _ in range(_ROUNDS):
            for number, replay in enumerate(replays):
                flush.zero_()
                begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
                begin.record()
                replay()
                end.record()
                torch.cuda.synchronize()
                times[number].append(begin.elapsed_time(end))
        return [median(one) for one in times]

    def _graph(self, launch: Run) -> Run:
        """A run as a CUDA graph; as it is, where it cannot be captured."""
        import torch

        launch()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph):
                launch()
        except RuntimeError:
            torch.cuda.synchronize()
            return launch
        return graph.replay


class JaxMeasurer:
    """A TPU in JAX: several calls one after the other, waited for once."""

    def prepare(self, low: Lowered, arguments: Sequence[Any]) -> Run:
        import jax

        executable = low.compile()
        own = [jax.numpy.asarray(np.asarray(value)) if hasattr(value, "dtype") else value for value in arguments]

        def run() -> list[Any]:
            returned = jax.block_until_ready(executable(*own))
            return results_of(returned, own)

        run.launch = lambda: executable(*own)  # pyright: ignore[reportFunctionMemberAccess]
        return run

    def time(self, runs: Sequence[Run], calls: int = 10) -> list[float]:
        import jax

        times: list[list[float]] = [[] for _ in runs]
        for run in runs:
            run()
        for _ in range(_ROUNDS):
            for number, run in enumerate(runs):
                begin = time.perf_counter()
                for _ in range(calls):
                    result = run.launch()  # pyright: ignore[reportFunctionMemberAccess]
                jax.block_until_ready(result)
                times[number].append(1e3 * (time.perf_counter() - begin) / calls)
        return [median(one) for one in times]
