"""Candidates compiled by their chip's compiler, in processes with limits on time and memory.

A compiler that dies, hangs or takes too much costs its candidate, which is not legal then; the next one gets a new
process. Over several machines the same jobs go by an executor of Dask's.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from kopt.errors import ConfigError
from kopt.runtime.extras import install, is_installed
from kopt.runtime.time_limits import time_limit
from kopt.runtime.tpu_report import ENVIRONMENT
from kopt.runtime.worker import RemoteError, Worker, WorkerCrash, WorkerMemory, WorkerTimeout
from kopt.specs import TensorSpec
from kopt.targets.chips import Chip, TpuChip

#: What the compilation of one candidate may take: seconds, of them seconds of processors, and bytes. What other
#: processes take of a busy machine is no fault of a candidate.
SECONDS = 120.0
CPU_SECONDS = 60.0
MEMORY = 8 * 2**30

Facts = Mapping[str, Any]


@dataclass(frozen=True)
class Compiler:
    """How the modules of a family are compiled: a worker's ``module``, its environment, and its name in reasons."""

    name: str
    module: str
    environment: Mapping[str, str | None] = field(default_factory=dict, hash=False)


TPU = Compiler("libtpu", "kopt.runtime.tpu_worker", ENVIRONMENT)
GPU = Compiler("Triton", "kopt.runtime.gpu_worker", {"TRITON_INTERPRET": None, "TRITON_DEFAULT_FP_FUSION": "1"})


@dataclass(frozen=True)
class CompileJob:
    """One candidate's module; ``seconds``, ``cpu_seconds`` and ``memory`` are its limits."""

    source: str
    entry: str
    specs: tuple[TensorSpec, ...]
    chip: str
    compiler: Compiler
    seconds: float = SECONDS
    cpu_seconds: float = CPU_SECONDS
    memory: int = MEMORY

    @property
    def arguments(self) -> tuple[Any, ...]:
        """What the worker's ``compile_module`` takes."""
        own = self.source, self.entry, self.specs, self.chip
        return (*own, (), "") if self.compiler.module == TPU.module else own


def job_for(source: str, entry: str, specs: Sequence[TensorSpec], chip: Chip) -> CompileJob:
    """The job of a module for a chip."""
    return CompileJob(source, entry, tuple(specs), chip.name, TPU if isinstance(chip, TpuChip) else GPU)


#: Worker processes that wait for a job, by their module: libraries that are loaded stay so.
_idle: dict[str, list[Worker]] = {}
_busy: set[Worker] = set()
_lock = threading.Lock()


def run(job: CompileJob) -> Facts:
    """What the compiler says of a job, in a worker process of its own: at least ``legal`` and ``reason``.

    Of what does not end in time nobody knows whether it is legal: that is None.
    """
    module = job.compiler.module
    with _lock:
        waiting = _idle.setdefault(module, [])
        worker = waiting.pop() if waiting else Worker(module, job.compiler.environment)
        _busy.add(worker)
    worker.memory_limit, worker.cpu_limit = job.memory, job.cpu_seconds
    name = job.compiler.name
    try:
        return worker.call("compile_module", *job.arguments, time_limit=time_limit(job.seconds))
    except WorkerTimeout as error:
        return {"legal": None, "reason": f"{name}: {error}"}
    except WorkerMemory as error:
        return _failed(f"{name} took {error}")
    except WorkerCrash as error:
        return _failed(f"{name} crashed: {' | '.join(str(error).splitlines()[:3])}")
    except RemoteError as error:
        return _failed(f"{name}: {error.kind}: {error.message}")
    finally:
        with _lock:
            _busy.discard(worker)
            _idle[module].append(worker)


def _failed(reason: str) -> Facts:
    return {"legal": False, "reason": reason}


@contextmanager
def executor(scheduler: str | None = None, processes: int | None = None) -> Iterator[Executor]:
    """What runs jobs: threads, each with a worker process; or the workers of a Dask scheduler at an address.

    Raises `ConfigError` where Dask is not installed, or nothing answers.
    """
    if scheduler is None:
        pool = ThreadPoolExecutor(processes or min(4, os.cpu_count() or 1))
        try:
            yield pool
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
        return
    if not is_installed("distributed"):
        raise ConfigError("a scheduler needs dask.distributed", notes=[install("dask")])
    from distributed import Client

    try:
        client = Client(scheduler, timeout=10)
    except (OSError, ValueError) as error:
        raise ConfigError(f"no Dask scheduler answers at '{scheduler}': {error}") from None
    try:
        with client.get_executor() as pool:
            yield pool
    finally:
        client.close()


def compile_all(
    jobs: Sequence[CompileJob], pool: Executor, said: Callable[[int, Facts], None] | None = None
) -> list[Facts | None]:
    """What compilers say of jobs, in their order; None of those that an interrupt came before."""
    futures = [pool.submit(run, job) for job in jobs]
    found: list[Facts | None] = [None] * len(jobs)
    try:
        for number, future in enumerate(futures):
            found[number] = future.result()
            if said is not None:
                said(number, found[number] or {})
    except KeyboardInterrupt:
        for future in futures:
            future.cancel()
        with _lock:
            for worker in _busy:
                worker.interrupt()
        raise
    return found
