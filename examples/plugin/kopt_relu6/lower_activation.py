"""Writes activations as ops of the ``tile`` dialect, which every target has."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from kopt.dialects.builder import Builder
from kopt.walk import walk
from kopt_relu6.dialect import Relu6Op


@dataclass(frozen=True)
class LowerActivationPass(ModulePass):
    """Replaces ``activation`` ops by ``tile`` ops."""

    name = "lower-activation"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for relu6 in walk(op, Relu6Op):
            build = Builder(relu6)
            positive = build.with_number("maximum", relu6.input, 0)
            build.replace(build.with_number("minimum", positive, 6))
