"""What watches passes run: IR dumps, the clock, the name of the current pass."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from kopt.pass_manager import Instrumentation
from kopt.passes import ALL_PASSES
from kopt.registry import did_you_mean
from kopt.tools.command_line import usage_error


class PassNames(Instrumentation):
    """Remembers the pass that runs."""

    current: str | None = None

    def before(self, pass_: ModulePass, module: ModuleOp) -> None:
        self.current = pass_.name


class IRPrinter(Instrumentation):
    """Prints the module on stderr before and after the chosen passes."""

    def __init__(self, before: set[str], after: set[str], on_change: bool):
        self.before_names = before
        self.after_names = after
        self.on_change = on_change
        self._previous = ""

    def before(self, pass_: ModulePass, module: ModuleOp) -> None:
        if pass_.name in self.before_names:
            _dump("Before", pass_, str(module))
        if self.on_change:
            self._previous = str(module)

    def after(self, pass_: ModulePass, module: ModuleOp) -> None:
        changed = self.on_change and str(module) != self._previous
        if changed or pass_.name in self.after_names:
            _dump("After", pass_, str(module))


def _dump(when: str, pass_: ModulePass, text: str) -> None:
    print(f"// -----// IR Dump {when} {pass_.name} //----- //\n{text}\n", file=sys.stderr)


def ir_printers(args: argparse.Namespace, argv: Sequence[str]) -> list[Instrumentation]:
    """The printers that the options ask for, perhaps none."""
    everything = set(ALL_PASSES) if args.print_ir_before_all or args.print_ir_after_all else set()
    before = everything if args.print_ir_before_all else _pass_names(args.print_ir_before, argv)
    after = everything if args.print_ir_after_all else _pass_names(args.print_ir_after, argv)
    if not (before or after or args.print_ir_after_change):
        return []
    return [IRPrinter(before, after, args.print_ir_after_change)]


def _pass_names(values: Sequence[str], argv: Sequence[str]) -> set[str]:
    names = {name for value in values for name in value.split(",")}
    for name in sorted(names):
        if name not in ALL_PASSES:
            raise usage_error(argv, name, f"unknown pass '{name}'{did_you_mean(name, ALL_PASSES)}")
    return names


class Timer(Instrumentation):
    """Adds up the wall time of each step and pass, in order of first appearance."""

    def __init__(self):
        self._seconds: dict[str, float] = {}
        self._started = 0.0

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Time the ``with`` block under ``name``."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self._add(name, time.perf_counter() - start)

    def before(self, pass_: ModulePass, module: ModuleOp) -> None:
        self._started = time.perf_counter()

    def after(self, pass_: ModulePass, module: ModuleOp) -> None:
        self._add(f"pass {pass_.name}", time.perf_counter() - self._started)

    def _add(self, name: str, seconds: float) -> None:
        self._seconds[name] = self._seconds.get(name, 0.0) + seconds

    def report(self) -> str:
        """A table: milliseconds, share and name of each step, and the total."""
        total = sum(self._seconds.values()) or 1e-9
        rows = [*self._seconds.items(), ("total", total)]
        lines = [f"{1e3 * s:10.3f} ms {100 * s / total:6.1f}%  {name}" for name, s in rows]
        return "\n".join(["===- time spent -===", *lines])
