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

    ``outermost`` is for a TPU whose cores share the cells of a launch. It takes the loops that no plan can make
    dimensions of the grid, which stand in one of computed bounds. They become the first dimensions, so that each core
    has blocks of its own along them, and prefetches what its next cell takes along the others.

        tile.grid (%g: b0=1) in (16) { %n = … tile.for %m: b1=64 in (0, %n) { tile.for %j: b2=64 in (0, 768) { … } } }
    becomes
        tile.grid (%g: b0=1, %j: b2=64) in (16, 768) { %n = … tile.for %m: b1=64 in (0, %n) { … } }

    or, ``outermost``, ``tile.grid (%j: b2=64, %g: b0=1) in (768, 16) { … }``.

    It never refuses.
    """

    name = "distribute-loops"

    keep: tuple[str, ...] = ()
    outermost: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for grid in walk(op, tile.GridOp):
            while (loop := next(self._found(grid), None)) is not None:
                distribute(grid, loop, 0 if self.outermost else len(grid.ranges))

    def _found(self, grid: tile.GridOp) -> Iterator[tile.ForOp]:
        loops = distributable(grid, self.keep)
        return (loop for loop in loops if not self.outermost or any(map(_is_computed, _around(grid, loop))))


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


def _is_computed(around: Operation) -> bool:
    """Whether a loop's bounds are only known when it runs."""
    return isinstance(around, tile.ForOp) and not all(isinstance(bound, int) for bound in around.bounds)


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


def distribute(grid: tile.GridOp, loop: tile.ForOp, place: int) -> None:
    """Makes a loop a dimension of its grid, by its number: its body takes its place."""
    bounds, found = _bounds(loop), [*grid.bounds]
    assert bounds is not None
    found.insert(place, bounds)
    grid.lower, grid.upper = map(int_array, zip(*found, strict=True))
    range = grid.body.block.insert_arg(loop.range.type, place)
    range.name_hint = loop.range.name_hint
    body = loop.body.block
    loop.range.replace_all_uses_with(range)
    assert body.last_op is not None
    Rewriter.erase_op(body.last_op)
    for op in [*body.ops]:
        op.detach()
        Rewriter.insert_op(op, InsertPoint.before(loop))
    Rewriter.erase_op(loop)
