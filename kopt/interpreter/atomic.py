"""What atomic updates do: the lanes of a block one after the other, the cells of a grid in no order."""

from __future__ import annotations

from typing import Any

import numpy as np

from kopt.dialects.atomic import CasOp, RmwOp
from kopt.dialects.tile import TileType
from kopt.interpreter.access import check, locate
from kopt.interpreter.machine import Handler, Machine
from kopt.interpreter.memory import own_mask
from kopt.interpreter.reductions import COMBINE
from kopt.interpreter.rounding import poison, rounded
from kopt.interpreter.values import Tile, Validity, both

#: An element's place in an array, or a lane's in a block.
Place = tuple[Any, ...]


def _lanes(m: Machine, op: RmwOp | CasOp, array: np.ndarray) -> tuple[list[tuple[Place, Place]], Validity]:
    """For each lane that updates, in order: where its element is, and which lane it is. Then the block's validity."""
    block = locate(m, op, array)
    active = check(m, op, block, array, own_mask(m, op))
    if m.monitor is not None:
        m.monitor.update(op, array, block.index, None if active is None else active[block.window])
    numbers = np.zeros(block.shape, np.int64)
    numbers[block.window] = np.arange(array.size).reshape(array.shape)[block.index]
    lanes = [tuple(lane) for lane in np.argwhere(np.ones(block.shape, bool) if active is None else active)]
    return [(np.unravel_index(numbers[lane], array.shape), lane) for lane in lanes], block.valid


def _rmw(m: Machine, op: RmwOp) -> Tile | None:
    array, value = m[op.memory], m.tile(op.value)
    type = op.value.type
    assert isinstance(type, TileType)
    lanes, valid = _lanes(m, op, array)
    previous = np.full(value.data.shape, poison(type.element_type), value.data.dtype)
    with np.errstate(all="ignore"):
        for place, lane in lanes:
            old, new = array[place], value.data[lane]
            previous[lane] = old
            combined = new if op.kind.data == "xchg" else COMBINE[op.kind.data](old, new)
            array[place] = rounded(np.asarray(combined), type.element_type)
    return Tile(previous, both(valid, value.valid)) if op.previous else None


def _cas(m: Machine, op: CasOp) -> Tile:
    array, expected, desired = m[op.memory], m.tile(op.expected), m.tile(op.desired)
    type = op.desired.type
    assert isinstance(type, TileType)
    lanes, valid = _lanes(m, op, array)
    previous = np.full(desired.data.shape, poison(type.element_type), desired.data.dtype)
    for place, lane in lanes:
        previous[lane] = array[place]
        if array[place] == expected.data[lane]:
            array[place] = desired.data[lane]
    return Tile(previous, both(valid, desired.valid))


HANDLERS: dict[type, Handler] = {RmwOp: _rmw, CasOp: _cas}
