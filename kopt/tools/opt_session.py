"""One run of the opt tool over the pieces of its input."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from io import StringIO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.printer import Printer

from kopt import pass_manager
from kopt.context import make_context
from kopt.diagnostics import Diagnostic, collect
from kopt.errors import KoptError, LoweringError, MeaningError, VerifyError
from kopt.parsing import SEPARATOR, parse_module, pieces, verify
from kopt.tools import CRASH_EXIT_CODE
from kopt.tools.crash import keep_reproducer, write_reproducer
from kopt.tools.expectations import check_expectations
from kopt.tools.instruments import PassNames, Steps, Timer, ir_printers, validators
from kopt.tools.progress import progress


class Session:
    """The state of one run: the passes, the outputs so far, the clock, the worst thing that happened."""

    def __init__(self, args: argparse.Namespace, argv: Sequence[str], name: str):
        self.args = args
        self.argv = argv
        self.name = name
        self.timer = Timer()
        self.passes = pass_manager.parse_pipeline(args.pipeline)
        if args.dump_pass_pipeline:
            text = pass_manager.pipeline_text(self.passes)
            print(f"Pass Manager with {len(self.passes)} passes:\n{text}", file=sys.stderr)
        self.names = PassNames()
        self.instruments = [self.names, *ir_printers(args, argv), self.timer]
        self.outputs: list[str] = []
        self.exit_code = 0

    def process(self, text: str) -> bool:
        """Treat every piece of the input; True where all is well. Errors are printed, not raised."""
        for piece in pieces(text) if self.args.split_input_file else [text]:
            with collect() as diagnostics:
                error = self._attempt(piece)
            self._report(piece, diagnostics, error)
        if self.args.timing:
            print(self.timer.report(), file=sys.stderr)
        return self.exit_code == 0

    def output(self) -> str:
        """The text of all pieces that succeeded."""
        return f"{SEPARATOR}\n".join(self.outputs)

    def _attempt(self, piece: str) -> KoptError | None:
        """Treat one piece; a crash leaves a reproducer and is re-described as an error."""
        try:
            self.outputs.append(self._transform(piece))
        except MeaningError as error:
            self.exit_code = CRASH_EXIT_CODE
            return self._with_source(keep_reproducer(self.args, error), piece)
        except KoptError as error:
            return self._with_source(error, piece)
        except RecursionError:
            return LoweringError("regions are nested too deeply", _top(self.name), source=piece)
        except Exception as crash:
            self.exit_code = CRASH_EXIT_CODE
            return write_reproducer(self.args, self.name, piece, self.names.current, crash)
        return None

    def _with_source(self, error: KoptError, piece: str) -> KoptError:
        if error.location is None:
            error.location = _top(self.name)
        if error.source is None and error.location.file == self.name:
            error.source = piece
        return error

    def _transform(self, piece: str) -> str:
        """Parse, verify, rewrite, verify and print one piece."""
        self.names.current = None
        ctx = make_context(allow_unregistered=self.args.allow_unregistered_dialect)
        with self.timer.step("parse"):
            module = parse_module(piece, self.name, ctx)
        with self.timer.step("verify the input"):
            verify(module)
        self._run(module, ctx)
        self.names.current = None
        if self.passes and not self.args.verify_each:
            self._verify_result(module)
        if self.args.verify_roundtrip:
            _check_roundtrip(module, self)
        with self.timer.step("print"):
            return self._print(module)

    def _run(self, module: ModuleOp, ctx: Context) -> None:
        """Run the passes. Where the module runs before and after each, somebody waits: that shows its progress."""
        hooks, checks = [*self.instruments], validators(self.args)
        with ExitStack() as stack:
            if checks:
                hooks += [*checks, Steps(stack.enter_context(progress("passes", len(self.passes))))]
            pass_manager.run(module, ctx, self.passes, verify_each=self.args.verify_each, instrumentation=hooks)

    def _verify_result(self, module: ModuleOp) -> None:
        with self.timer.step("verify the result"):
            try:
                verify(module)
            except VerifyError as error:
                error.notes += ("the passes left invalid IR behind; --verify-each names the pass",)
                raise

    def _print(self, module: ModuleOp) -> str:
        if self.args.view_op_graph:
            from kopt.tools.op_graph import op_graph

            return op_graph(module)
        if self.args.target == "mlir":
            return print_module(module, generic=self.args.print_op_generic, locations=self.args.print_debuginfo)
        from kopt.tools.emission import emit_python

        return emit_python(module, self.args.entry, self.args.target, self.args.allow_inline)

    def _report(self, piece: str, diagnostics: list[Diagnostic], error: KoptError | None) -> None:
        """Print what happened, or match it with what the piece expects."""
        crashed = self.exit_code == CRASH_EXIT_CODE
        if self.args.verify_diagnostics and not crashed:
            problems = check_expectations(piece, self.name, diagnostics, error, strict=self.args.remarks)
        else:
            shown = [d for d in diagnostics if d.severity == "warning" or self.args.remarks]
            for diagnostic in shown:
                print(diagnostic, file=sys.stderr)
            problems = [error] if error is not None else []
        for problem in problems:
            print(problem, file=sys.stderr)
        if problems and not crashed:
            self.exit_code = 1


def print_module(module: ModuleOp, *, generic: bool = False, locations: bool = False) -> str:
    """The text of a module, ending in a newline."""
    stream = StringIO()
    Printer(stream, print_generic_format=generic, print_debuginfo=locations).print_op(module)
    return stream.getvalue() + "\n"


def _top(name: str):
    from kopt.errors import Location

    return Location(name, 1)


def _check_roundtrip(module: ModuleOp, session: Session) -> None:
    """Both syntaxes, parsed again, give the same module: equal text is not enough."""
    for generic in (False, True):
        text = print_module(module, generic=generic)
        ctx = make_context(allow_unregistered=session.args.allow_unregistered_dialect)
        again = parse_module(text, "<printed>", ctx)
        verify(again, text)
        if not module.is_structurally_equivalent(again):
            syntax = "generic" if generic else "custom"
            raise VerifyError(
                f"the {syntax} syntax loses something: parsed again, the module differs", _top("<printed>"), source=text
            )
