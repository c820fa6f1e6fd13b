"""How much VMEM a launch's grid takes: its blocks, twice each for the pipeline, and its large temporaries. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from math import prod

from xdsl.dialects.builtin import FixedBitwidthType
from xdsl.ir import Attribute, Block, Operation, SSAValue, Use

from kopt.analysis.row_copies import copy_unit
from kopt.analysis.streaming import (
    Schedules,
    block_of,
    moves_rows,
    sends,
    streams,
)
from kopt.analysis.windows import ACCESSES, Window, ordered, unordered_windows
from kopt.cached_property import cached_property
from kopt.dialects.tile import (
    Access,
    BroadcastOp,
    CarryingLoop,
    ForOp,
    GridOp,
    LoadOp,
    RangeType,
    StoreOp,
    TakeAlongOp,
    TileType,
    array_type,
    tile_type,
)
from kopt.dialects.tile.index_list import Entry
from kopt.ir.from_ssa import IndexAnalysis
from kopt.targets.budget import Budget
from kopt.targets.tiling import register_bytes, round_up, sublanes, window_bytes
from kopt.walk import walk

#: Blocks have the sizes of their types.
_OWN: Mapping[str, int] = {}


@dataclass(frozen=True)
class GridMemory:
    """The windows of one grid before conversion, and its bytes of VMEM under each schedule of its loops.

    The grid stays as it is meanwhile. ``analysis``, in which blocks are numbered, remembers what others have asked for.
    """

    grid: GridOp
    analysis: IndexAnalysis = field(default_factory=lambda: IndexAnalysis(numbered=True))

    def of_windows(self, hoisted: Collection[SSAValue] = ()) -> int:
        """Where all arrays come by windows, and the loops over the ``hoisted`` ranges are dimensions of the grid."""
        return _window_bytes(self.windows.values(), hoisted) + self._temporaries

    def scheduled(self, schedules: Schedules) -> int:
        """Where loops have schedules: what they stream and send counts by its blocks."""
        total = 0
        for window in self.windows.values():
            if streams(window, schedules) or sends(window, schedules):
                total += 2 * sum(_accessed_bytes(access, window.bits) for access in (*window.loads, *window.stores))
            else:
                total += 2 * window_bytes(window.block, window.bits)
        return total + self._temporaries

    def of_blocks(self, left: Collection[Operation] = ()) -> int:
        """Where accesses have buffers of their own blocks, or all of an array its window; some are ``left`` out."""
        total = 0
        for window in self.windows.values():
            accesses = [op for op in (*window.loads, *window.stores) if op not in left]
            blocks = sum(_accessed_bytes(access, window.bits) for access in accesses)
            total += 2 * min(blocks, window_bytes(window.block, window.bits))
        return total + self._temporaries

    @cached_property
    def unordered(self) -> Mapping[SSAValue, Window]:
        """The windows of all arrays, whatever the order of the grid's dimensions."""
        return unordered_windows(self.grid, _memories(self.grid), self.analysis)

    @cached_property
    def windows(self) -> Mapping[SSAValue, Window]:
        """The windows of all arrays, in the order that the grid's dimensions have."""
        return ordered(self.unordered, self.grid)

    @cached_property
    def _temporaries(self) -> int:
        return temporaries(self.grid)


def _memories(grid: GridOp) -> set[SSAValue]:
    """The arrays that cells of a grid access."""
    return {op.memory for op in walk(grid, *ACCESSES)}


def _window_bytes(seen: Iterable[Window], hoisted: Collection[SSAValue]) -> int:
    """Bytes of the buffers of windows.

    What atomic updates accumulate into has a 32-bit block besides. Of an array whose rows DMAs move, the buffers of
    these count, which its accesses of one size share. What a ``hoisted`` loop walks counts by one block of it.
    """
    total = 0
    for window in seen:
        if moves_rows(window):
            total += sum({_moved_bytes(access) for access in (*window.loads, *window.stores)})
            continue
        pairs = enumerate(window.dims)
        block = [_lanes(dim.range or _hoisted_range(window, position, hoisted), dim.size) for position, dim in pairs]
        total += 2 * window_bytes(block, window.bits)
        total += window_bytes(block, 32) if window.atomics else 0
    return total


def _accessed_bytes(access: LoadOp | StoreOp, bits: int) -> int:
    return window_bytes(block_of(access).shape, bits)


def _hoisted_range(window: Window, position: int, hoisted: Collection[SSAValue]) -> SSAValue | None:
    """The range of a hoisted loop by which all accesses of a window index a dimension."""
    entries = {op.entries[position] for op in (*window.loads, *window.stores, *window.atomics)}
    (entry, *others) = entries
    return entry if isinstance(entry, SSAValue) and not others and entry in hoisted else None


def _lanes(range: SSAValue | None, size: int) -> int:
    return range.type.size if range is not None and isinstance(range.type, RangeType) else size


def _moved_bytes(access: Access) -> int:
    """The buffer that DMAs of rows fill or send: a block for each number where several are."""
    type = array_type(access.memory)
    rows = [entry.type for entry in access.indices if isinstance(entry.type, TileType)]
    count = max((prod(numbers.shape) for numbers in rows), default=1)
    bits, rank = _bits(type.element_type), type.get_num_dims()
    dims = enumerate(zip(access.entries, type.get_shape(), strict=True))
    block = [_moved_lanes(entry, extent, copy_unit(dim - rank, bits)) for dim, (entry, extent) in dims]
    if bits < 32 and rank > 1:
        block[-2] = round_up(block[-2], sublanes(bits))
    return window_bytes([count, *block], bits)


def _moved_lanes(entry: Entry, extent: int, unit: int) -> int:
    """What a DMA moves of one dimension: blocks that divide it, of whole tiles (`kopt.analysis.row_copies`)."""
    if isinstance(entry, SSAValue) and isinstance(entry.type, RangeType):
        size = entry.type.size
        return size if size and extent % size == size % unit == 0 else extent
    return 1 if isinstance(entry, int | SSAValue) else extent


def temporaries(grid: GridOp, sizes: Mapping[str, int] = _OWN, repeated: bool = True) -> int:
    """Bytes of the values that are live at once and too large for registers, at the widest place of a body.

    ``sizes`` are those of blocks by their tags, where they are other than in the types. What is ``repeated`` by a
    broadcast mostly stays one register: limits count it, choices of sizes do not.
    """
    bodies = [(op, region.block) for op in _loops(grid) for region in op.regions]
    live = (_live_bytes(body.ops, sizes, repeated) + _overlapping_bytes(op, body, sizes) for op, body in bodies)
    return max(live, default=0)


def _overlapping_bytes(op: Operation, body: Block, sizes: Mapping[str, int]) -> int:
    """The largest value of a body whose visits are unrolled: that of the next visit is alive besides."""
    if not isinstance(op, ForOp) or op.schedule is None or op.schedule.data.unroll == 1:
        return 0
    found = (_value_bytes(result.type, sizes) for inner in body.ops for result in inner.results)
    return max(filter(Budget.spills, found), default=0)


def _loops(grid: GridOp) -> Iterable[Operation]:
    return walk(grid, GridOp, CarryingLoop)


def _live_bytes(ops: Iterable[Operation], sizes: Mapping[str, int], repeated: bool) -> int:
    """The largest sum of sizes of values between their definition and their last use, and of what an op makes besides,
    in one block."""
    order = list(ops)
    position = {op: number for number, op in enumerate(order)}
    changes = [0] * (len(order) + 1)
    for op in order:
        changes[position[op]] += (inside := _inside_bytes(op, sizes))
        changes[position[op] + 1] -= inside
        for result in op.results if repeated or not isinstance(op, BroadcastOp) else ():
            size = _value_bytes(result.type, sizes)
            if Budget.spills(size):
                last = max((user_position(use.operation, position) for use in result.uses), default=position[op])
                changes[position[op]] += size
                changes[last + 1] -= size
    live = widest = 0
    for change in changes:
        live += change
        widest = max(widest, live)
    return widest


def _inside_bytes(op: Operation, sizes: Mapping[str, int]) -> int:
    """What an op makes on its way: to take rows of a table, the numbers of all are compared with each that is taken."""
    if not isinstance(op, TakeAlongOp) or op.rows is None:
        return 0
    rows, table = tile_type(op.rows), tile_type(op.input)
    compared = register_bytes([*_shape(rows, sizes), _shape(table, sizes)[0]], 32)
    return compared if Budget.spills(compared) else 0


def _shape(type: TileType, sizes: Mapping[str, int]) -> list[int]:
    """The lanes of a tile's dimensions under other sizes."""
    return [sizes.get(tag, size) for tag, size in zip(type.tags, type.shape, strict=True)]


def user_position(op: Operation | None, position: Mapping[Operation, int]) -> int:
    """Where an operation, or the one of the block that holds it, stands."""
    while op is not None and op not in position:
        op = op.parent_op()
    return position[op] if op is not None else 0


def first_user(uses: Iterable[Use], position: Mapping[Operation, int]) -> Operation:
    """The operation of a block that uses a value first, itself or inside of it."""
    return [*position][min(user_position(use.operation, position) for use in uses)]


def _value_bytes(type: Attribute, sizes: Mapping[str, int]) -> int:
    if not isinstance(type, TileType) or type.rank == 0:
        return 0
    return register_bytes(_shape(type, sizes), 32)


def _bits(type: Attribute) -> int:
    assert isinstance(type, FixedBitwidthType)
    return max(8, type.bitwidth)
