"""Compilers that die, hang, or take too much memory cost their candidate, and nothing else."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from kopt.errors import ConfigError
from kopt.tuning.compiled import CompileJob, Compiler, compile_all, executor, run

_HERE = Path(__file__).parent
FAULTY = Compiler("a compiler", "compilers", {"PYTHONPATH": os.pathsep.join(map(str, (_HERE.parents[1], _HERE)))})


def job(fault: str, **limits: float) -> CompileJob:
    """A job whose compiler has a fault: the source says which."""
    return CompileJob(fault, "f", (), "v6e", FAULTY, **limits)  # pyright: ignore[reportArgumentType]


FAULTS = {
    "dies": ("crashed: the process ended (killed by SIGABRT)", {}),
    "hangs": ("no answer within 0.5 s", {"seconds": 0.5}),
    "works": ("no answer within 1 s of processor time", {"cpu_seconds": 1.0}),
    "grows": ("GiB of memory, 0.5 are allowed", {"memory": 2**29, "seconds": 60.0}),
    "raises": ("ValueError: what is this", {}),
    "refuses": ("too many registers", {}),
}


def test_each_fault_has_a_reason() -> None:
    """A worker that was killed is followed by another; one that answers serves the next."""
    for fault, (reason, limits) in FAULTS.items():
        facts = run(job(fault, **limits))
        assert facts["legal"] is (None if "no answer" in reason else False) and reason in facts["reason"], (
            fault,
            facts,
        )
    assert run(job("right"))["legal"]


def test_jobs_keep_their_order() -> None:
    """What is said comes in the order of jobs, from threads that have a worker each."""
    said: list[int] = []
    with executor(processes=2) as pool:
        jobs = [job("right"), job("refuses"), job("right")]
        found = compile_all(jobs, pool, lambda number, facts: said.append(number))
    assert [facts and facts["legal"] for facts in found] == [True, False, True] and said == [0, 1, 2]


def test_an_interrupt_ends_what_runs() -> None:
    """A compiler that hangs is not waited for: its process is killed long before its time is over."""

    def interrupted(number: int, facts: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), executor(processes=2) as pool:
        hanging = pool.submit(run, job("hangs", seconds=100.0))
        compile_all([job("right")], pool, interrupted)
    assert "crashed" in hanging.result()["reason"]


def test_no_scheduler_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dask that is not there, and an address of nothing."""
    from kopt.tuning import compiled

    # A folder of these tests has the name of Dask's package.
    monkeypatch.delitem(sys.modules, "distributed", raising=False)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if Path(path).name != "test"])

    with (
        pytest.raises(ConfigError, match="no Dask scheduler answers at 'bogus://nowhere'"),
        executor("bogus://nowhere"),
    ):
        pass
    monkeypatch.setattr(compiled, "is_installed", lambda package: False)
    with pytest.raises(ConfigError, match=r"a scheduler needs dask.distributed"), executor("tcp://127.0.0.1:1"):
        pass
