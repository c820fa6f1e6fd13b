"""A GPU launch's options where the configuration names none: warps by blocks, stages by what fits, registers. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import inf, prod

from xdsl.ir import Block

from kopt.analysis.alive_values import alive_values
from kopt.analysis.block_search import tile_types
from kopt.analysis.launch_models import fixed_model
from kopt.analysis.plans import GridNames
from kopt.dialects import tile
from kopt.ir.launch_model import LaunchModel
from kopt.ir.trip_counts import cells
from kopt.open_extents import NeedsConstant
from kopt.planning.assumed import assumed_lengths
from kopt.planning.candidates import gpu_candidate
from kopt.planning.cost import costs
from kopt.planning.gpu_cost import GpuLaunch
from kopt.planning.launch_options import warps
from kopt.targets.budget import Budget
from kopt.targets.chips import GpuChip
from kopt.targets.costs import gpu_costs
from kopt.walk import walk

#: Registers of a thread, at most.
_MOST_REGISTERS = 255
#: The warps that a program may have, and what others than the usual ones have to take less than.
_NUM_WARPS, _CLEARLY = (1, 2, 4, 8, 16), 0.95


def _dots(grid: tile.GridOp) -> list[tile.DotOp]:
    return walk(grid, tile.DotOp)


def default_num_warps(grid: tile.GridOp, budget: Budget) -> int:
    """Warps for what a cell computes at once, or all products of one loop: a power of two."""
    dots = _dots(grid)
    sums = [
        sum(prod(dot.result.type.shape) for dot in dots if dot.parent is block) for block in {d.parent for d in dots}
    ]
    rows = [dot.result.type.shape[-2] for dot in dots]
    lanes = max((prod(type.shape) for type in tile_types(grid)), default=1)
    words = max((_words(types) for body in _bodies(grid) for types in _alive(body)), default=0)
    each = _programs(grid) / gpu_costs(budget.gpu).multiprocessors
    return int(warps(lanes, max(sums, default=0), max(rows, default=0), words, budget.gpu.backend, each))


def cheapest_num_warps(grid: tile.GridOp, known: GridNames, chip: GpuChip, usual: int) -> int:
    """The warps with which a launch takes least by the model: the ``usual`` ones, unless others clearly take less.

    Of products the usual ones: how they are multiplied depends on warps in more ways than the model has. So also where
    extents differ from call to call.
    """
    if _dots(grid):
        return usual
    try:
        seconds = _seconds(fixed_model(grid, known), chip, usual)
    except NeedsConstant:
        return usual
    best = min(seconds, key=seconds.__getitem__, default=usual)
    return best if usual in seconds and seconds[best] < _CLEARLY * seconds[usual] else usual


def _seconds(model: LaunchModel, chip: GpuChip, usual: int) -> dict[int, float]:
    """What a launch takes, by the number of warps, where these have the registers; ``usual`` ones in any case."""
    counts = [*dict.fromkeys((usual, *_NUM_WARPS))]
    plans = [replace(gpu_candidate(model), options=(("warps", count),)) for count in counts]
    found = zip(counts, costs(model, {}, plans, chip, assumed_lengths(model)), strict=True)
    known = [(count, one) for count, one in found if one.fits or count == usual]
    return {count: float(one.seconds) for count, one in known if one.seconds is not None}


def _programs(grid: tile.GridOp) -> float:
    """The programs of a launch; without end where only a launch tells."""
    return inf if (known := cells(grid)) is None else known


def _bodies(grid: tile.GridOp) -> list[Block]:
    return [grid.body.block, *(loop.body.block for loop in walk(grid, tile.ForOp))]


def _alive(body: Block) -> Iterator[tuple[tile.TileType, ...]]:
    """The tiles that are alive at once, at each place of a body."""
    return alive_values(body, lambda value: value.type if isinstance(value.type, tile.TileType) else None, lambda _: ())


def _words(types: Sequence[tile.TileType]) -> float:
    """Registers of values; an op of each lane by itself puts its result where an operand was."""
    words = [prod(type.shape) * max(16, _bits(type)) / 32 for type in types if type.rank]
    return sum(words) - (max(words) if len(words) > 1 else 0)


def default_num_stages(grid: tile.GridOp, chip: GpuChip, warps: int, known: GridNames | None = None) -> int:
    """Stages of the loops that feed products, by the model of the launch; 2 of other loops, and 1 without loops.

    ``known`` are the grid's names, where somebody has asked for them.
    """
    loops = walk(grid, tile.ForOp)
    if not any(map(_feeds_a_product, loops)):
        return 2 if loops else 1
    model = fixed_model(grid, known or GridNames.of(grid))
    plan = replace(gpu_candidate(model), options=(("warps", warps),))
    program = GpuLaunch(model, {}, plan, chip, assumed_lengths(model)).program
    # The model takes whole dimensions to be walked; those that no pass has made walks of are loaded as a whole.
    visits = 1 + Budget(chip).shared // max(1, *map(_staged_bytes, loops))
    return min(int(program.stages), 2 * visits - 1 if program.is_told else visits)


def default_max_registers(grid: tile.GridOp, chip: GpuChip, warps: int) -> int | None:
    """The most registers of a thread, said to the assembler where loops feed products: all that there are.

    Shared memory bounds the programs of these that run side by side. An assembler that is told nothing keeps registers
    for more of them, and spills some. With a program's share as the bound others spill (`swiglu_matmul` on sm80).
    """
    if not chip.spares_registers or not any(map(_feeds_a_product, walk(grid, tile.ForOp))):
        return None
    return min(_MOST_REGISTERS, chip.registers // (warps * chip.warp_size))


def _staged_bytes(loop: tile.ForOp) -> int:
    """Bytes that one visit of a loop loads, where it feeds a product."""
    loads = [op for op in loop.body.block.ops if isinstance(op, tile.LoadOp)] if _feeds_a_product(loop) else []
    return sum(_bytes(tile.tile_type(op.result)) for op in loads)


def _feeds_a_product(loop: tile.ForOp) -> bool:
    kinds = {type(op) for op in loop.body.block.ops}
    return {tile.DotOp, tile.LoadOp} <= kinds


def _bytes(type: tile.TileType) -> int:
    return prod(type.shape) * max(1, _bits(type) // 8)


def _bits(type: tile.TileType) -> int:
    return getattr(type.element_type, "bitwidth", 32)
