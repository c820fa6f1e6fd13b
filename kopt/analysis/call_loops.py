"""The loops that a chip's compiler makes of a Pallas call, and how often each runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from xdsl.dialects import scf
from xdsl.ir import Block

from kopt.analysis.executions import Executions
from kopt.dialects.tile import (
    AssociativeReduceOp,
    AssociativeScanOp,
    BeginOp,
    CountOp,
    EndOp,
    ForOp,
    GridOp,
    IdOp,
    WhenOp,
    WhileOp,
    YieldOp,
)
from kopt.ir.ranges import visits
from kopt.walk import walk

#: What stands beside the versions of a body.
_NUMBERS = (IdOp, BeginOp, EndOp, CountOp, YieldOp)


@dataclass(frozen=True)
class CountedLoop:
    """A loop at a ``depth``, that of the grid being 1, and how often its body runs in the whole launch.

    ``trips`` are those of each time that it runs, where its text says them. ``taken`` is how often each of its
    branches is taken in the whole launch, in the order of the program: those of first and last visits, too.
    """

    depth: int
    times: int
    trips: int | None = None
    taken: tuple[int, ...] = ()


def counted_loops(grid: GridOp, blocks: Mapping[Block, Executions]) -> list[CountedLoop]:
    """The loops of a call in the order of the program, the grid's first; others of one visit are none.

    Raises `UnknownNumber` where it depends on what only a launch tells how often one runs.
    """
    block, cells = grid.body.block, _cells(grid, blocks)
    taken = _taken(block, blocks) if cells == blocks[block].count else ()
    return [CountedLoop(1, cells, None, taken), *_inside(block, 2, blocks)]


def _taken(block: Block, blocks: Mapping[Block, Executions]) -> tuple[int, ...]:
    """How often a loop's innermost branches are taken, without those of loops in it, and without empty ones."""
    found: list[int] = []
    for op in block.ops:
        if isinstance(op, ForOp | WhileOp | AssociativeScanOp | AssociativeReduceOp):
            continue
        for inner in (inner for region in op.regions for inner in region.blocks):
            branches = _taken(inner, blocks)
            own = isinstance(op, WhenOp | scf.IfOp) and not branches and len(inner.ops) > 1
            found += [blocks[inner].count] if own else branches
    return tuple(found)


def _cells(grid: GridOp, blocks: Mapping[Block, Executions]) -> int:
    """How often the grid's body runs: each cell. Of a body in versions each cell runs one, which has its operations."""
    count = blocks[grid.body.block].count
    versions = [op.true_region.block for op in grid.body.block.ops if isinstance(op, scf.IfOp) and not op.results]
    if len(versions) < 2 or any(
        op.name.startswith("tile.") and not isinstance(op, _NUMBERS) for op in grid.body.block.ops
    ):
        return count
    operations = [_written_out(block) for block in versions]
    taken = sum(blocks[block].count * each for block, each in zip(versions, operations, strict=True))
    return max(1, round(taken / sum(operations)))


def _written_out(block: Block) -> int:
    """The operations of a version outside of its loops; those of visits that are written out count for each."""
    total = 0
    for op in block.ops:
        trips = visits(op.range) if isinstance(op, ForOp) else None
        unroll = op.schedule.data.unroll if isinstance(op, ForOp) and op.schedule is not None else 1
        total += 1 if trips is None else len(walk(op)) * (trips if trips // unroll <= 1 else trips % unroll)
    return total


def _inside(block: Block, depth: int, blocks: Mapping[Block, Executions]) -> Iterator[CountedLoop]:
    for op in block.ops:
        if isinstance(op, AssociativeScanOp | AssociativeReduceOp):
            continue
        deeper = depth
        if isinstance(op, ForOp | WhileOp) and (loop := _loop(op, depth, blocks)) is not None:
            yield loop
            deeper = depth + 1
        for region in op.regions:
            for inner in region.blocks:
                yield from _inside(inner, deeper, blocks)


def _loop(op: ForOp | WhileOp, depth: int, blocks: Mapping[Block, Executions]) -> CountedLoop | None:
    """The loop as it is written out, or None where it is none then."""
    count = blocks[op.body.block].count
    trips = visits(op.range) if isinstance(op, ForOp) else None
    if trips is None:
        return CountedLoop(depth, count, None, _taken(op.body.block, blocks))
    unroll = op.schedule.data.unroll if isinstance(op, ForOp) and op.schedule is not None else 1
    together = trips // unroll
    if together <= 1:
        return None
    return CountedLoop(depth, count // trips * together, together, _taken(op.body.block, blocks))
