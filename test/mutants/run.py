"""Mutants of the compiler: ``make mutants``.

``python test/mutants/run.py [--number N] [--seed S] [--file PART] [--by-hand] [--again LOG]`` changes one place of one
function at a time and runs the tests of the quick suite that run that statement until one fails: first those of files
that are named after its module, then those that take least and ask least of other code (`turns.py`).

All is imported once. Each mutant is a fork of this process in which the function has other code, so that it costs what
its tests cost. Which tests run which lines `contexts.py` has written down before. A run that was stopped goes on
where its log ends.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import os
import random
import resource
import select
import signal
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import pytest
from by_hand import BY_HAND
from contexts import Contexts
from logs import Log, Outcome, again
from operators import Mutant, mutants, statement
from proved import proof
from swapping import Functions
from turns import Place, Turns, dotted

# Libraries that started threads before a fork wait for them after it, for ever.
os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))
os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"  # gRPC, which JAX and libtpu bring, waits for its threads at forks
ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("analysis", "building", "dialects", "frontend", "interpreter", "ir", "lowering", "passes", "planning")
KILLED, SURVIVED, TIMED_OUT, PROVED = "killed", "survived", "timed out", "proved equivalent"
#: Of functions that decorators have consumed, or that have other free variables with the mutant.
UNREACHED = "not run"
#: Its functions go into emitted code as the text that stands in the file.
_TEXTS = "kopt/lowering/emitted/"
_MEMORY = 6 << 30
#: Tests that start JAX when they are collected, after which forks hang.
_STARTING_JAX = (
    "jax_transforms",
    "runtime/test_admission.py",
    "runtime/test_guards.py",
    "runtime/test_jax_meshes.py",
    "runtime/test_tracing.py",
)


def sampled(number: int, seed: int, part: str) -> list[Mutant]:
    """Mutants of the compiler, the same for one seed."""
    files = sorted(path for folder in FOLDERS for path in (ROOT / "kopt" / folder).rglob("*.py"))
    names = [name for path in files if not (name := str(path.relative_to(ROOT))).startswith(_TEXTS)]
    found = [m for name in names if part in name for m in mutants(name, (ROOT / name).read_text())]
    return random.Random(seed).sample(found, min(number, len(found)))


@dataclass
class Laboratory:
    """Runs tests with mutants; registered with pytest, it takes the place of the loop over all tests."""

    samples: list[Mutant]
    contexts: Contexts
    seconds: float
    log: Log
    jobs: int = 1
    items: dict[str, pytest.Item] = field(default_factory=dict)
    unfit: dict[str, bool] = field(default_factory=dict)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """All samples, one after another."""
        bridge = sys.modules.get("jax._src.xla_bridge")
        if bridge is not None and bridge._backends:
            raise pytest.UsageError("a test file starts JAX when it is collected: forks of this process would hang")
        self.items = {item.nodeid: item for item in session.items}
        self.turns = Turns(self.contexts.seconds, self.contexts.steps, self.items)
        self.texts = {mutant.file: (ROOT / mutant.file).read_text() for mutant in self.samples}
        for path in sorted(path for folder in FOLDERS for path in (ROOT / "kopt" / folder).rglob("*.py")):
            importlib.import_module(dotted(str(path.relative_to(ROOT))))
        gc.unfreeze()  # what is frozen cannot be listed
        self.functions = Functions(str(ROOT / "kopt"))
        gc.freeze()
        done = {mutant for mutant, _ in self.log.read()}
        left = [mutant for mutant in self.samples if mutant not in done]
        workers = [self.worker(left[number :: self.jobs]) for number in range(self.jobs)]
        for worker in workers:
            os.waitpid(worker, 0)
        return True

    def worker(self, mutants: list[Mutant]) -> int:
        """A process for some of the samples."""
        if process := os.fork():
            return process
        for mutant in mutants:
            outcome = self.outcome(mutant)
            self.log.add(mutant, outcome)
            say(f"{outcome.word}: {described(mutant)}\n    {outcome.test or f'{outcome.tests} tests'}")
        os._exit(0)

    def outcome(self, mutant: Mutant) -> Outcome:
        """A test that fails with the mutant, and only with it, has killed it."""
        if proof(mutant, self.texts[mutant.file]):
            return Outcome(PROVED)
        tests = left = self.tests_of(mutant)
        while left:
            word, at = self.run(mutant, left)
            if word in (SURVIVED, UNREACHED):
                return Outcome(word, tests=len(tests))
            failed = left[min(at, len(left) - 1)]
            if failed not in self.unfit:
                self.unfit[failed] = self.run(None, [failed])[0] != SURVIVED
            if not self.unfit[failed]:
                return Outcome(word, failed, len(tests))
            left = left[at + 1 :]  # a test that fails in any fork says nothing
        return Outcome(SURVIVED, tests=len(tests))

    def tests_of(self, mutant: Mutant) -> list[str]:
        """The tests that run the mutant's statement, within the time that there is."""
        lines = statement(self.texts[mutant.file], mutant.at)
        left, chosen, place = self.seconds, [], Place(mutant.file, mutant.function, lines)
        for name, turn in self.turns.tests_of(place).items():
            if name in self.items and not self.unfit.get(name) and (turn.seconds <= left or not chosen):
                left -= turn.seconds
                chosen.append(name)
        return chosen

    def run(self, mutant: Mutant | None, tests: list[str]) -> tuple[str, int]:
        """What happens to tests in a process of their own, and to which of them."""
        expected = [self.contexts.seconds.get(name, 1) for name in tests]
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.setsid()
            os.close(reader)
            self._child(mutant, tests, writer, int(10 + 3 * sum(expected)))
        os.close(writer)
        word, at = _listen(reader, [20 + 5 * seconds for seconds in expected])
        os.close(reader)
        _end(child)
        return word, at

    def _child(self, mutant: Mutant | None, tests: list[str], writer: int, seconds: int) -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
        resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)
        try:
            if mutant is not None:
                text = self.texts[mutant.file]
                if not self.functions.swap(str(ROOT / mutant.file), text, mutant.applied(text)):
                    os.write(writer, b"N")
                    os._exit(1)
            failures = Failures(writer)
            items = [self.items[name] for name in tests]
            items[0].config.pluginmanager.register(failures) if items else None
            for item, following in zip(items, [*items[1:], None], strict=True):
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                if failures.failed:
                    os.write(writer, b"F")
                    os._exit(1)
                os.write(writer, b".")
            os.write(writer, b"S")
            os._exit(0)
        except BaseException:  # a mutant may do anything
            os.write(writer, b"F")
            os._exit(1)


class Failures:
    """Whether a test has failed."""

    def __init__(self, writer: int) -> None:
        self.failed = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Of set-up, call and teardown."""
        self.failed |= report.failed


def _listen(reader: int, limits: Sequence[float]) -> tuple[str, int]:
    """What a child says, and at which of its tests: each has some seconds, so that one that hangs does not cost all."""
    passed = 0
    while select.select([reader], [], [], limits[min(passed, len(limits) - 1)] if limits else 20)[0]:
        said = os.read(reader, 4096)
        passed += said.count(b".")
        if b"S" in said:
            return SURVIVED, passed
        if b"F" in said:
            return KILLED, passed
        if b"N" in said:
            return UNREACHED, passed
        if not said:  # it died: of a limit, or of the mutant
            return TIMED_OUT, passed
    return TIMED_OUT, passed


def _end(child: int) -> None:
    """A child and all that it has started."""
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:
        pass
    os.waitpid(child, 0)


def described(mutant: Mutant) -> str:
    """One line."""
    old, new = (" ".join(each.split())[:100] for each in (mutant.old, mutant.new))
    return f"{mutant.file}:{mutant.line} {mutant.function}: {old}  ->  {new}"


def say(text: str) -> None:
    """At once, whatever pytest captures."""
    print(text, file=sys.__stdout__, flush=True)


def main() -> None:
    """Sample, run, count."""
    parser = argparse.ArgumentParser(description="mutants of the compiler")
    parser.add_argument("--number", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--file", default="", help="only files with this in their path")
    parser.add_argument("--by-hand", action="store_true", help="the mutants of by_hand.py")
    parser.add_argument("--seconds", type=float, default=120, help="what a mutant's tests may take, by the record")
    parser.add_argument("--contexts", type=Path, default=ROOT / "build" / "contexts")
    parser.add_argument("--log", type=Path, default=ROOT / "build" / "mutants.jsonl", help="what a run adds to")
    parser.add_argument("--again", type=Path, help="the mutants that survived by this log")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("tests", nargs="*", default=["test"])
    options = parser.parse_args()
    samples = (
        list(BY_HAND())
        if options.by_hand
        else again(options.again, ROOT)
        if options.again
        else sampled(options.number, options.seed, options.file)
    )
    options.log.parent.mkdir(exist_ok=True)
    log = Log(options.log)
    laboratory = Laboratory(samples, Contexts(options.contexts), options.seconds, log, options.jobs)
    left_out = [f"--ignore={ROOT / 'test' / name}" for name in _STARTING_JAX]
    arguments = ["-q", "-m", "not slow", "-p", "no:cacheprovider", "-p", "no:xdist", "--capture=no", *left_out]
    pytest.main([*arguments, *options.tests], plugins=[laboratory])
    outcomes = [(mutant, outcome) for mutant, outcome in log.read() if mutant in set(samples)]
    counts = Counter(outcome.word for _, outcome in outcomes)
    for mutant, outcome in outcomes:
        if outcome.word == SURVIVED:
            say(f"survived {outcome.tests} tests: {described(mutant)}")
    say(", ".join(f"{counts[word]} {word}" for word in (KILLED, TIMED_OUT, SURVIVED, PROVED, UNREACHED)))


if __name__ == "__main__":
    main()
