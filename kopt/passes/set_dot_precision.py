"""The pass ``set-dot-precision``: how products of f32 may be rounded, where the IR does not say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr, f32
from xdsl.passes import ModulePass

from kopt.dialects.tile import DotOp, tile_type
from kopt.walk import walk


@dataclass(frozen=True)
class SetDotPrecisionPass(ModulePass):
    """Sets the precision of every `tile.dot` of f32 operands that has none to the one that the option names.

    ``set-dot-precision{precision=ieee}``; products of narrower operands are exact anyway and stay as they are.

        %d = tile.dot %l, %r, %a : …f32…
    becomes
        %d = tile.dot %l, %r, %a precision ieee : …f32…

    It never refuses.
    """

    name = "set-dot-precision"

    precision: Literal["ieee", "tf32", "bf16", "tf32x3", "bf16x3"]

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        set_precision(op, self.precision)


def set_precision(module: ModuleOp, precision: str) -> None:
    """Sets the precision of the f32 dots of a module that have none, in place."""
    for op in walk(module):
        if isinstance(op, DotOp) and op.precision is None and _of_f32(op):
            op.precision = StringAttr(precision)


def _of_f32(op: DotOp) -> bool:
    return tile_type(op.lhs).element_type == f32
