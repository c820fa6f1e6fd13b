"""How long calls take on a GPU: with the caches cold, in a CUDA graph, and for the processor that starts them."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

Call = Callable[[], Any]
#: Calls before any is timed, turns of all sides, calls of a turn that are timed by themselves, and calls in a row.
WARM_UP, TURNS, COLD_CALLS, ROW = 3, 5, 10, 20
#: Bytes that are written between calls, more than second-level caches hold, and how often: on large chips that takes
#: about half a millisecond, in which the processor can start the call.
CACHE_BYTES, FILLS = 256 << 20, 4


@dataclass
class Times:
    """Microseconds of a call, each as often as it was timed; ``graph`` is empty where a call cannot be captured."""

    cold: list[float] = field(default_factory=list)
    graph: list[float] = field(default_factory=list)
    host: list[float] = field(default_factory=list)

    def medians(self) -> dict[str, float | None]:
        """The columns of a table."""
        found = {"cold_us": self.cold, "graph_us": self.graph, "host_us": self.host}
        return {name: statistics.median(times) if times else None for name, times in found.items()}


class Stopwatch:
    """Times calls by the events of ``cuda``, which is `torch.cuda` where a GPU is; ``cache`` is what is written."""

    def __init__(self, cuda: Any, cache: Any, clock: Callable[[], float] = perf_counter):
        self._cuda, self._cache, self._clock = cuda, cache, clock

    def prepared(self, call: Call) -> tuple[Any, str | None]:
        """A graph of several calls, else None and why there is none; compiles what the first call compiles."""
        for _ in range(WARM_UP):
            call()
        self._cuda.synchronize()
        graph = self._cuda.CUDAGraph()
        try:
            with self._cuda.graph(graph):
                for _ in range(ROW):
                    call()
        except Exception as error:  # a call that waits for the device, or copies from the host
            return None, f"no CUDA graph: {(str(error).splitlines() or [type(error).__name__])[0]}"
        return graph, None

    def turn(self, call: Call, graph: Any, times: Times) -> None:
        """Times a call each way once more."""
        for _ in range(COLD_CALLS):
            times.cold.append(self._cold(call))
        if graph is not None:
            graph.replay()
            times.graph.append(self._between(graph.replay) / ROW)
        self._cuda.synchronize()
        start = self._clock()
        for _ in range(ROW):
            call()
        times.host.append((self._clock() - start) / ROW * 1e6)
        self._cuda.synchronize()

    def _cold(self, call: Call) -> float:
        """While the device writes other bytes, the processor starts the call behind them."""
        for _ in range(FILLS):
            self._cache.zero_()
        return self._between(call)

    def _between(self, call: Call) -> float:
        start, end = (self._cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        call()
        end.record()
        self._cuda.synchronize()
        return 1e3 * start.elapsed_time(end)


def in_turns(stopwatch: Stopwatch, calls: dict[str, tuple[Call, Any]], turns: int = TURNS) -> dict[str, Any]:
    """The times of calls with their graphs, by name: all take turns, so that none has the device when it is coolest.

    A call that fails has the error in place of times.
    """
    found: dict[str, Any] = {name: Times() for name in calls}
    for _ in range(turns):
        for name, (call, graph) in calls.items():
            if isinstance(found[name], Times):
                try:
                    stopwatch.turn(call, graph, found[name])
                except Exception as error:  # one side's failure is its own
                    found[name] = error
    return found
