"""A campaign: processes that fuzz, each with a seed of its own, one after another, under limits.

A process writes the case that it is at to ``FOLDER/SEED.case``, and its `Record` to ``FOLDER/SEED.json``. So what ends
it, a signal or a hang, is a failure of that case, and what it counted before is kept.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from test.fuzzing.record import Record

_TICKS = os.sysconf("SC_CLK_TCK")
_POLL_SECONDS = 0.5
#: How many times longer than its limit of computing a case may take by the clock.
_WAITING = 20


@dataclass
class Limits:
    """What one case, and one process, may take."""

    seconds: float
    cases: int


def arguments(description: str, cases: int) -> ArgumentParser:
    """The options that campaigns share."""
    parser = ArgumentParser(description=description)
    parser.add_argument("--seed", type=int, default=None, help="of the first process; the next ones count on from it")
    parser.add_argument("--cases", type=int, default=0, help="after how many cases to stop; 0: none")
    parser.add_argument("--minutes", type=float, default=0, help="after how many minutes to stop; 0: none")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--out", type=Path, default=Path(".fuzz"), help="the folder of records and failing cases")
    parser.add_argument("--each", type=int, default=cases, help="cases of one process")
    parser.add_argument("--worker", action="store_true", help="be such a process, for --seed")
    return parser


class Worker:
    """One process, and how long it has been at its case."""

    def __init__(self, script: Path, seed: int, options: Namespace, extra: list[str]):
        self.seed, self.out = seed, options.out
        command = [sys.executable, str(script), "--worker", "--seed", str(seed), "--each", str(options.each)]
        log = (self.out / f"{seed}.log").open("w")
        self.process = subprocess.Popen([*command, "--out", str(self.out), *extra], stdout=log, stderr=log)
        self.changed, self.clock, self.cpu = 0.0, time.monotonic(), 0.0

    @property
    def record(self) -> Record:
        """What it has counted so far."""
        return Record.load(self.out / f"{self.seed}.json")

    def hangs(self, seconds: float) -> bool:
        """Whether it computes at one case, or waits, for too long."""
        case = self.out / f"{self.seed}.case"
        changed = case.stat().st_mtime if case.exists() else 0.0
        if changed != self.changed:
            self.changed, self.clock, self.cpu = changed, time.monotonic(), self._computed()
        return self._computed() - self.cpu > seconds or time.monotonic() - self.clock > _WAITING * seconds

    def _computed(self) -> float:
        try:
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return self.cpu
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def ended(self, seconds: float) -> bool:
        """Whether it is over; kills it at a case that takes too long."""
        status = self.process.poll()
        if status is None and self.hangs(seconds):
            self.process.kill()
            self.process.wait()
            self._fail(f"hang: more than {seconds:g} s")
            return True
        if status:
            self._fail(f"the process ended with status {status}")
        return status is not None

    def _fail(self, what: str) -> None:
        case, record = self.out / f"{self.seed}.case", self.record
        record.fail(what, case.read_text() if case.exists() else (self.out / f"{self.seed}.log").read_text())
        record.save(self.out / f"{self.seed}.json")


def run(script: Path, options: Namespace, extra: list[str], limits: Limits, shown: Callable[[Record], str]) -> Record:
    """Runs processes until a limit, or an interrupt; prints what they count, and each new kind of failure."""
    options.out.mkdir(parents=True, exist_ok=True)
    seed = random.SystemRandom().randrange(10**6) if options.seed is None else options.seed
    print(f"seed {seed}; records and failing cases: {options.out}", flush=True)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    total, workers, begun, said, idle = Record(), [], time.monotonic(), 0.0, 0
    try:
        while True:
            workers += [Worker(script, seed + n, options, extra) for n in range(options.jobs - len(workers))]
            seed = max(worker.seed for worker in workers) + 1
            time.sleep(_POLL_SECONDS)
            for worker in [worker for worker in workers if worker.ended(limits.seconds)]:
                workers.remove(worker)
                total.add(worker.record)
                idle = 0 if worker.record.counts["cases"] else idle + 1
                (options.out / f"{worker.seed}.json").unlink(missing_ok=True)
            now, minutes = _with(total, workers), (time.monotonic() - begun) / 60
            if minutes - said > 1:
                said = minutes
                _show(now, minutes, options, shown)
            if idle > 2:
                print((options.out / f"{seed - 1}.log").read_text(), flush=True)  # nothing works
                break
            if options.cases and now.counts["cases"] >= options.cases or options.minutes and minutes >= options.minutes:
                break
    except KeyboardInterrupt:
        pass
    now = _with(total, workers)
    for worker in workers:
        worker.process.kill()
        worker.process.wait()
    _show(now, (time.monotonic() - begun) / 60, options, shown)
    return now


def _with(total: Record, workers: list[Worker]) -> Record:
    now = Record(total.counts.copy(), dict(total.failures))
    for worker in workers:
        now.add(worker.record)
    return now


def _show(record: Record, minutes: float, options: Namespace, shown: Callable[[Record], str]) -> None:
    record.save(options.out / "record.json")
    for number, (what, text) in enumerate(sorted(record.failures.items())):
        (options.out / f"failure{number}.txt").write_text(f"{what}\n\n{text}\n")
    print(f"== {minutes:.1f} min\n{shown(record)}", flush=True)
