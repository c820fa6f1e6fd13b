"""Visits that write blocks of their own, dealt out to several cells."""

from __future__ import annotations

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Block, Region
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.independent_loops import written_beside
from kopt.dialects.builder import Builder
from kopt.dialects.tile import ForOp, GridOp, IdOp
from kopt.passes.distribute_loops import distribute
from kopt.passes.splitting.partial_results import part_of


def deal_out(grid: GridOp, loop: ForOp, trips: int | None, factor: int) -> int:
    """Lets ``factor`` times as many cells walk a part each; the first of them writes what stands beside the loop.

    Gives how many parts there are. Where a cell's visits are computed, so are those of its parts.
    """
    blocks = None if trips is None else -(-trips // factor)
    parts = factor if trips is None or blocks is None else -(-trips // blocks)
    beside = written_beside(loop)
    if blocks == 1:
        distribute(grid, loop, len(grid.ranges))
        part = grid.ranges[-1]
    else:
        part, (first, end) = part_of(grid, loop, parts, blocks)
        build = Builder(loop)
        body = Rewriter.move_region_contents_to_new_regions(loop.body)
        build.insert(ForOp(first, end, [], body, attributes=loop.attributes)).schedule = loop.schedule
        Rewriter.erase_op(loop)
    for op in beside:
        build = Builder(op)
        zero = build.add(arith.ConstantOp(IntegerAttr(0, IndexType())))
        first = build.add(arith.CmpiOp(build.add(IdOp(part)), zero, "eq"))
        body = Block()
        build.insert(scf.IfOp(first, [], Region(body), None))
        op.detach()
        Rewriter.insert_op([op, scf.YieldOp()], InsertPoint.at_end(body))
    return parts
