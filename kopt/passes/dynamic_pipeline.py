"""Passes that are pipelines: which ones run is decided when the module is there, as by MLIR's dynamic pipelines."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from kopt.passes.applying import apply_pass


class DynamicPipelinePass(ModulePass):
    """A pass that runs others. `kopt.pass_manager.run` shows each of them to its instrumentation, in its place."""

    @abstractmethod
    def passes(self, module: ModuleOp) -> Sequence[ModulePass]:
        """The passes that this module needs, in order."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for pass_ in self.passes(op):
            apply_pass(pass_, op, ctx)
