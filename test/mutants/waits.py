"""Waits, barriers and signals of emitted TPU kernels left out one at a time: ``make races``.

``python test/mutants/waits.py [--chip v6e] [--size tiny] [NAME …]`` runs each example's emitted module on
``pallas:strict`` without one of the statements that order its copies. A race, a copy that is left behind, a hang or a
wrong result detects it. Of collectives the ops of the IR are left out, where ``verify-barriers`` looks:
``test/collectives/test_verification.py``.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch

import kopt
from examples.check import mismatches
from examples.registry import BY_NAME, EXAMPLES, Example

_WAITS = ("wait", "wait_send", "wait_recv", "semaphore_wait", "semaphore_signal", "barrier")
SECONDS = 60


@dataclass
class Case:
    """An example's emitted module with arguments, and what it gives."""

    example: Example
    chip: str
    loop_type: str
    size: str

    def __post_init__(self) -> None:
        self.args = self.example.make_args(self.size, torch.float32)
        self.wanted = self.example.reference(*self.args)
        config = {**(self.example.sizes[self.size].config or {}), "loop_type": self.loop_type}
        self.kernel = kopt.kernel(self.example.kernel, config=config)

    def lowered(self):
        """The kernel for the strict interpreter."""
        return self.kernel.lower(*self.args, target=f"pallas:strict@{self.chip}")

    def outcome(self, source: str) -> str:
        """What detects a change of the text; empty where nothing does."""
        lowered = self.lowered()
        executable = lowered.executable
        executable.source, executable._time_limit = source, SECONDS
        try:
            got = lowered.compile()(*self.args)
        except kopt.KoptError as error:
            return ": ".join([str(error).partition("\n")[0], *error.notes[:1]])
        return "; ".join(mismatches(self.example, self.size, got, self.wanted))


def without_one(source: str) -> Iterator[tuple[int, str]]:
    """The text without each statement that waits or signals, by the statement's line."""
    lines = source.split("\n")
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
            continue
        function = node.value.func
        if isinstance(function, ast.Attribute) and function.attr in _WAITS:
            assert node.end_lineno is not None
            blank = [" " * node.col_offset + "pass", *[""] * (node.end_lineno - node.lineno)]
            yield node.lineno, "\n".join([*lines[: node.lineno - 1], *blank, *lines[node.end_lineno :]])


def _without_each(case: Case, source: str) -> Iterator[str]:
    changed = list(without_one(source))
    if changed and (problem := case.outcome(source)):
        print(f"{case.example.name}: wrong as it is: {problem}", flush=True)
        return
    for line, text in changed:
        found = case.outcome(text)
        print(f"{case.example.name} {case.loop_type}:{line}: {found or 'NOT DETECTED'}", flush=True)
        yield "detected" if found else "not detected"


def main() -> None:
    """All, and how many were detected by what."""
    parser = argparse.ArgumentParser(description="waits left out one at a time")
    parser.add_argument("--chip", default="v6e")
    parser.add_argument("--size", default="tiny")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    for example in [BY_NAME[name] for name in options.names] or EXAMPLES:
        seen: set[str] = set()
        for loop_type in ("auto", "fori"):
            try:
                case = Case(example, options.chip, loop_type, options.size)
                source = case.lowered().source
            except kopt.KoptError as error:
                print(f"{example.name} {loop_type}: {str(error).partition(chr(10))[0]}", flush=True)
                continue
            if source not in seen:
                seen.add(source)
                counts.update(_without_each(case, source))
    print(f"{counts.total()} left out, {counts['detected']} detected, {counts['not detected']} not")


if __name__ == "__main__":
    main()
