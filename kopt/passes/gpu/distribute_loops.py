"""The pass ``distribute-loops``: loops whose visits are independent are dimensions of the grid."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.aliases import root
from kopt.analysis.effects import may_write
from kopt.dialects import tile
from kopt.dialects.tile.memory import WritesMemory
from kopt.dialects.tile.shape import int_array
from kopt.walk import walk

#: Ops that no program should do again for each visit of a loop that others have.
_EXPENSIVE = (
    tile.DotOp,
    tile.ReduceOp,
    tile.ScanOp,
    tile.ArgReduceOp,
    tile.AssociativeReduceOp,
    tile.AssociativeScanOp,
    tile.SortOp,
    tile.ForOp,
    tile.WhileOp,
)


@dataclass(frozen=True)
class DistributeLoopsPass(ModulePass):
    """Gives the visits of a loop to programs of their own, where nothing passes from one to another.

    The conditions are these. The loop carries nothing and walks between two constants. All stores of the launch are
    in it, go to its own blocks, and write arrays that the launch does not read. The loops around it may have
    computed bounds, but carry nothing. Each program repeats what stands around the loop, so nothing costly may
    stand there: no product, no reduction, no other loop, no block of two dimensions. A launch that has a plan keeps
    its loops: the plan's order is of the cells as they are. ``keep`` are the loops that a configuration's plan
    names, by their variable or tag.

        tile.grid (%g: b0=1) in (16) { %n = … tile.for %m: b1=64 in (0, %n) { tile.for %j: b2=64 in (0, 768) { … } } }
    becomes
        tile.grid (%g: b0=1, %j: b2=64) in (16, 768) { %n = … tile.for %m: b1=64 in (0, %n) { … } }

    It never refuses.
    """

    name = "distribute-loops"

    keep: tuple[str, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for grid in walk(op, tile.GridOp):
            while (loop := next(distributable(grid, self.keep), None)) is not None:
                distribute(grid, loop)


def distributable(
    grid: tile.GridOp, keep: Collection[str] = (), without: Collection[tile.ForOp] = ()
) -> Iterator[tile.ForOp]:
    """The loops of a grid that may each be a dimension of it, but for those to ``keep``; as if some were not there."""
    if grid.plan is not None or grid.reduction_dims or grid.ordered_dims:
        return
    absent = {op for loop in without for op in walk(loop)}
    there = [op for op in walk(grid) if op not in absent]
    written = {root(op.memory) for op in there if isinstance(op, tile.Access) and op.has_trait(WritesMemory)}
    if any(isinstance(op, tile.LoadOp) and root(op.memory) in written for op in there):
        return
    for loop in (op for op in there if isinstance(op, tile.ForOp)):
        named = {loop.range.name_hint, tile.tag_of(loop.range)}
        if named.isdisjoint(keep) and _bounds(loop) is not None and _stands_alone(grid, loop, there):
            yield loop


def _bounds(loop: tile.ForOp) -> tuple[int, int] | None:
    """The numbers between which a loop walks, where a grid may."""
    lower, upper = loop.bounds
    known = isinstance(lower, int) and isinstance(upper, int) and 0 <= lower <= upper
    return (lower, upper) if known else None  # pyright: ignore[reportReturnType]


def _stands_alone(grid: tile.GridOp, loop: tile.ForOp, there: Sequence[Operation]) -> bool:
    """Whether a loop writes all that its launch does, by its own blocks, and stands beside what is cheap.

    ``there`` are the ops of the launch.
    """
    around = [*_around(grid, loop)]
    if any(not isinstance(op, tile.ForOp) or op.inits for op in (loop, *around)):
        return False
    inside = walk(loop)
    apart = {grid, *around, *inside}
    beside = [op for op in there if op not in apart]
    cheap = all(not may_write(op) and not isinstance(op, _EXPENSIVE) and not _is_large(op) for op in beside)
    writes = [op for op in inside if op.has_trait(WritesMemory)]
    return cheap and bool(writes) and all(isinstance(op, tile.StoreOp) and loop.range in op.entries for op in writes)


def _around(grid: tile.GridOp, loop: tile.ForOp) -> Iterator[Operation]:
    """What a loop stands in, up to the grid."""
    op = loop.parent_op()
    while op is not None and op is not grid:
        yield op
        op = op.parent_op()


def _is_large(op: Operation) -> bool:
    return any(isinstance(value.type, tile.TileType) and value.type.rank > 1 for value in op.results)


def distribute(grid: tile.GridOp, loop: tile.ForOp) -> None:
    """Makes a loop the last dimension of its grid: its body takes its place."""
    bounds = _bounds(loop)
    assert bounds is not None
    both = zip(*grid.bounds, bounds, strict=True)
    grid.lower, grid.upper = map(int_array, both)
    block = grid.body.block
    range = block.insert_arg(loop.range.type, len(block.args))
    range.name_hint = loop.range.name_hint
    body = loop.body.block
    loop.range.replace_all_uses_with(range)
    assert body.last_op is not None
    Rewriter.erase_op(body.last_op)
    for op in [*body.ops]:
        op.detach()
        Rewriter.insert_op(op, InsertPoint.before(loop))
    Rewriter.erase_op(loop)
