"""Which arrays a loop may stream: copied block by block, by DMAs, while the block before is computed with.

Pure. Mosaic copies blocks whose last two dimensions start at multiples of 8 rows (32 of 8-bit elements) and 128 lanes
and are whole tiles, 8 rows (more for narrower elements) by 128 lanes, or the whole dimension.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Operation, SSAValue
from xdsl.traits import is_side_effect_free

from kopt.analysis.alignment import copied_multiple, multiple
from kopt.analysis.linear import at_most, begin
from kopt.analysis.ranges import binding
from kopt.analysis.windows import Window
from kopt.dialects.tile import ForOp, GridOp, LoadOp, RangeType, StoreOp, TileType
from kopt.dialects.tile.index_list import AllAttr, Entry


def streams(window: Window) -> bool:
    """Whether every access of an array is a load that walks with a loop of schedule ``fori``, in blocks DMAs take."""
    return not window.stores and bool(window.loads) and all(_load_streams(load, window) for load in window.loads)


def _load_streams(load: LoadOp, window: Window) -> bool:
    loop = load.parent_op()
    type = load.result.type
    if not isinstance(loop, ForOp) or loop.schedule is None or loop.schedule.data != "fori":
        return False
    if not isinstance(type, TileType) or type.rank < 2 or load.mask is not None:
        return False
    if not any(walks(entry, loop) for entry in load.entries):
        return False
    rank, shape = len(load.entries), window.type.get_shape()
    multiples = [(multiple(window.type, n), copied_multiple(window.type, n)) for n in range(rank)]
    return all(_fits(entry, *multiples[n], shape[n], n >= rank - 2) for n, entry in enumerate(load.entries))


def walks(entry: Entry, loop: ForOp) -> bool:
    """Whether an entry moves with a loop, in a way that can be computed a visit ahead."""
    if not isinstance(entry, SSAValue):
        return False
    return entry is loop.range or bool(moving_ops(entry, loop))


def moving_ops(value: SSAValue, loop: ForOp) -> frozenset[Operation]:
    """The ops of a loop's body that compute a value from its range; none where one of them cannot be repeated."""
    moving: set[SSAValue] = {loop.range}
    ops: list[Operation] = []
    for op in loop.body.block.ops:
        if any(operand in moving for operand in op.operands):
            moving.update(op.results)
            ops.append(op)
    needed = _needed(value, ops)
    return needed if all(is_side_effect_free(op) and not op.regions for op in needed) else frozenset()


def _needed(value: SSAValue, ops: Sequence[Operation]) -> frozenset[Operation]:
    """Those of some ops in order that a value is computed by."""
    wanted, found = {value}, set()
    for op in reversed(ops):
        if not wanted.isdisjoint(op.results):
            wanted.update(op.operands)
            found.add(op)
    return frozenset(found)


def _fits(entry: Entry, begins: int, sizes: int, extent: int, in_tile: bool) -> bool:
    """Whether an entry's blocks begin at multiples of one number, and are a multiple of another."""
    if isinstance(entry, AllAttr):
        return True
    if isinstance(entry, int):
        return not in_tile
    if not isinstance(entry, SSAValue):
        return False
    if isinstance(entry.type, RangeType):
        starts_well = begin(entry).divisor % begins == 0
        return starts_well and entry.type.size % sizes == 0 and _stays(entry, extent)
    return isinstance(entry.type, IndexType) and not in_tile


def _stays(entry: SSAValue, extent: int) -> bool:
    """Whether all blocks lie in the extent, or in it rounded up to a block where they begin at their multiples."""
    size, last = binding(entry).size, at_most(begin(entry))
    if last is not None:
        return last + size <= extent
    return begin(entry).divisor % size == 0


def is_computed(loop: ForOp) -> bool:
    """Whether a loop's bounds are only known when it runs."""
    return any(isinstance(bound, SSAValue) for bound in loop.bounds)


def walks_computed(window: Window) -> bool:
    """Whether every access of an array walks with a loop of computed bounds, which visits a part of it or nothing."""
    return all(_in_computed(access) for access in (*window.loads, *window.stores)) and not window.atomics


def _in_computed(access: LoadOp | StoreOp) -> bool:
    loop = access.parent_op()
    while loop is not None and not isinstance(loop, GridOp):
        if isinstance(loop, ForOp) and is_computed(loop) and any(walks(entry, loop) for entry in access.entries):
            return True
        loop = loop.parent_op()
    return False


def streamed_extents(window: Window) -> tuple[int, ...]:
    """The extents that make every streamed block lie inside the array."""
    extents = list(window.type.get_shape())
    for load in window.loads:
        for number, entry in enumerate(load.entries):
            if isinstance(entry, SSAValue) and isinstance(entry.type, RangeType) and at_most(begin(entry)) is None:
                size = entry.type.size
                extents[number] = max(extents[number], -(-window.type.get_shape()[number] // size) * size)
    return tuple(extents)
