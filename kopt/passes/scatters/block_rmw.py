"""Atomic updates of blocks become loads, combinations and stores: beside updates of computed rows, and in HBM."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import StringAttr
from xdsl.rewriter import Rewriter

from kopt.analysis.streaming import SPACE
from kopt.analysis.values.updates import kind_of, previous_of, values_of
from kopt.diagnostics import remark
from kopt.dialects.atomic import CasOp, RmwOp
from kopt.dialects.builder import Builder, named
from kopt.dialects.tile import Access, GridOp, LoadOp, StoreOp
from kopt.passes.replacing import replacing
from kopt.passes.scatters.formulation import combined
from kopt.passes.scatters.run_in_order import run_in_order
from kopt.passes.scatters.written_operand import WrittenOperand


def update_block(op: RmwOp | CasOp) -> None:
    """The update as a load, a combination and a store: right where cells that touch the block run in order."""
    build = Builder(op)
    old = build.add(replacing(op, LoadOp(op.memory, op.entries)), "old")
    new = named(combined(build, kind_of(op), old, list(values_of(op))), "new")
    build.insert(replacing(op, StoreOp(new, op.memory, op.entries, op.mask)))
    if (previous := previous_of(op)) is not None:
        previous.replace_all_uses_with(old)
    Rewriter.erase_op(op)


def update_hbm_blocks(target: WrittenOperand, accesses: Sequence[Access]) -> None:
    """Turns the updates of an array's blocks into loads and stores in HBM. Cells run in order then.

        atomic.rmw add %v, %out[%j, :] : …
    becomes
        %old = tile.load %out[%j, :] {space = "hbm"} …   %new = tile.add %old, %v
        tile.store %new, %out[%j, :] {space = "hbm"} …
    """
    remark(accesses[0], f"'{target.name}' stays in HBM: the blocks that loops update are fetched and sent back by DMAs")
    for op in accesses:
        assert isinstance(op, RmwOp)
        update_block(op)
    for use in list(target.memory.uses):
        if isinstance(use.operation, LoadOp | StoreOp):
            use.operation.attributes[SPACE] = StringAttr("hbm")
    for grid in [op for op in target.launch.body.block.ops if isinstance(op, GridOp)]:
        run_in_order(grid, target.memory, target.name)
