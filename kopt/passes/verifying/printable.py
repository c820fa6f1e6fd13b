"""The base of the passes that printers rely on: what they have looked at has a form in the text."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from kopt.diagnostics import Problem


class VerifyPrintablePass(ModulePass):
    """Refuses the first of its `problems`; the module stays as it is."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        self.verify(op)

    def verify(self, top: Operation) -> None:
        """The same of a module, or of one function where no other is printed."""
        if (problem := next(self.problems(top), None)) is not None:
            raise problem.error

    def problems(self, top: Operation) -> Iterator[Problem]:
        """What no text can be made of."""
        raise NotImplementedError
