"""Loops that write what no other visit does: their visits may be dealt out to several cells. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from kopt.analysis.aliases import root
from kopt.analysis.combiners import NotAReduction
from kopt.analysis.effects import may_write
from kopt.dialects.tile import Access, ForOp, GridOp, LoadOp, StoreOp
from kopt.dialects.tile.memory import WritesMemory
from kopt.ir.ranges import binding
from kopt.walk import walk


def independent_loop(grid: GridOp) -> tuple[ForOp, int | None]:
    """The one loop of a grid's cells, and its trips, None where computed, where its visits may run in any cells.

    They store their own blocks, and carry nothing. What they load that the launch writes they write in the same place.
    Raises `NotAReduction` with the reason.
    """
    loops = [op for op in grid.body.block.ops if isinstance(op, ForOp)]
    if len(loops) != 1 or loops[0].inits:
        raise NotAReduction("its cells have no loop that stores alone")
    loop = loops[0]
    inside = {op for op in walk(loop) if op is not loop}
    writes = [op for op in inside if may_write(op) and not op.regions]
    if not writes or not all(isinstance(op, StoreOp) and loop.range in op.entries for op in writes):
        raise NotAReduction("its visits do not store blocks of their own alone")
    if any(op.results for op in written_beside(loop)):
        raise NotAReduction("what its cells write beside the loop gives values")
    _check_loads(grid, inside)
    return loop, binding(loop.range).trips


def written_beside(loop: ForOp) -> list[Operation]:
    """What a cell writes before and after its loop."""
    assert loop.parent is not None
    return [op for op in loop.parent.ops if op is not loop and may_write(op)]


def _check_loads(grid: GridOp, inside: set[Operation]) -> None:
    """What the launch writes is loaded in the same visit and place only."""
    stores = [op for op in walk(grid, Access) if op.has_trait(WritesMemory)]
    for load in walk(grid, LoadOp):
        here = [op for op in stores if root(op.memory) is root(load.memory)]
        if any(load not in inside or op not in inside or not _alike(load.entries, op.entries) for op in here):
            raise NotAReduction("its cells load what they write")


def _alike(entries: Sequence[SSAValue | object], others: Sequence[SSAValue | object]) -> bool:
    return list(entries) == list(others)
