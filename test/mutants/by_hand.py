"""Mutants by hand: those that survived when a stranger tried thirty."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from operators import Mutant

ROOT = Path(__file__).resolve().parents[2]


class ByHand(NamedTuple):
    """A text that a file has once, in a function, and what it becomes."""

    file: str
    function: str
    old: str
    new: str


_MUTANTS = (
    ByHand("kopt/analysis/coverage.py", "stays_inside", "+ offset >= extent", "+ offset >= extent - 1"),
    ByHand("kopt/passes/gpu/pad_to_power_of_two.py", "_strided", "step, start = build.full(entry.step.data, lanes), build.full(entry.start.data, lanes)", "start, step = build.full(entry.step.data, lanes), build.full(entry.start.data, lanes)"),
    ByHand("kopt/passes/binding/semantics.py", "semantics", 'if free and "arbitrary" not in words', 'if free'),
    ByHand("kopt/passes/binding/semantics.py", "semantics", 'number not in ordered and all(o.window.moves_with(number) for o in outputs)', 'number not in ordered'),
    ByHand("kopt/passes/binding/semantics.py", "semantics", 'free = number not in ordered and', 'free ='),
)


def BY_HAND() -> Iterator[Mutant]:
    """As mutants of today's files."""
    for file, function, old, new in _MUTANTS:
        text = (ROOT / file).read_text()
        assert text.count(old) == 1, (file, old)
        at = text.index(old)
        yield Mutant(file, function, text.count("\n", 0, at) + 1, at, old, new)
