"""The pass ``order-grid``: the order of a grid's dimensions, where outputs are revisited or updated atomically."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from kopt.analysis.atomic_targets import Turns, targets
from kopt.analysis.cell_footprint import GridMemory
from kopt.analysis.output_dependence import overwriting
from kopt.analysis.windows import unordered_windows, windows
from kopt.diagnostics import location_of, remark
from kopt.dialects.formats.integers import int_array
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import GridOp
from kopt.ir.from_ssa import IndexAnalysis
from kopt.passes.launches import grid_of
from kopt.passes.meaning import REASSOCIATES
from kopt.passes.ordering.permute import permute_for
from kopt.passes.ordering.split import can_split, nested_groups, split
from kopt.targets.budget import Budget
from kopt.targets.chips import TPU_CHIPS, chip_option
from kopt.walk import walk


@dataclass(frozen=True)
class OrderGridPass(ModulePass):
    """Permutes each grid's dimensions to a legal revisit order: a written block is not left before it is finished.

    The more outputs move with a dimension, the further out it goes. Dimensions that a target of atomic updates does
    not move with become ``reduce`` dimensions. Where no one order serves all outputs, the windows of some are made
    whole if they fit half of the chip's VMEM. Else the launch is split into one for each group of outputs that an order
    serves.

    Updates whose order can be seen in the result make all dimensions ``ordered``: a previous value that is used,
    ``xchg``, `atomic.cas`, two kinds on one target, a load or store beside them. Plain stores of different values into
    the same elements make those dimensions ``ordered`` along which the last value stays. Each choice is a remark.

        tile.grid (%k: b2=256, %i: b0=128, %j: b1=128) in (4096, 1024, 512) {
          … atomic.rmw add %d, %out[%i, %j] … }
    becomes
        tile.grid (%i: b0=128, %j: b1=128, %k: b2=256) in (1024, 512, 4096) reduce [2] {
          … atomic.rmw add %d, %out[%i, %j] … }

    It never refuses.
    """

    name = "order-grid"
    meaning = REASSOCIATES

    chip: str = chip_option(TPU_CHIPS, "tpu7x")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for launch in walk(op, LaunchOp):
            self._order(launch)

    def _order(self, launch: LaunchOp) -> None:
        grid = grid_of(launch)
        turns = next((found for target in targets(grid) if (found := target.turns) is not None), None)
        if turns is not None:
            _take_turns(grid, turns)
            return
        grid = permute_for(grid, outputs(launch))
        if targets(grid):
            self._settle(launch, grid)
        else:
            _keep_last(grid)

    def _settle(self, launch: LaunchOp, grid: GridOp) -> None:
        """Marks the reduction dimensions of a grid with updates, or splits the launch where an order is not enough."""
        kept = _made_whole(launch, grid)
        groups = nested_groups(list(unordered_windows(grid, outputs(launch)).values()))
        fits = Budget(TPU_CHIPS[self.chip]).holds_windows(GridMemory(grid).of_windows())
        if kept and not fits and len(groups) > 1 and can_split(launch):
            remark(launch, f"no order of the grid serves all outputs: the launch is split into {len(groups)}")
            for part in split(launch, [[window.memory for window in group] for group in groups]):
                self._order(part)
            return
        if kept:
            remark(launch, f"no order of the grid serves all outputs: the whole of {' and '.join(kept)} stays on chip")
        reduced = {
            number
            for window in windows(grid, [target.memory for target in targets(grid)]).values()
            for number in range(len(grid.ranges))
            if number not in window.grid_dims and number not in grid.ordered_dims
        }
        dims = sorted({*grid.reduction_dims, *reduced})
        grid.reduce = int_array(dims) if dims else None


def outputs(launch: LaunchOp) -> list[SSAValue]:
    """The written arrays as the body sees them."""
    return [launch.body.block.args[number] for number in launch.written]


def _made_whole(launch: LaunchOp, grid: GridOp) -> Sequence[str]:
    """The names of the updated arrays whose windows are larger than their accesses need, for the order's sake."""
    memories = [target.memory for target in targets(grid)]
    analysis = IndexAnalysis(numbered=True)
    needed, found = unordered_windows(grid, memories, analysis), windows(grid, memories, analysis)
    return [f"'{memory.name_hint or 'an array'}'" for memory in memories if needed[memory] != found[memory]]


def _keep_last(grid: GridOp) -> None:
    """Makes cells run in order along dimensions where each stores another value into the same elements."""
    for store, dims in overwriting(grid).items():
        ordered = {*grid.ordered_dims, *(dims - {*grid.reduction_dims})}
        if ordered != {*grid.ordered_dims}:
            grid.ordered = int_array(sorted(ordered))
            remark(store, "the grid runs in order: every cell stores into the same elements, and the last one's stay")


def _take_turns(grid: GridOp, turns: Turns) -> None:
    """Makes the cells of a grid run in the order that it is written in."""
    free = [number for number in range(len(grid.ranges)) if number not in grid.reduction_dims]
    grid.ordered = int_array(free) if free else None
    where = location_of(turns.op)
    remark(turns.op, f"the grid runs in order: {turns.reason}" + (f" at line {where.line}" if where else ""))
