"""Atomic updates of blocks, in a launch that also updates rows of the same array by computed numbers."""

from __future__ import annotations

from xdsl.rewriter import Rewriter

from kopt.analysis.values.updates import kind_of, previous_of, values_of
from kopt.dialects.atomic import CasOp, RmwOp
from kopt.dialects.tile import LoadOp, StoreOp
from kopt.passes.access_building import AccessBuilder
from kopt.passes.replacing import replacing
from kopt.passes.scatters.formulations import combined


def update_block(op: RmwOp | CasOp) -> None:
    """The update as a load, a combination and a store: right where cells that touch the block run in order."""
    build = AccessBuilder(op)
    old = build.named("old", replacing(op, LoadOp(op.memory, op.entries)))
    new = build.named("new", combined(build, kind_of(op), old, list(values_of(op))))
    build.insert(replacing(op, StoreOp(new, op.memory, op.entries, op.mask)))
    if (previous := previous_of(op)) is not None:
        previous.replace_all_uses_with(old)
    Rewriter.erase_op(op)
