"""``pallas:strict``: JAX's TPU interpret mode, which has the memories, DMAs, semaphores and two cores of a chip.

It finds data races, reads of memory that nothing wrote (NaN), accesses out of bounds and outputs revisited out of
order, all of which plain interpret mode hides. A kernel that waits for a signal which never comes hangs, so it runs
in a worker process with a time limit. Race detection costs time quadratic in the grid: it is on up to
``race_cells`` cells of a call and off beyond.
"""

from __future__ import annotations

from collections.abc import Sequence

from kopt.errors import CompileError
from kopt.runtime.time_limits import CALL_SECONDS, time_limit
from kopt.runtime.wire import Packed
from kopt.runtime.worker import RemoteError, Worker, WorkerCrash, WorkerTimeout
from kopt.targets.target import Target

#: Detect races in calls of up to this many grid cells.
RACE_CELLS = 256

_worker = Worker("kopt.runtime.strict_worker", {"JAX_PLATFORMS": "cpu"})


class StrictRunner:
    """Runs an emitted Pallas module in the strict interpreter, on arrays as bits."""

    framework = "packed"
    devices = ("cpu",)

    def __init__(self, source: str, entry: str, target: Target, use_wide: bool, race_cells: int, limit: float | None):
        self._job = (source, entry, str(target), use_wide, race_cells)
        self._limit = limit
        self._entry = entry

    def run(self, arrays: Sequence[Packed]) -> list[Packed]:
        """Call the kernel; raises `CompileError` for a race, an out-of-bounds access, a hang or a crash."""
        limit = self._limit or time_limit(CALL_SECONDS)
        try:
            return _worker.call("run", *self._job, list(arrays), time_limit=limit)
        except WorkerTimeout:
            raise CompileError(
                f"pallas:strict: kernel '{self._entry}' did not end within {limit:g} s and was stopped",
                notes=["a wait that nobody signals hangs; KOPT_TIME_LIMIT sets the seconds"],
            ) from None
        except WorkerCrash as error:
            raise CompileError(f"pallas:strict: the interpreter crashed on kernel '{self._entry}': {error}") from None
        except RemoteError as error:
            raise CompileError(
                f"pallas:strict: kernel '{self._entry}': {error.kind}: {error.message.strip()}"
            ) from None
