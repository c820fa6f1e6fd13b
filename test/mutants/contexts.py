"""Runs pytest and writes which tests take which steps from line to line of kopt, and how long each test takes.

``python test/mutants/contexts.py --contexts=FOLDER …``, with pytest's own arguments. coverage.py traces the steps. What
is written is the time of this process, whatever else the machine does; two thirds of it are the tracing. Of a test
function's cases ``--cases=8`` run, from the first to the last: the others do much the same. Several runs add to one
folder, at once, too.
"""

from __future__ import annotations

import ast
import json
import os
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from coverage import Coverage
from turns import Step, function_of

ROOT = Path(__file__).resolve().parents[2]
_TESTS_BETWEEN_WRITES = 200


def pytest_addoption(parser: pytest.Parser) -> None:
    """Where the contexts are written."""
    parser.addoption("--contexts", help="the folder that the steps of each test are added to")
    parser.addoption("--cases", type=int, default=8, help="how many cases of each test function run")


def pytest_configure(config: pytest.Config) -> None:
    """Record where a folder is named."""
    if path := config.getoption("--contexts"):
        config.pluginmanager.register(Recorder(Path(path), config.getoption("--cases")))


@cache
def functions_of(path: str) -> dict[int, tuple[str, int]]:
    """For each line of a file its outermost function's name and the line where that begins."""
    found: dict[int, tuple[str, int]] = {}

    def visit(node: ast.AST, names: tuple[str, ...]) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef):
                lines = range(child.lineno, (child.end_lineno or child.lineno) + 1)
                found.update(dict.fromkeys(lines, (".".join((*names, child.name)), child.lineno)))
            elif isinstance(child, ast.ClassDef):
                visit(child, (*names, child.name))

    visit(ast.parse(Path(path).read_text()), ())
    return found


def steps_of(path: str, arcs: Iterable[tuple[int, int]]) -> Iterator[Step]:
    """Steps in functions, of a file's arcs as coverage.py names them: negative lines are where code begins."""
    functions, file = functions_of(path), str(Path(path).relative_to(ROOT))
    for arc in arcs:
        known = [functions[line] for line in arc if line > 0 and line in functions]
        if known:
            name, first = known[0]
            start, end = (line - first if functions.get(line) == known[0] else None for line in arc)
            yield Step(file, name, start, end)


class Contexts:
    """Tests with their seconds, and for each step the numbers of the tests that take it."""

    def __init__(self, folder: Path) -> None:
        self.seconds: dict[str, float] = {}
        found: dict[Step, list[np.ndarray]] = defaultdict(list)
        for path in sorted(folder.glob("*.npz")):
            with np.load(path) as stored:
                about = json.loads(stored["about"].item())
                numbers, ends = stored["numbers"], np.cumsum(stored["lengths"])
            order = np.argsort(numbers, kind="stable")
            self.seconds |= dict(zip(about["tests"], about["seconds"], strict=True))
            places = {name: number for number, name in enumerate(self.seconds)}  # another run may have had some, too
            own = np.array([places[name] for name in about["tests"]], np.int64)
            tests = np.repeat(own, np.diff(ends, prepend=0))[order]
            bounds = np.searchsorted(numbers[order], np.arange(len(about["steps"]) + 1))
            for step, start, end in zip(about["steps"], bounds, bounds[1:], strict=False):
                found[Step(*step)].append(tests[start:end])
        self.steps = {step: np.unique(np.concatenate(each)) for step, each in found.items()}


def spread(items: Sequence[pytest.Item], number: int) -> Iterator[pytest.Item]:
    """So many of some items, from the first to the last."""
    number = min(number, len(items))
    return (items[each * len(items) // number] for each in range(number))


class Recorder:
    """Traces the steps of each test."""

    def __init__(self, folder: Path, most: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.most = most
        self.path = folder / f"{os.getpid()}-{int(time.time())}.npz"
        self.before = set(Contexts(folder).seconds)
        self.seconds: dict[str, float] = {}
        self.numbers: dict[Step, int] = {}
        self.taken: list[np.ndarray] = []
        self.coverage = Coverage(data_file=None, branch=True, source=[str(ROOT / "kopt")], config_file=False)
        self.coverage.set_option("run:disable_warnings", ["no-data-collected"])

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Some cases of each test function, without those that are known."""
        cases: dict[str, list[pytest.Item]] = defaultdict(list)
        for item in items:
            cases[function_of(item.nodeid)].append(item)
        chosen = [each for found in cases.values() for each in spread(found, self.most)]
        items[:] = [item for item in chosen if item.nodeid not in self.before]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item):
        """Set up, run and tear down one test."""
        start = time.process_time()
        self.coverage.start()
        try:
            return (yield)
        finally:
            self.coverage.stop()
            seconds = time.process_time() - start
            data = self.coverage.get_data()
            arcs = {path: data.arcs(path) or () for path in data.measured_files()}
            self.coverage.erase()
            self.add(item.nodeid, seconds, [step for path, each in arcs.items() for step in steps_of(path, each)])

    def add(self, test: str, seconds: float, steps: Sequence[Step]) -> None:
        """One test's run."""
        numbers = {self.numbers.setdefault(step, len(self.numbers)) for step in steps}
        self.seconds[test] = round(seconds, 4)
        self.taken.append(np.array(sorted(numbers), np.uint32))
        if len(self.seconds) % _TESTS_BETWEEN_WRITES == 0:
            self.write()

    def write(self) -> None:
        """The file, whole or not at all."""
        about = {"tests": [*self.seconds], "seconds": [*self.seconds.values()], "steps": [*self.numbers]}
        new = self.path.with_suffix(".new")
        with new.open("wb") as file:
            lengths = np.array([len(each) for each in self.taken], np.int64)
            numbers = np.concatenate([np.zeros(0, np.uint32), *self.taken])
            np.savez_compressed(file, about=json.dumps(about), numbers=numbers, lengths=lengths)
        new.replace(self.path)

    def pytest_sessionfinish(self) -> None:
        """All that ran."""
        self.write()


if __name__ == "__main__":
    sys.exit(pytest.main(sys.argv[1:], plugins=[sys.modules[__name__]]))
