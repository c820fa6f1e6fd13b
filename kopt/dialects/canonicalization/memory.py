"""Canonicalisations of lane numbers and of what they index.

add(arange 0, 1; full 3) → arange 3, 1    mul(arange 3, 1; full 2) → arange 6, 2    cast of arange → arange
%x[arange 3, 2] → %x[3:67:2]               one index of lane numbers, inside the array: a slice
a mask of true → no mask                   a load by a mask of false → full    a store by a mask of false → gone
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute, Operation, SSAValue

from kopt.dialects.atomic import CasOp, RmwOp
from kopt.dialects.canonicalization.elementwise import constant
from kopt.dialects.canonicalization.rules import Replacement, Rule
from kopt.dialects.tile.constants import ArangeOp, FullOp
from kopt.dialects.tile.elementwise import ELEMENTWISE, CastOp, ElementwiseOp
from kopt.dialects.tile.index_list import ALL, Entry, SliceAttr, is_gather
from kopt.dialects.tile.memory import LoadOp, StoreOp, memory_shape
from kopt.dialects.tile.types import TileType, tile_type

#: Start and step of lane numbers after an op with a number, either way round where it commutes.
_ARITHMETIC: dict[str, Callable[[int, int, int], tuple[int, int]]] = {
    "add": lambda start, step, number: (start + number, step),
    "sub": lambda start, step, number: (start - number, step),
    "mul": lambda start, step, number: (start * number, step * number),
}
#: Lane numbers are kept below this, so that no type of theirs wraps; the types narrower than it are left alone.
_BITS = 32


def _of_lane_numbers(op: ElementwiseOp) -> Replacement:
    """Lane numbers plus, minus or times a number are lane numbers."""
    compute = _ARITHMETIC[op.ROW.name]
    first, second = op.inputs
    if constant(first) is not None and op.ROW.name != "sub":
        first, second = second, first
    lanes, number = first.owner, constant(second)
    if not isinstance(lanes, ArangeOp) or not isinstance(number, int):
        return None
    start, step = compute(lanes.start.data, lanes.step.data, number)
    return _arange(start, step, op.result.type)


def _cast_lane_numbers(op: CastOp) -> Replacement:
    """Lane numbers of another width are lane numbers."""
    lanes = op.input.owner
    return _arange(lanes.start.data, lanes.step.data, op.result.type) if isinstance(lanes, ArangeOp) else None


def _arange(start: int, step: int, type: Attribute) -> ArangeOp | None:
    """Lane numbers of a type that holds them all."""
    assert isinstance(type, TileType)
    element = type.element_type
    if not isinstance(element, IntegerType) or element.width.data < _BITS:
        return None
    last = start + step * (type.shape[0] - 1)
    return ArangeOp(start, step, type) if max(abs(start), abs(last)) < 1 << (_BITS - 1) else None


def _index_by_lane_numbers(op: LoadOp | StoreOp) -> Replacement:
    """One index of lane numbers is a slice."""
    positions = [position for position, entry in enumerate(op.entries) if is_gather(entry)]
    if len(positions) != 1:
        return None
    (position,) = positions
    extent = memory_shape(op.memory.type)[position]
    found = _slice(op.entries[position], extent)
    if found is None:
        return None
    entries = [found if number == position else entry for number, entry in enumerate(op.entries)]
    return op.with_access(entries, op.mask)


def every_lane(op: LoadOp | StoreOp | RmwOp | CasOp) -> Replacement:
    """A mask that names every lane."""
    if op.mask is None or constant(op.mask) in (None, 0):
        return None
    return op.with_access(op.entries, None)


def _no_lanes(op: LoadOp | StoreOp) -> Replacement:
    """A mask that names no lane."""
    if op.mask is None or constant(op.mask) != 0:
        return None
    if isinstance(op, StoreOp):
        return ()
    return None if op.pad is not None else FullOp(0 if op.other is None else op.other, tile_type(op.result))


def _slice(entry: Entry, extent: int) -> Entry | None:
    """The slice whose elements lane numbers name, in order; None where there is none or it leaves the array."""
    op = entry.owner if isinstance(entry, SSAValue) else None
    if not isinstance(op, ArangeOp):
        return None
    type = tile_type(op.result)
    (dim,) = type.dims.data
    start, step, size = op.start.data, op.step.data, dim.size.data
    stop = start + step * (size - 1) + 1
    if dim.tag.data or size == 0 or start < 0 or step < 1 or stop > extent:
        return None
    return ALL if (start, step, stop) == (0, 1, extent) else SliceAttr(start, stop, step)


RULES: dict[type[Operation], tuple[Rule, ...]] = {
    **{ELEMENTWISE[name]: (_of_lane_numbers,) for name in _ARITHMETIC},
    CastOp: (_cast_lane_numbers,),
    LoadOp: (every_lane, _no_lanes, _index_by_lane_numbers),
    StoreOp: (every_lane, _no_lanes, _index_by_lane_numbers),
}
