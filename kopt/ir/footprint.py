"""How much memory an access touches, in tiles of memory: the numbers that costs are made of.

Memory is moved in tiles, ``(8, 128)`` of a TPU's 32-bit elements, ``(32,)`` of a GPU's sector. Block sizes must be
chosen: `AccessRelation.at`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from kopt.ir.access_relation import AccessRelation
from kopt.ir.condition import FALSE
from kopt.ir.division import mod
from kopt.ir.index_expr import IndexExpr
from kopt.ir.polynomial import Coefficient


@dataclass(frozen=True)
class Footprint:
    """Tiles of memory that one visit of an access touches.

    ``least`` are touched for sure, wherever the block begins; ``apart`` are moved where each run is moved by itself;
    ``box`` is what the smallest box around all elements holds, that is known to.
    """

    least: int
    apart: int
    box: int
    tile_bytes: int

    @property
    def least_bytes(self) -> int:
        """The bytes that are moved for sure."""
        return self.least * self.tile_bytes

    @property
    def apart_bytes(self) -> int:
        """The bytes of the tiles that runs are in, moved run by run."""
        return self.apart * self.tile_bytes

    @property
    def box_bytes(self) -> int:
        """The bytes of the box."""
        return self.box * self.tile_bytes


def footprint(relation: AccessRelation, tile: Sequence[int]) -> Footprint:
    """What an access touches of memory whose tiles have the shape ``tile`` in the array's last dimensions."""
    parts = [_footprint(piece, tile) for _, piece in relation.pieces]
    if len(parts) == 1:
        return parts[0]
    apart = (sum if any(guard.along for guard, _ in relation.pieces) else max)([part.apart for part in parts] or [0])
    least, box = min((part.least for part in parts), default=0), sum(part.box for part in parts)
    return Footprint(least, apart, box, _tile_bytes(relation, tile))


def _tile_bytes(relation: AccessRelation, tile: Sequence[int]) -> int:
    return prod(tile[max(0, len(tile) - len(relation.shape)) :]) * relation.bits // 8


def _footprint(relation: AccessRelation, tile: Sequence[int]) -> Footprint:
    size, shape = _tile_bytes(relation, tile), tuple(map(_number, relation.shape))
    tile = (1,) * (len(shape) - len(tile)) + tuple(tile)[max(0, len(tile) - len(shape)) :]
    if relation.domain == FALSE or 0 in relation.lanes or 0 in shape:
        return Footprint(0, 0, 0, size)
    hull = [_hull(relation, index, extent) for index, extent in zip(relation.indices, shape, strict=True)]
    sides = list(zip(hull, tile, shape, strict=True))
    box = prod(_most(start, lanes, side, extent) for (start, lanes), side, extent in sides)
    if relation.kind not in ("point", "whole", "block"):
        return Footprint(_run_tiles(relation, shape, tile, True), _apart(relation, shape, tile), box, size)
    steps = [_number(step.lanes) for step in relation.box or ()]
    counted = list(zip(sides, steps, strict=True)) if steps else [(side, 1) for side in sides]
    least = prod(min(_least(start, lanes, side), own) for ((start, lanes), side, _), own in counted)
    apart = prod(min(_most(start, lanes, side, extent), own) for ((start, lanes), side, extent), own in counted)
    return Footprint(least, apart, box, size)


def _apart(relation: AccessRelation, shape: Sequence[int], tile: Sequence[int]) -> int:
    return _number(relation.runs) * _run_tiles(relation, shape, tile, False)


def _run_tiles(relation: AccessRelation, shape: Sequence[int], tile: Sequence[int], least: bool) -> int:
    """How many tiles one run is in: a run longer than a row is whole rows."""
    if not shape:
        return 1
    length, last = _number(relation.run.length), shape[-1]
    start = mod(relation.run.start, last) if len(shape) > 1 else relation.run.start
    rows = -(-length // last)
    side = tile[-2] if len(tile) > 1 else 1
    within = min(length, last)
    across = _least(start, within, tile[-1]) if least else _most(start, within, tile[-1], last)
    down = -(-rows // side) if least or rows == 1 else -(-rows // side) + 1
    return across * down


def _hull(relation: AccessRelation, index: IndexExpr, extent: int) -> tuple[IndexExpr, int]:
    """The first element of one dimension, and between how many the lanes are; all of it where nothing tells."""
    wide = frozenset(n for n, size in enumerate(relation.lanes) if size != 1)
    moving = IndexExpr(0, {atom: factor for atom, factor in index.terms.items() if atom.along & wide})
    size = moving.range.size
    if size is None or moving.range.low is None or size > extent:
        return IndexExpr(), extent
    return index - moving + moving.range.low, size


def _offsets(start: IndexExpr, side: int) -> tuple[int, int]:
    """Between which places of a tile a block begins."""
    known = mod(start, side).range
    return known.low or 0, side - 1 if known.high is None else known.high


def _least(start: IndexExpr, lanes: int, side: int) -> int:
    return -(-(_offsets(start, side)[0] + lanes) // side)


def _most(start: IndexExpr, lanes: int, side: int, extent: int) -> int:
    return min(-(-(_offsets(start, side)[1] + lanes) // side), -(-extent // side))


def _number(value: Coefficient) -> int:
    if not isinstance(value, int):
        raise ValueError(f"{value} is not chosen yet")
    return value
