"""Runs pytest and writes which tests enter which functions of kopt, and how long each test takes.

``python test/mutants/contexts.py --contexts=FILE …``, with pytest's own arguments. Only calls are traced, so that tests
take little longer. Several runs add to one file.
"""

from __future__ import annotations

import json
import sys
import time
from collections import defaultdict
from pathlib import Path
from types import CodeType

import pytest

ROOT = Path(__file__).resolve().parents[2]
_PACKAGE = str(ROOT / "kopt") + "/"
_TESTS_BETWEEN_WRITES = 100


def pytest_addoption(parser: pytest.Parser) -> None:
    """Where the contexts are written."""
    parser.addoption("--contexts", help="the file that the functions of each test are added to")


def pytest_configure(config: pytest.Config) -> None:
    """Record where a file is named."""
    if path := config.getoption("--contexts"):
        config.pluginmanager.register(Recorder(Path(path)))


def key(code: CodeType) -> str:
    """What a function is known by in the file: its path and its qualified name."""
    return f"{Path(code.co_filename).relative_to(ROOT)}:{code.co_qualname}"


class Contexts:
    """Tests with their seconds, and for each function the numbers of the tests that enter it."""

    def __init__(self, path: Path) -> None:
        stored = json.loads(path.read_text()) if path.exists() else {"tests": {}, "functions": {}}
        self.path = path
        self.seconds: dict[str, float] = stored["tests"]
        self.functions: dict[str, list[int]] = defaultdict(list, stored["functions"])

    def add(self, test: str, seconds: float, codes: set[CodeType]) -> None:
        """One test's run."""
        if test in self.seconds:
            return
        for code in codes:
            self.functions[key(code)].append(len(self.seconds))
        self.seconds[test] = round(seconds, 4)

    def write(self) -> None:
        """The file, whole or not at all."""
        new = self.path.with_suffix(".new")
        new.write_text(json.dumps({"tests": self.seconds, "functions": self.functions}))
        new.replace(self.path)


class Recorder:
    """Traces the calls of each test."""

    def __init__(self, path: Path) -> None:
        self.contexts = Contexts(path)
        self.count = 0

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item):
        """Set up, run and tear down one test."""
        codes: set[CodeType] = set()

        def trace(frame, event, argument):
            codes.add(frame.f_code)

        start = time.perf_counter()
        sys.settrace(trace)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            seconds = time.perf_counter() - start
            self.contexts.add(item.nodeid, seconds, {c for c in codes if c.co_filename.startswith(_PACKAGE)})
            self.count += 1
            if self.count % _TESTS_BETWEEN_WRITES == 0:
                self.contexts.write()

    def pytest_sessionfinish(self) -> None:
        """All that ran."""
        self.contexts.write()


if __name__ == "__main__":
    sys.exit(pytest.main(sys.argv[1:], plugins=[sys.modules[__name__]]))
