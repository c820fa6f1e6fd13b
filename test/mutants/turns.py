"""Which tests run with a mutant, and in which order: those that are likely to kill it in little time come first.

Paths are relative to the repository's root, where the tests run.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

#: Of a test of which nothing is known.
_NEW = 0.1


class Turn(NamedTuple):
    """What a test takes, and how many functions of kopt it enters."""

    seconds: float = _NEW
    entered: int = 1


def function_of(test: str) -> str:
    """A test's id without its case."""
    return test.partition("[")[0]


class Turns:
    """What is known of the tests that there are: how long each takes, and the numbers of those that enter functions."""

    def __init__(
        self, seconds: Mapping[str, float], functions: Mapping[str, list[int]], tests: Collection[str]
    ) -> None:
        self.functions = functions
        entered = Counter(number for found in functions.values() for number in found)
        self.known = {name: Turn(each, entered[n]) for n, (name, each) in enumerate(seconds.items())}
        self.names = list(self.known)
        self.cases: dict[str, list[str]] = defaultdict(list)
        for name in tests:
            self.cases[function_of(name)].append(name)
        recorded = {function_of(name) for name in self.known}
        #: Test functions that nothing is known of.
        self.newer = [each for each in self.cases if each not in recorded]

    def tests_of(self, file: str, function: str) -> dict[str, Turn]:
        """The tests that enter a function, in turn; where there are none, those that enter its file.

        And newer ones, of files that have the module's name or import it.
        """
        prefix, module = f"{file}:{function}", module_of(file)
        inner = (prefix + ".<locals>", prefix + ".<")
        numbers = self._entering(name == prefix or name.startswith(inner) for name in self.functions)
        numbers = numbers or self._entering(name.startswith(f"{file}:") for name in self.functions)
        found = {self.names[number]: self.known[self.names[number]] for number in numbers}
        for name in list(found):  # cases that were not recorded do what those do that were
            for case in self.cases[function_of(name)]:
                if case not in self.known:
                    found.setdefault(case, found[name])
        for each in self.newer:
            if is_named(each, module) or imports(each, file):
                found.update(dict.fromkeys(self.cases[each], Turn()))
        return {name: found[name] for name in in_turns(found, module)}

    def _entering(self, wanted: Iterable[bool]) -> set[int]:
        pairs = zip(self.functions.values(), wanted, strict=True)
        return {number for found, is_wanted in pairs if is_wanted for number in found}


def in_turns(found: dict[str, Turn], module: str) -> list[str]:
    """Tests in the order in which they run: first the files that are named after a module.

    Then by time and by how many functions they enter: the fewer, the more of what a test asks is about one of them. The
    second case of a test function counts twice, the third three times.
    """
    turns: Counter[str] = Counter()
    order: list[tuple[bool, float, str]] = []
    for name, (seconds, entered) in sorted(found.items(), key=lambda each: (each[1].seconds * each[1].entered, each)):
        turns[function_of(name)] += 1
        order.append((not is_named(name, module), seconds * entered * turns[function_of(name)], name))
    return [name for *_, name in sorted(order)]


@cache
def imported(test_file: str) -> str:
    """The text of a test file, where it is Python."""
    path = Path(test_file)
    return path.read_text() if path.suffix == ".py" and path.exists() else ""


def imports(test: str, file: str) -> bool:
    """Whether a test's file imports the module of another."""
    path = Path(file).with_suffix("")
    module = ".".join((path.parent if path.name == "__init__" else path).parts)
    text = imported(test.partition("::")[0])
    return f"from {module} import" in text or f"import {module}\n" in text


def module_of(file: str) -> str:
    """What a file is known by: a package by its folder."""
    path = Path(file)
    return path.parent.name if path.stem == "__init__" else path.stem.lstrip("_")


def is_named(test: str, module: str) -> bool:
    """Whether a test's file has the name of a module."""
    return Path(test.partition("::")[0]).stem.removeprefix("test_").replace("-", "_").startswith(module)
