"""Launch options where the configuration names none: warps by the size of the blocks, stages by what fits."""

from __future__ import annotations

from kopt.dialects import tile, triton

#: Lanes that one warp should hold, and the most warps of a program, without and with matrix products.
_LANES_A_WARP = 2048
_WARPS = (4, 16)
_DOT_WARPS = (4, 8)
_MOST_STAGES = 4


def _lanes(type: tile.TileType) -> int:
    lanes = 1
    for size in type.shape:
        lanes *= size
    return lanes


def _tiles(grid: tile.GridOp) -> list[tile.TileType]:
    return [value.type for op in grid.walk() for value in op.results if isinstance(value.type, tile.TileType)]


def _dots(grid: tile.GridOp) -> list[tile.DotOp]:
    return [op for op in grid.walk() if isinstance(op, tile.DotOp)]


def default_num_warps(grid: tile.GridOp) -> int:
    """Warps for the largest block that a cell computes, or all products of one loop: a power of two."""
    dots = _dots(grid)
    least, most = _DOT_WARPS if dots else _WARPS
    together = [
        sum(_lanes(dot.result.type) for dot in dots if dot.parent is block) for block in {d.parent for d in dots}
    ]
    lanes = max([*together, *(_lanes(type) for type in _tiles(grid))], default=1)
    warps = least
    while warps < most and warps * _LANES_A_WARP < lanes:
        warps *= 2
    return warps


def default_num_stages(grid: tile.GridOp, shared_bytes: int) -> int:
    """Loads in flight in a pipelined loop: as many as shared memory holds for the loops' dot operands, 1 to 4."""
    bytes_a_stage = max((_staged_bytes(loop) for loop in grid.walk() if isinstance(loop, tile.ForOp)), default=0)
    if not bytes_a_stage:
        return 1 if not _loops(grid) else 2
    return max(1, min(_MOST_STAGES, shared_bytes * 9 // 10 // bytes_a_stage))


def _loops(grid: tile.GridOp) -> bool:
    return any(isinstance(op, tile.ForOp) for op in grid.walk())


def _staged_bytes(loop: tile.ForOp) -> int:
    """Bytes that one visit of a loop loads, where it feeds a dot."""
    ops = list(loop.body.block.ops)
    if not any(isinstance(op, tile.DotOp) for op in ops):
        return 0
    loads = [op for op in ops if isinstance(op, tile.LoadOp | triton.LoadOp)]
    return sum(_bytes(op.result.type) for op in loads)


def _bytes(type: object) -> int:
    assert isinstance(type, tile.TileType)
    width = getattr(type.element_type, "bitwidth", 32)
    return _lanes(type) * max(1, width // 8)
