"""Updates of blocks of an array in HBM become loads and stores, each a DMA."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import StringAttr

from kopt.analysis.streaming import SPACE
from kopt.diagnostics import remark
from kopt.dialects.atomic import RmwOp
from kopt.dialects.tile import Access, GridOp, LoadOp, StoreOp
from kopt.passes.scatters.block_updates import update_block
from kopt.passes.scatters.run_in_order import run_in_order
from kopt.passes.scatters.written_operand import WrittenOperand


def update_far_blocks(target: WrittenOperand, accesses: Sequence[Access]) -> None:
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
