"""Which arrays a loop may stream: copied block by block, by DMAs, while the block before is computed with or leaves.

Pure. Mosaic copies blocks whose last two dimensions start at multiples of 8 rows (32 of 8-bit elements) and 128 lanes
and are whole tiles, 8 rows (more for narrower elements) by 128 lanes, or the whole dimension. Of arrays of one
dimension they start at multiples of 128 elements (more of narrower ones), and are that many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod

from xdsl.dialects.builtin import FixedBitwidthType, IndexType, MemRefType
from xdsl.ir import Attribute, Operation, SSAValue

from kopt.analysis.alignment import copied_multiple, multiple
from kopt.analysis.effects import is_side_effect_free
from kopt.analysis.inside import begins_inside
from kopt.analysis.windows import Window
from kopt.dialects.tile import ForOp, GridOp, LoadOp, RangeType, StoreOp, TileType, array_type, tile_type
from kopt.dialects.tile.index_list import AllAttr, Entry, is_range
from kopt.ir.atoms import BlockNumber
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.index_expr import IndexExpr
from kopt.ir.ranges import binding
from kopt.open_extents import UNBOUNDED, is_open, largest, open_extents, padded
from kopt.targets.budget import Budget

#: The attribute that says where an access finds its array.
SPACE = "space"


#: What a loop's schedule is, or would be.
Schedules = Callable[[ForOp], str | None]


def written_schedule(loop: ForOp) -> str | None:
    """The schedule that the IR gives a loop."""
    return None if loop.schedule is None else loop.schedule.kind


def streams(window: Window, schedules: Schedules = written_schedule) -> bool:
    """Whether every access of an array is a load, in blocks DMAs take, that walks with a loop that prefetches."""
    if window.stores or not window.loads:
        return False
    return all(_load_streams(load, window, schedules) for load in window.loads)


def _load_streams(load: LoadOp, window: Window, schedules: Schedules) -> bool:
    loop = load.parent_op()
    if not isinstance(loop, ForOp) or schedules(loop) != "prefetch":
        return False
    return any(walks(entry, loop) for entry in load.entries) and is_copied(load, window)


def is_copied(access: LoadOp | StoreOp, window: Window, padded: bool = False) -> bool:
    """Whether DMAs copy the block of an access, from or to an array that is ``padded`` to hold its last block."""
    type = block_of(access)
    if type.rank < min(2, len(access.entries)) or isinstance(access, LoadOp) and access.mask is not None:
        return False
    rank, shape = len(access.entries), window.type.get_shape()
    multiples = [(multiple(window.type, n), copied_multiple(window.type, n)) for n in range(rank)]
    return all(
        _fits(entry, *multiples[n], shape[n] if n >= rank - 2 else None, padded, window.analysis)
        for n, entry in enumerate(access.entries)
    )


def block_of(access: LoadOp | StoreOp) -> TileType:
    """The type of the block that an access reads or writes."""
    return tile_type(access.result if isinstance(access, LoadOp) else access.value)


def sends(window: Window, schedules: Schedules = written_schedule) -> bool:
    """Whether an array is written block by block by DMAs: every access walks with a loop of schedule ``prefetch``, in
    blocks that DMAs take, and the loop's bounds are computed."""
    if not window.stores or window.atomics:
        return False
    accesses = (*window.loads, *window.stores)
    return all(_walks_streamed(access, schedules) and is_copied(access, window, padded=True) for access in accesses)


def fetches(window: Window, schedules: Schedules = written_schedule) -> bool:
    """Whether an array is only read, once a cell each, in blocks at computed places that DMAs take; not by a loop."""
    computed = [n for n, dim in enumerate(window.dims) if dim.dynamic and not _is_by_grid(window, n, schedules)]
    if window.written or not window.loads or not computed:
        return False
    if streams(window, schedules):
        return False
    return all(is_copied(load, window) and not _is_repeated(load, schedules) for load in window.loads)


def _is_by_grid(window: Window, position: int, schedules: Schedules) -> bool:
    """Whether loops that are to be dimensions of the grid tell where all blocks are along a dimension."""
    return all(_follows_grid(window, load.entries[position], schedules) for load in window.loads)


def _follows_grid(window: Window, entry: Entry, schedules: Schedules) -> bool:
    if not isinstance(entry, SSAValue) or not is_range(entry):
        return False
    first = window.analysis.first(entry)
    owners = [binding(atom.name).owner for atom in first.terms if isinstance(atom, BlockNumber)]  # pyright: ignore
    loops = [owner for owner in owners if not isinstance(owner, GridOp)]
    hoisted = bool(loops) and all(isinstance(loop, ForOp) and schedules(loop) == "grid" for loop in loops)
    return hoisted and first.is_affine and first.range.divisor % binding(entry).size == 0


def _is_repeated(op: Operation, schedules: Schedules) -> bool:
    loops = [loop for loop in loops_around(op) if schedules(loop) != "grid"]
    return any(binding(loop.range).trips != 1 for loop in loops)


def is_at_computed(load: LoadOp, window: Window) -> bool:
    """Whether a loaded number, or arithmetic that no window follows, tells where a load's block is."""
    places = [entry for entry, dim in zip(load.entries, window.dims, strict=True) if dim.dynamic]
    return not all(window.analysis.first(entry).is_affine for entry in places if isinstance(entry, SSAValue))


def is_large(type: Attribute) -> bool:
    """Whether an array is too large to come into the chip's memory as a whole, where parts of it are asked for only."""
    return Budget.is_large(array_bytes(type))


def array_bytes(type: Attribute) -> int:
    """The bytes of an array: more than any memory holds, where its extents differ from call to call."""
    assert isinstance(type, MemRefType) and isinstance(type.element_type, FixedBitwidthType)
    if open_extents(type.get_shape()):
        return UNBOUNDED
    return prod(type.get_shape()) * type.element_type.bitwidth // 8


def stays_in_hbm(window: Window) -> bool:
    """Whether an array's blocks are fetched, and sent back, one by one."""
    return any(SPACE in access.attributes for access in (*window.loads, *window.stores))


def moves_rows(window: Window) -> bool:
    """Whether DMAs move all that is read and written of an array, row by row, by computed numbers or one by one."""
    accesses = (*window.loads, *window.stores)
    rows = all(access.gathers for access in accesses)
    return (rows or stays_in_hbm(window)) and not window.atomics


def _walks_streamed(access: LoadOp | StoreOp, schedules: Schedules) -> bool:
    """Whether an access moves with a loop around it that streams a part of its arrays."""
    loops = [loop for loop in loops_around(access) if is_computed(loop) and schedules(loop) == "prefetch"]
    return any(walks(entry, loop) for loop in loops for entry in access.entries)


def walks(entry: Entry, loop: ForOp) -> bool:
    """Whether an entry moves with a loop, in a way that can be computed a visit ahead."""
    if not isinstance(entry, SSAValue):
        return False
    return entry is loop.range or bool(moving_ops(entry, loop))


def moving_ops(value: SSAValue, loop: ForOp) -> frozenset[Operation]:
    """The ops of a loop's body that compute a value from its range; none where one of them cannot be repeated.

    Numbers are loaded a visit ahead as well, such as those of pages, ``keys[table[s, tile.id]]``.
    """
    moving = _moving(value, loop)
    return moving if all(_can_be_repeated(op, loop) for op in moving) else frozenset()


def _can_be_repeated(op: Operation, loop: ForOp) -> bool:
    """Whether an op gives the same a visit ahead: it computes, or loads a number of what is only read.

    The number of the first visit is loaded before it is known whether there is one, so its place has to be known.
    """
    if isinstance(op, LoadOp):
        is_number = block_of(op).rank == 0 and op.mask is None
        return is_number and isinstance(loop.bounds[0], int) and _is_only_read(op.memory)
    return is_side_effect_free(op) and not op.regions


def _is_only_read(memory: SSAValue) -> bool:
    """Whether a launch only loads from an array; a plan that names it does nothing to it."""
    return all(isinstance(use.operation, LoadOp | GridOp) for use in memory.uses)


def _moving(value: SSAValue, loop: ForOp) -> frozenset[Operation]:
    """The ops of a loop's body that lie between its range and a value."""
    body, range = loop.body.block, loop.range
    users: dict[Operation, list[Operation]] = {}
    using_range: list[Operation] = []
    owner = value.owner
    left = [owner] if isinstance(owner, Operation) and owner.parent is body else []
    seen = {*left}
    while left:
        op = left.pop()
        for operand in op.operands:
            owner = operand.owner
            if operand is range:
                using_range.append(op)
            elif isinstance(owner, Operation) and owner.parent is body:
                users.setdefault(owner, []).append(op)
                left += [] if owner in seen else [owner]
                seen.add(owner)
    found: set[Operation] = set()
    while using_range:
        if (op := using_range.pop()) not in found:
            found.add(op)
            using_range += users.get(op, ())
    return frozenset(found)


def _fits(entry: Entry, begins: int, sizes: int, extent: int | None, padded: bool, analysis: IndexAnalysis) -> bool:
    """Whether an entry's blocks begin at multiples of one number, and are a multiple of another; and stay in the extent
    of a dimension of a tile of memory, as it is or ``padded``. Of other dimensions that is not given."""
    if isinstance(entry, AllAttr):
        return True
    if isinstance(entry, int):
        return extent is None
    if not isinstance(entry, SSAValue):
        return False
    if isinstance(entry.type, RangeType):
        starts_well = analysis.begin(entry).divisor % begins == 0
        inside = extent is None or _stays(entry, extent + entry.type.size - 1 if padded else extent, analysis)
        return starts_well and entry.type.size % sizes == 0 and inside
    return isinstance(entry.type, IndexType) and extent is None


def _stays(entry: SSAValue, extent: int, analysis: IndexAnalysis) -> bool:
    """Whether all blocks lie in the extent, or in it rounded up to a block where they begin at their multiples."""
    size, first = binding(entry).size, analysis.begin(entry)
    return ends_by(first, size, extent) or first.number is None and first.divisor % size == 0


def ends_by(first: IndexExpr, size: int, extent: int) -> bool:
    """Whether blocks of a size are known to end inside an extent."""
    last = first.range.high
    return last is not None and last + size <= extent


def stays_inside_array(load: LoadOp, analysis: IndexAnalysis) -> bool:
    """Whether the block of a load is known to lie inside its array, or in it rounded up to a block."""
    pairs = zip(load.entries, array_type(load.memory).get_shape(), strict=True)
    return all(_is_inside(entry, extent, analysis) for entry, extent in pairs)


def _is_inside(entry: Entry, extent: int, analysis: IndexAnalysis) -> bool:
    if not isinstance(entry, SSAValue):
        return True
    if isinstance(entry.type, RangeType):
        return _stays(entry, extent, analysis)
    return isinstance(entry.type, IndexType) and analysis.expr(entry).is_affine


def is_computed(loop: ForOp) -> bool:
    """Whether a loop's bounds are only known when it runs."""
    return any(isinstance(bound, SSAValue) for bound in loop.bounds)


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
                reach = _reach(entry, window.type.get_shape()[number], window.analysis)
                extents[number] = largest([extents[number], reach])
    return tuple(extents)


def _reach(entry: SSAValue, extent: int, analysis: IndexAnalysis) -> int:
    """Where the last block ends: of blocks that begin anywhere one may begin at the last element."""
    size, first = binding(entry).size, analysis.begin(entry)
    if is_open(extent):
        is_inside = first.divisor % size == 0 and begins_inside(entry, extent, analysis)
        return padded(extent, size) if is_inside else extent.needed()
    end = -(-extent // size) * size if first.divisor % size == 0 else extent + size - 1
    return end if first.range.high is None else min(end, first.range.high + size)
