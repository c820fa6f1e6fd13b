"""A GPU launch's options where the configuration names none: warps by the size of blocks, stages by what fits. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from xdsl.ir import Block

from kopt.analysis.alive_values import alive_values
from kopt.analysis.block_search import tile_types
from kopt.dialects import tile
from kopt.planning.gpu_program import stages, warps
from kopt.targets.budget import Budget
from kopt.walk import walk


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
    return int(warps(lanes, max(sums, default=0), max(rows, default=0), words, budget.gpu.backend))


def _bodies(grid: tile.GridOp) -> list[Block]:
    return [grid.body.block, *(loop.body.block for loop in walk(grid, tile.ForOp))]


def _alive(body: Block) -> Iterator[tuple[tile.TileType, ...]]:
    """The tiles that are alive at once, at each place of a body."""
    return alive_values(body, lambda value: value.type if isinstance(value.type, tile.TileType) else None, lambda _: ())


def _words(types: Sequence[tile.TileType]) -> float:
    """Registers of values; an op of each lane by itself puts its result where an operand was."""
    words = [prod(type.shape) * max(16, _bits(type)) / 32 for type in types if type.rank]
    return sum(words) - (max(words) if len(words) > 1 else 0)


def default_num_stages(grid: tile.GridOp, budget: Budget) -> int:
    """Loads in flight in a pipelined loop: as many as shared memory holds for the loops' dot operands, 1 to 4."""
    bytes_a_stage = max((_staged_bytes(loop) for loop in walk(grid, tile.ForOp)), default=0)
    if not bytes_a_stage:
        return 1 if not _loops(grid) else 2
    return int(stages(bytes_a_stage, budget))


def _loops(grid: tile.GridOp) -> bool:
    return bool(walk(grid, tile.ForOp))


def _staged_bytes(loop: tile.ForOp) -> int:
    """Bytes that one visit of a loop loads, where it feeds a dot."""
    ops = list(loop.body.block.ops)
    if not any(isinstance(op, tile.DotOp) for op in ops):
        return 0
    loads = [op for op in ops if isinstance(op, tile.LoadOp)]
    return sum(_bytes(tile.tile_type(op.result)) for op in loads)


def _bytes(type: tile.TileType) -> int:
    return prod(type.shape) * max(1, _bits(type) // 8)


def _bits(type: tile.TileType) -> int:
    return getattr(type.element_type, "bitwidth", 32)
