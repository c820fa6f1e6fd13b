"""What watches passes run: IR dumps, the clock, the name of the current pass."""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.printer import Printer

from kopt.errors import ConfigError
from kopt.pass_manager import Instrumentation
from kopt.passes import ALL_PASSES
from kopt.registry import did_you_mean
from kopt.tools.command_line import usage_error
from kopt.tools.ir_diff import DiffPrinter

#: What takes a dump: the pass, its module, and the text.
Show = Callable[[ModulePass, ModuleOp, str], None]


class PassNames(Instrumentation):
    """Remembers the pass that runs."""

    current: str | None = None

    def before(self, pass_: ModulePass, module: ModuleOp) -> None:
        self.current = pass_.name


class IRPrinter(Instrumentation):
    """Shows the module before and after the chosen passes."""

    def __init__(self, before: set[str], after: set[str], on_change: bool, on_failure: bool, show: Show):
        self.before_names = before
        self.after_names = after
        self.on_change = on_change
        self.on_failure = on_failure
        self.show = show
        self._previous = ""

    def before(self, pass_: ModulePass, module: ModuleOp) -> None:
        if pass_.name in self.before_names:
            self._show(f"Before {pass_.name}", pass_, module, str(module))
        if self.on_change:
            self._previous = str(module)

    def after(self, pass_: ModulePass, module: ModuleOp) -> None:
        changed = self.on_change and str(module) != self._previous
        if changed or pass_.name in self.after_names:
            self._show(f"After {pass_.name}", pass_, module, str(module))

    def failed(self, pass_: ModulePass, module: ModuleOp) -> None:
        if self.on_failure:
            self._show(f"After {pass_.name} Failed", pass_, module, _text_of_any(module))

    def _show(self, title: str, pass_: ModulePass, module: ModuleOp, text: str) -> None:
        self.show(pass_, module, f"// -----// IR Dump {title} //----- //\n{text}\n")


def _text_of_any(module: ModuleOp) -> str:
    """The text of a module that may be invalid: the generic syntax asks less of operations than their own."""
    try:
        return str(module)
    except Exception:
        stream = StringIO()
        Printer(stream, print_generic_format=True).print_op(module)
        return stream.getvalue()


def _to_stderr(pass_: ModulePass, module: ModuleOp, text: str) -> None:
    print(text, file=sys.stderr)


class DumpFiles:
    """A folder of dumps, as mlir-opt writes them: ``builtin_module_NAME/3_cse.mlir``, numbered as passes run.

    A module without a name is ``no-symbol-name``. The pieces of ``--split-input-file`` share their numbers.
    """

    def __init__(self, folder: str):
        self.folder = Path(folder)
        self._written: Counter[str] = Counter()

    def write(self, pass_: ModulePass, module: ModuleOp, text: str) -> None:
        """Add a file."""
        symbol = "no-symbol-name" if module.sym_name is None else re.sub(r"[^\w.-]", "_", module.sym_name.data)
        name = f"builtin_module_{symbol}"
        path = self.folder / name / f"{self._written[name]}_{pass_.name}.mlir"
        self._written[name] += 1
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise ConfigError(f"cannot write '{path}': {error.strerror}", id="file") from error


def ir_printers(args: argparse.Namespace, argv: Sequence[str]) -> list[Instrumentation]:
    """The printers that the options ask for, perhaps none."""
    before, after = _pass_names(args.print_ir_before, argv), _pass_names(args.print_ir_after, argv)
    when = (before, after, args.print_ir_before_all, args.print_ir_after_all, args.print_ir_after_change)
    if args.print_ir_before_all:
        before = {*ALL_PASSES}
    if args.print_ir_after_all or (args.print_ir_tree_dir is not None and not any(when)):
        after = {*ALL_PASSES}
    on_change, on_failure = args.print_ir_after_change, args.print_ir_after_failure
    printers: list[Instrumentation] = [DiffPrinter()] if args.print_ir_diff else []
    if before or after or on_change or on_failure:
        show = _to_stderr if args.print_ir_tree_dir is None else DumpFiles(args.print_ir_tree_dir).write
        printers.append(IRPrinter(before, after, on_change, on_failure, show))
    return printers


def validators(args: argparse.Namespace) -> list[Instrumentation]:
    """What runs the module before and after each pass, where an option or the environment asks for it."""
    from kopt.validation import Options, Validator

    given = args.verify_semantics
    options = Options.from_environment() if given is None else Options.parse(given)
    return [] if options is None else [Validator(options)]


class Steps(Instrumentation):
    """Tells each pass to a progress."""

    def __init__(self, step: Callable[[str], None]):
        self._step = step

    def before(self, pass_: ModulePass, module: ModuleOp) -> None:
        self._step(pass_.name)


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
