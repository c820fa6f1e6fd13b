"""Which arrays a loop may stream: copied block by block, by DMAs, while the block before is computed with or leaves.

Pure. Mosaic copies blocks whose last two dimensions start at multiples of 8 rows (32 of 8-bit elements) and 128 lanes
and are whole tiles, 8 rows (more for narrower elements) by 128 lanes, or the whole dimension. Of arrays of one
dimension they start at multiples of 128 elements (more of narrower ones), and are that many.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from xdsl.dialects.builtin import FixedBitwidthType, IndexType, MemRefType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import is_side_effect_free

from kopt.analysis.alignment import copied_multiple, multiple
from kopt.analysis.linear import at_most, begin, first_element, linear
from kopt.analysis.ranges import binding
from kopt.analysis.windows import Window
from kopt.dialects.tile import ForOp, GridOp, LoadOp, RangeType, StoreOp, TileType, is_gather
from kopt.dialects.tile.index_list import AllAttr, Entry

#: Arrays up to this size come into the chip's memory as a whole, though a loop may visit a part of them only.
_WHOLE_BYTES = 1024 * 1024
#: The attribute that says where an access finds its array.
SPACE = "space"


def streams(window: Window) -> bool:
    """Whether every access of an array is a load that walks with a loop of schedule ``fori``, in blocks DMAs take."""
    return not window.stores and bool(window.loads) and all(_load_streams(load, window) for load in window.loads)


def _load_streams(load: LoadOp, window: Window) -> bool:
    loop = load.parent_op()
    if not isinstance(loop, ForOp) or not _is_streaming(loop):
        return False
    return any(walks(entry, loop) for entry in load.entries) and _is_copied(load, window)


def _is_copied(access: LoadOp | StoreOp, window: Window, padded: bool = False) -> bool:
    """Whether DMAs copy the block of an access, from or to an array that is ``padded`` to hold its last block."""
    type = block_of(access)
    if type.rank < min(2, len(access.entries)) or isinstance(access, LoadOp) and access.mask is not None:
        return False
    rank, shape = len(access.entries), window.type.get_shape()
    multiples = [(multiple(window.type, n), copied_multiple(window.type, n)) for n in range(rank)]
    return all(
        _fits(entry, *multiples[n], None if padded else shape[n], n >= rank - 2)
        for n, entry in enumerate(access.entries)
    )


def block_of(access: LoadOp | StoreOp) -> TileType:
    """The type of the block that an access reads or writes."""
    type = (access.result if isinstance(access, LoadOp) else access.value).type
    assert isinstance(type, TileType)
    return type


def sends(window: Window) -> bool:
    """Whether an array is written block by block by DMAs: every access walks with a loop of schedule ``fori``, in
    blocks that DMAs take, and the loop's bounds are computed."""
    if not window.stores or window.atomics:
        return False
    accesses = (*window.loads, *window.stores)
    return all(_walks_streamed(access) and _is_copied(access, window, padded=True) for access in accesses)


def fetches(window: Window) -> bool:
    """Whether an array is only read, once a cell each, in blocks at computed places that DMAs take; not by a loop."""
    if window.written or not window.loads or not any(dim.dynamic for dim in window.dims) or streams(window):
        return False
    return all(_is_copied(load, window) and not _is_repeated(load) for load in window.loads)


def _is_repeated(op: Operation) -> bool:
    return any(binding(loop.range).trips != 1 for loop in loops_around(op))


def is_at_computed(load: LoadOp, window: Window) -> bool:
    """Whether a loaded number, or arithmetic that no window follows, tells where a load's block is."""
    places = [entry for entry, dim in zip(load.entries, window.dims, strict=True) if dim.dynamic]
    return any(first_element(entry).is_computed for entry in places if isinstance(entry, SSAValue))


def is_large(type: Attribute) -> bool:
    """Whether an array is too large to come into the chip's memory as a whole, where parts of it are asked for only."""
    return array_bytes(type) > _WHOLE_BYTES


def array_bytes(type: Attribute) -> int:
    """The bytes of an array."""
    assert isinstance(type, MemRefType) and isinstance(type.element_type, FixedBitwidthType)
    return prod(type.get_shape()) * type.element_type.bitwidth // 8


def stays_in_hbm(window: Window) -> bool:
    """Whether an array's blocks are fetched, and sent back, one by one."""
    return any(SPACE in access.attributes for access in (*window.loads, *window.stores))


def moves_rows(window: Window) -> bool:
    """Whether DMAs move all that is read and written of an array, row by row, by computed numbers or one by one."""
    accesses = (*window.loads, *window.stores)
    rows = all(any(map(is_gather, access.entries)) for access in accesses)
    return (rows or stays_in_hbm(window)) and not window.atomics


def _walks_streamed(access: LoadOp | StoreOp) -> bool:
    """Whether an access moves with a loop around it that streams a part of its arrays."""
    loops = [loop for loop in loops_around(access) if is_computed(loop) and _is_streaming(loop)]
    return any(walks(entry, loop) for loop in loops for entry in access.entries)


def _is_streaming(loop: ForOp) -> bool:
    return loop.schedule is not None and loop.schedule.data == "fori"


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


def _fits(entry: Entry, begins: int, sizes: int, extent: int | None, in_tile: bool) -> bool:
    """Whether an entry's blocks begin at multiples of one number, and are a multiple of another."""
    if isinstance(entry, AllAttr):
        return True
    if isinstance(entry, int):
        return not in_tile
    if not isinstance(entry, SSAValue):
        return False
    if isinstance(entry.type, RangeType):
        starts_well = begin(entry).divisor % begins == 0
        return starts_well and entry.type.size % sizes == 0 and (not in_tile or _stays(entry, extent))
    return isinstance(entry.type, IndexType) and not in_tile


def _stays(entry: SSAValue, extent: int | None) -> bool:
    """Whether all blocks lie in the extent, if one is given, or in it rounded up to a block where they begin at their
    multiples."""
    size, last = binding(entry).size, at_most(begin(entry))
    if last is not None:
        return extent is None or last + size <= extent
    return begin(entry).divisor % size == 0


def stays_inside_array(load: LoadOp) -> bool:
    """Whether the block of a load is known to lie inside its array, or in it rounded up to a block."""
    assert isinstance(load.memory.type, MemRefType)
    return all(map(_is_inside, load.entries, load.memory.type.get_shape()))


def _is_inside(entry: Entry, extent: int) -> bool:
    if not isinstance(entry, SSAValue):
        return True
    if isinstance(entry.type, RangeType):
        return _stays(entry, extent)
    return isinstance(entry.type, IndexType) and not linear(entry).is_computed


def is_computed(loop: ForOp) -> bool:
    """Whether a loop's bounds are only known when it runs."""
    return any(isinstance(bound, SSAValue) for bound in loop.bounds)


def walks_computed(window: Window) -> bool:
    """Whether every access of an array walks with a loop of computed bounds, which visits a part of it or nothing."""
    return all(_in_computed(access) for access in (*window.loads, *window.stores)) and not window.atomics


def _in_computed(access: LoadOp | StoreOp) -> bool:
    loops = [loop for loop in loops_around(access) if is_computed(loop)]
    return any(_moves(entry, loop) for loop in loops for entry in access.entries)


def _moves(entry: Entry, loop: ForOp) -> bool:
    """Whether an entry's blocks move with a loop, wherever inside it they are computed."""
    if walks(entry, loop):
        return True
    return isinstance(entry, SSAValue) and isinstance(entry.type, RangeType) and loop.range in begin(entry).symbols


def loops_around(op: Operation) -> Iterator[ForOp]:
    """The loops of its cell that an operation is in, innermost first."""
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, GridOp):
        if isinstance(parent, ForOp):
            yield parent
        parent = parent.parent_op()


def streamed_extents(window: Window) -> tuple[int, ...]:
    """The extents that make every streamed block lie inside the array."""
    extents = list(window.type.get_shape())
    for access in (*window.loads, *window.stores):
        for number, entry in enumerate(access.entries):
            if isinstance(entry, SSAValue) and isinstance(entry.type, RangeType):
                extents[number] = max(extents[number], _reach(entry, window.type.get_shape()[number]))
    return tuple(extents)


def _reach(entry: SSAValue, extent: int) -> int:
    """Where the last block ends: of blocks that begin anywhere one may begin at the last element."""
    size, first = binding(entry).size, begin(entry)
    last = at_most(first)
    if last is not None:
        return last + size
    return -(-extent // size) * size if first.divisor % size == 0 else extent + size - 1
