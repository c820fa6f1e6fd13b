"""What atomic updates do.

The lanes of a block update one after the other, in row-major order; the cells of a grid one after the other, in a
random order that the seed fixes, or in grid order along its ``ordered`` dimensions. Sums into elements of less than
32 bits are made in f32: see `Sums`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from xdsl.ir import Attribute

from kopt.dialects.atomic import CasOp, RmwOp
from kopt.dialects.tile import TileType, tile_type
from kopt.interpreter import ring
from kopt.interpreter.access import check, locate
from kopt.interpreter.machine import Handler, Machine
from kopt.interpreter.memory import own_mask
from kopt.interpreter.reductions import COMBINE
from kopt.interpreter.rounding import dtype_of, is_exact, poison, rounded
from kopt.interpreter.storage import addresses
from kopt.interpreter.values import TileValue, Validity, both, mask_of


@dataclass(frozen=True)
class _Lanes:
    """The lanes that update: their numbers in the block, where each one's element is, and the block's validity."""

    numbers: np.ndarray
    places: tuple[np.ndarray, ...]
    memory: np.ndarray
    valid: Validity

    def turns(self) -> Iterator[tuple[np.ndarray, tuple[np.ndarray, ...]]]:
        """Lanes and places in turns: in none an element twice, and the lanes of an element in order."""
        if not self.numbers.size:
            return
        keys = addresses(self.memory, self.places)
        order = np.argsort(keys, kind="stable")
        first = np.concatenate([[True], keys[order][1:] != keys[order][:-1]])
        position = np.arange(len(order))
        rank = position - np.maximum.accumulate(np.where(first, position, 0))
        for turn in range(rank.max() + 1):
            chosen = order[rank == turn]
            yield self.numbers[chosen], tuple(place[chosen] for place in self.places)


def _lanes(m: Machine, op: RmwOp | CasOp, operands: Validity) -> _Lanes:
    """The lanes of an update that are inside their ranges, as are the operands', and that the mask names."""
    array = m[op.memory]
    block = locate(m, op, array)
    masks = (own_mask(m, op), mask_of(operands, len(block.shape)))
    wanted = [mask for mask in masks if mask is not None]
    active = check(m, op, block, array, np.logical_and.reduce(np.broadcast_arrays(*wanted)) if wanted else None)
    if m.monitor is not None:
        m.monitor.update(op, array, block.index, None if active is None else active[block.window])
    numbers = np.zeros(block.shape, np.int64)
    if array.size:
        numbers[block.window] = np.arange(array.size).reshape(array.shape)[block.index]
    lanes = np.flatnonzero(np.ones(block.shape, bool) if active is None else active)
    memory = array if array.ndim else array.reshape(1)
    return _Lanes(lanes, np.unravel_index(numbers.reshape(-1)[lanes], memory.shape), memory, block.valid)


def _undefined(type: Attribute, like: np.ndarray) -> np.ndarray:
    """A flat block of undefined lanes."""
    assert isinstance(type, TileType)
    return np.full(like.size, poison(type.element_type), like.dtype)


def _rmw(m: Machine, op: RmwOp) -> TileValue | None:
    value, type = m.tile(op.value), tile_type(op.value)
    kind, element, flat = op.kind.data, type.element_type, value.data.reshape(-1)
    lanes = _lanes(m, op, value.valid)
    previous = _undefined(type, value.data)
    dtype = dtype_of(element)
    with np.errstate(all="ignore"):
        for turn, place in lanes.turns():
            old, new = lanes.memory[place], flat[turn]
            previous[turn] = old
            if kind == "add" and dtype.is_float and dtype.bits < 32 and not ring.active():
                lanes.memory[place] = m.sums.add(lanes.memory, place, new, element)
            else:
                table = ring.COMBINE if is_exact(element) else COMBINE
                lanes.memory[place] = new if kind == "xchg" else rounded(table[kind](old, new), element)
    return TileValue(previous.reshape(value.data.shape), both(lanes.valid, value.valid)) if op.previous else None


def _cas(m: Machine, op: CasOp) -> TileValue:
    expected, desired = m.tile(op.expected), m.tile(op.desired)
    lanes = _lanes(m, op, both(expected.valid, desired.valid))
    previous = _undefined(op.desired.type, desired.data)
    for turn, place in lanes.turns():
        old = previous[turn] = lanes.memory[place]
        found = _bits(old) == _bits(expected.data.reshape(-1)[turn])
        lanes.memory[place] = np.where(found, desired.data.reshape(-1)[turn], old)
    return TileValue(previous.reshape(desired.data.shape), both(lanes.valid, expected.valid, desired.valid))


def _bits(values: np.ndarray) -> np.ndarray:
    """Floats as the integers of their bits: NaN equals itself, and 0.0 does not equal -0.0."""
    return values.view(f"i{values.itemsize}") if values.dtype.kind == "f" else values


HANDLERS: dict[type, Handler] = {RmwOp: _rmw, CasOp: _cas}
