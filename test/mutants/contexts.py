"""Runs pytest and writes which tests enter which functions of kopt, and how long each test takes.

``python test/mutants/contexts.py --contexts=FILE …``, with pytest's own arguments. Only calls are traced, and not for
long where all are known, so that tests take little longer. What is written is the time of this process, whatever else
the machine does. A test function's cases are skipped after one that entered nothing new: they do what the others do.
Several runs add to one file.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from types import CodeType

import pytest
from turns import function_of

ROOT = Path(__file__).resolve().parents[2]
_PACKAGE = str(ROOT / "kopt") + "/"
_TESTS_BETWEEN_WRITES = 100
#: So many cases in a row that enter nothing new, and the rest of their test function is skipped.
_ENOUGH = 12
#: So many calls in a row of known functions, and the rest of the test runs at full speed.
_CALLS = 1_000_000


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

    def add(self, test: str, seconds: float, keys: Iterable[str]) -> None:
        """One test's run."""
        for each in keys:
            self.functions[each].append(len(self.seconds))
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
        self.entered: dict[str, set[str]] = defaultdict(set)
        self.nothing_new: Counter[str] = Counter()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item):
        """Set up, run and tear down one test, unless it is known, or seems to be."""
        if item.nodeid in self.contexts.seconds or self.nothing_new[function_of(item.nodeid)] >= _ENOUGH:
            item.add_marker(pytest.mark.skip(reason="its functions are known"))
            return (yield)
        codes: dict[int, CodeType] = {}
        left = _CALLS

        def trace(frame, event, argument):
            nonlocal left
            code = frame.f_code
            if id(code) not in codes:
                codes[id(code)], left = code, _CALLS
            else:
                left -= 1
                if not left:
                    sys.settrace(None)

        start = time.process_time()
        sys.settrace(trace)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            self.add(item.nodeid, time.process_time() - start, codes.values())

    def add(self, test: str, seconds: float, codes: Iterable[CodeType]) -> None:
        """What one test entered."""
        keys = {key(code) for code in codes if code.co_filename.startswith(_PACKAGE)}
        entered, function = self.entered[function_of(test)], function_of(test)
        self.nothing_new[function] = 0 if keys - entered else self.nothing_new[function] + 1
        entered |= keys
        self.contexts.add(test, seconds, keys)
        self.count += 1
        if self.count % _TESTS_BETWEEN_WRITES == 0:
            self.contexts.write()

    def pytest_sessionfinish(self) -> None:
        """All that ran."""
        self.contexts.write()


if __name__ == "__main__":
    sys.exit(pytest.main(sys.argv[1:], plugins=[sys.modules[__name__]]))
