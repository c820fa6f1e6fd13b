"""The pass ``strip-mine-cells``: a grid dimension whose cells write to common rows is strip-mined over cores."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.arith import AddiOp, MuliOp
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.shared_rows import has_rows_of_its_own, shares_rows
from kopt.analysis.windows import unordered_windows
from kopt.dialects.builder import Builder
from kopt.dialects.formats.integers import int_array
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import BeginOp, CountOp, GridOp, IdOp, RangeType, ShiftOp, ValidOp, WhenOp, range_type
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.ranges import binding, unshifted
from kopt.passes.retyping import new_tags
from kopt.targets.chips import TPU_CHIPS, TpuChip, chip_option
from kopt.targets.tiling import LANES
from kopt.walk import walk


@dataclass(frozen=True)
class StripMineCellsPass(ModulePass):
    """Strip-mines a dimension of the grid along which cells write to common rows of 128 lanes of a vector.

    Such cells run in order, so they run on one core. On a chip of several, the dimension becomes two. Along the first,
    of one cell for each core, blocks are whole rows, and cores share it. Along the second, cells share rows.

        tile.grid (%i: b0=32) in (1024) { … tile.store %v, %x[%i] : !tile.tile<b0=32 x f32>, memref<1024xf32> }
    becomes, for two cores,
        tile.grid (%i_core: b1=512, %i_cell: b0=32) in (1024, 512) {
          %b = tile.begin %i_core   %i = tile.shift %i_cell by %b   … tile.store %v, %x[%i] … }

    It never refuses. The grid stays as it is where cores cannot have equal numbers of whole rows, where another
    dimension already gives them rows of their own, where loops store parts of a block, and where an op asks for the
    first or last visit of the range.
    """

    name = "strip-mine-cells"

    chip: str = chip_option(TPU_CHIPS, "tpu7x")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        chip = TPU_CHIPS[self.chip]
        if chip.cores == 1:
            return
        analysis = IndexAnalysis(numbered=True)
        for launch in walk(op, LaunchOp):
            grids = [inner for inner in launch.body.block.ops if isinstance(inner, GridOp)]
            if len(grids) != 1:
                continue
            for number in launch.written:
                memory = launch.body.block.args[number]
                if (range := _shared_range(grids[0], memory, chip, analysis)) is not None:
                    _strip_mine(grids[0], range, chip.cores)


def _shared_range(grid: GridOp, memory: SSAValue, chip: TpuChip, analysis: IndexAnalysis) -> SSAValue | None:
    """The range of a grid whose blocks share rows of a vector between all cells, if cores can have whole ones."""
    window = unordered_windows(grid, [memory], analysis).get(memory)
    if window is None or not shares_rows(window, grid):
        return None
    (dim,) = window.dims
    assert dim.range is not None
    apart = has_rows_of_its_own(window, grid)
    asked = any(isinstance(use.operation, WhenOp) for use in dim.range.uses)
    parts = any(unshifted(access.entries[0]) is not dim.range for access in (*window.loads, *window.stores))  # pyright: ignore
    lanes = _lanes(dim.range)
    divides = lanes % (chip.cores * LANES) == 0 and grid.bounds[grid.ranges.index(dim.range)] == (0, lanes)
    return dim.range if divides and not (parts or apart or asked or grid.plan is not None) else None


def _lanes(range: SSAValue) -> int:
    """All lanes that a range of the grid walks."""
    trips = binding(range).trips
    assert trips is not None
    return trips * range_type(range).size


def _strip_mine(grid: GridOp, range: SSAValue, cores: int) -> None:
    """Gives each core one block of a range, whose own blocks are those inside of it."""
    lanes, size, hint = _lanes(range), range_type(range).size, range.name_hint or "cells"
    share, position = lanes // cores, grid.ranges.index(range)
    bounds = [(0, share) if number == position else bound for number, bound in enumerate(grid.bounds)]
    grid.lower, grid.upper = map(int_array, zip((0, lanes), *bounds, strict=True))
    grid.reduce = grid.reduce and int_array([dim + 1 for dim in grid.reduction_dims])
    grid.ordered = grid.ordered and int_array([dim + 1 for dim in grid.ordered_dims])
    outer = grid.body.block.insert_arg(RangeType(next(new_tags(grid)), share), 0)
    outer.name_hint = f"{hint}_core"
    uses = [use for use in range.uses if not isinstance(use.operation, ValidOp)]
    build = Builder(InsertPoint.at_start(grid.body.block), grid)
    moved = build.add(ShiftOp(range, build.add(BeginOp(outer))), hint)
    range.name_hint = f"{hint}_cell"
    for use in uses:
        if isinstance(use.operation, IdOp):
            first = build.add(MuliOp(build.add(IdOp(outer)), build.index(share // size)))
            _replace(use.operation, build.add(AddiOp(first, build.add(IdOp(range)))))
        elif isinstance(use.operation, CountOp):
            _replace(use.operation, build.index(lanes // size))
        else:
            use.operation.operands[use.index] = moved


def _replace(op: Operation, value: SSAValue) -> None:
    value.name_hint = op.results[0].name_hint or value.name_hint
    Rewriter.replace_op(op, [], [value])
