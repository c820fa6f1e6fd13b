"""The pass ``fission-grids``: cells with several loops that store alone become a launch for each of these loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.clone import cloned
from kopt.diagnostics import remark
from kopt.dialects.tile import Access, DimAttr, DotOp, ForOp, GridOp, mark_open, open_blocks
from kopt.passes.cloning import clone_with_new_tags
from kopt.passes.distribute_loops import distributable
from kopt.passes.retyping import bound_tags, replace_dims
from kopt.targets.chips import GPU_CHIPS, GpuChip, chip_option
from kopt.targets.costs import gpu_costs
from kopt.walk import walk


@dataclass(frozen=True)
class FissionGridsPass(ModulePass):
    """Loop fission of cells: what they do one after another are launches, whose loops ``distribute-loops`` takes.

    A launch ends before the next one begins, so later loops find what earlier ones have stored. That pays where cells
    multiply, and blocks of as many rows as a matrix unit has are fewer than multiprocessors. Each loop has to be one
    that ``distribute-loops`` makes a dimension of its launch; no array is accessed beside the loops. Blocks that are
    open still have one size in all launches. ``keep`` are loops that a configuration's plan names.

        tile.grid (%i: b0=16) in (1024) {
          tile.for %j: b1=64 in (0, 256) { …  tile.store %h, %hidden[%i, %j] … }
          tile.for %k: b2=64 in (0, 1024) { … tile.load %hidden[%i, %l] …  tile.store %o, %out[%i, %k] … } }
    becomes
        tile.grid (%i: b0=16) in (1024) { tile.for %j: b1=64 in (0, 256) { … } }
        tile.grid (%i: b4=16) in (1024) { tile.for %k: b2=64 in (0, 1024) { … } }

    It never refuses.
    """

    name = "fission-grids"

    chip: str = chip_option(GPU_CHIPS, "sm90")
    keep: tuple[str, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in walk(op, FuncOp):
            for grid in walk(func, GridOp):
                loops = [inner for inner in grid.body.block.ops if isinstance(inner, ForOp)]
                if len(loops) > 1 and self._pays(grid, loops):
                    _split(func, grid, len(loops))

    def _pays(self, grid: GridOp, loops: Sequence[ForOp]) -> bool:
        """Whether a grid is small, and each loop could be a dimension of it, were the others not there."""
        if not walk(grid, DotOp) or not _is_small(grid, GPU_CHIPS[self.chip]):
            return False
        if any(isinstance(op, Access) for op in grid.body.block.ops):
            return False
        return all(
            loop in distributable(grid, self.keep, [other for other in loops if other is not loop]) for loop in loops
        )


def _is_small(grid: GridOp, chip: GpuChip) -> bool:
    """Whether a launch has fewer blocks of a matrix unit's rows than there are multiprocessors; not where unknown."""
    costs = gpu_costs(chip)
    bounds = [(lower, upper) for lower, upper in grid.bounds if isinstance(upper, int)]
    cells = prod(-(-(upper - lower) // costs.mma_rows) for lower, upper in bounds)
    return len(bounds) == len(grid.bounds) and cells < costs.multiprocessors


def _split(func: FuncOp, grid: GridOp, count: int) -> None:
    """Makes a grid of each loop: the first is that of the source, the others are copies behind it."""
    remark(grid, f"the loops of its cells are {count} launches, which have more programs")
    opened, source, last = {block: [*block.tags] for block in open_blocks(func)}, cloned(grid), grid
    Rewriter.insert_op(source, InsertPoint.after(grid))
    _keep_loop(grid, 0)
    for number in range(1, count):
        part = clone_with_new_tags(source)
        assert isinstance(part, GridOp)
        names = dict(zip(bound_tags(source), bound_tags(part), strict=True))
        _keep_loop(part, number)
        # What a loop binds keeps its name, as no other launch has that loop.
        own = {new: old for old, new in names.items() if old not in grid.tags}
        replace_dims(part, lambda dim, own=own: DimAttr(dim.size.data, own.get(dim.tag.data, dim.tag.data)))
        Rewriter.insert_op(part, InsertPoint.after(last))
        for block, tags in opened.items():
            tags += [names[tag] for tag in block.tags if tag in grid.tags]
        last = part
    Rewriter.erase_op(source)
    mark_open(func, [replace(block, tags=tuple(tags)) for block, tags in opened.items()])


def _keep_loop(grid: GridOp, number: int) -> None:
    """Erases all loops of a grid's cells but one."""
    for place, loop in enumerate(op for op in [*grid.body.block.ops] if isinstance(op, ForOp)):
        if place != number:
            Rewriter.erase_op(loop)
