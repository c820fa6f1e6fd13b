"""Which tests run with a mutant, and in which order: those that are likely to kill it in little time come first.

Paths are relative to the repository's root, where the tests run.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

#: Of a test of which nothing is known.
_NEW = 0.1
#: Of any function.
_LAST_LINE = 1 << 20
#: Tests that compare whole modules letter by letter, or all that is predicted: they see what no other test asks about.
_WHOLE_TEXTS = ("test/examples/test_emitted_text.py", "test/planning/test_predicted_figures.py")
#: They count as if they took so many times fewer steps.
_STRENGTH = 30


class Turn(NamedTuple):
    """What a test takes, and how many steps of kopt: the fewer, the more of what it asks is about one of them."""

    seconds: float = _NEW
    steps: int = 1


class Step(NamedTuple):
    """From one line to another of an outermost function of a file, counted from its first; None is outside of it."""

    file: str
    function: str
    start: int | None
    end: int | None


class Place(NamedTuple):
    """Lines of a function, such as those of a statement, counted from its first."""

    file: str
    function: str
    lines: range


def function_of(test: str) -> str:
    """A test's id without its case."""
    return test.partition("[")[0]


class Turns:
    """What is known of the tests that there are: how long each takes, and the numbers of those that take each step."""

    def __init__(
        self, seconds: Mapping[str, float], steps: Mapping[Step, Collection[int]], tests: Collection[str]
    ) -> None:
        taken = Counter(number for found in steps.values() for number in found)
        self.known = {name: Turn(each, taken[n]) for n, (name, each) in enumerate(seconds.items())}
        self.names = list(self.known)
        self.functions: dict[str, dict[str, list[Step]]] = defaultdict(lambda: defaultdict(list))
        for step in steps:
            self.functions[step.file][step.function].append(step)
        self.steps = steps
        self.cases: dict[str, list[str]] = defaultdict(list)
        for name in tests:
            self.cases[function_of(name)].append(name)
        recorded = {function_of(name) for name in self.known}
        #: Test functions that nothing is known of.
        self.newer = [each for each in self.cases if each not in recorded]

    def tests_of(self, place: Place) -> dict[str, Turn]:
        """The tests that run a statement, in turn; where there are none, those of its function, or of its file.

        And newer ones, of files that have the module's name or import it.
        """
        module, of_file = module_of(place.file), self.functions[place.file]
        ways = self._ways(place) or self._ways(place._replace(lines=range(_LAST_LINE)))
        ways = ways or {None: {n for steps in of_file.values() for step in steps for n in self.steps[step]}}
        rarity: dict[str, int] = {}
        for numbers in sorted(ways.values(), key=len):
            for number in numbers:
                rarity.setdefault(self.names[number], len(numbers))
        found = {name: self.known[name] for name in rarity}
        for name in list(found):  # cases that were not recorded do what those do that were
            for case in self.cases[function_of(name)]:
                if case not in self.known and case not in found:
                    found[case], rarity[case] = found[name], rarity[name]
        for each in self.newer:
            if is_named(each, module) or imports(each, place.file):
                found.update(dict.fromkeys(self.cases[each], Turn()))
        return {name: found[name] for name in in_turns(found, rarity, module)}

    def _ways(self, place: Place) -> dict[int | None, set[int]]:
        """The tests that run a place, by the line at which they leave it."""
        found: dict[int | None, set[int]] = defaultdict(set)
        for step in self.functions[place.file][place.function]:
            if step.start in place.lines or step.end in place.lines:
                found[None if step.end in place.lines else step.end].update(self.steps[step])
        return found


def in_turns(found: Mapping[str, Turn], rarity: Mapping[str, int], module: str) -> list[str]:
    """Tests in the order in which they run: first the files that are named after a module.

    Then by time, by how many steps they take, and by how many tests leave the place as they do. The second case of a
    test function counts twice, the third three times.
    """
    costs = {name: turn.seconds * turn.steps * rarity.get(name, 1) for name, turn in found.items()}
    costs |= {name: cost / _STRENGTH for name, cost in costs.items() if name.startswith(_WHOLE_TEXTS)}
    turns: Counter[str] = Counter()
    order: list[tuple[bool, float, str]] = []
    for name in sorted(found, key=lambda each: (costs[each], each)):
        turns[function_of(name)] += 1
        order.append((not is_named(name, module), costs[name] * turns[function_of(name)], name))
    return [name for *_, name in sorted(order)]


@cache
def imported(test_file: str) -> str:
    """The text of a test file, where it is Python."""
    path = Path(test_file)
    return path.read_text() if path.suffix == ".py" and path.exists() else ""


def imports(test: str, file: str) -> bool:
    """Whether a test's file imports the module of another."""
    module = dotted(file)
    text = imported(test.partition("::")[0])
    return f"from {module} import" in text or f"import {module}\n" in text


def dotted(file: str) -> str:
    """The name by which a file is imported."""
    path = Path(file).with_suffix("")
    return ".".join((path.parent if path.name == "__init__" else path).parts)


def module_of(file: str) -> str:
    """What a file is known by: a package by its folder."""
    path = Path(file)
    return path.parent.name if path.stem == "__init__" else path.stem.lstrip("_")


def is_named(test: str, module: str) -> bool:
    """Whether a test's file has the name of a module."""
    return Path(test.partition("::")[0]).stem.removeprefix("test_").replace("-", "_").startswith(module)
