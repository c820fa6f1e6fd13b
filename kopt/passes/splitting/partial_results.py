"""Cells that reduce a part of what one cell reduced, and three ways to combine their results."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import FixedBitwidthType, MemRefType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.combiners import Combination, Placed, Rescaled
from kopt.analysis.reduction_loops import ReductionLoop, stores_that_may_wait
from kopt.dialects.atomic import RmwOp
from kopt.dialects.builder import Builder
from kopt.dialects.formats.integers import int_array
from kopt.dialects.host import AllocOp
from kopt.dialects.tile import (
    ALL,
    COMBINING_OPS,
    ELEMENTWISE,
    BeginOp,
    CountOp,
    EndOp,
    Entry,
    ForOp,
    FullOp,
    GridOp,
    IdOp,
    LoadOp,
    RangeType,
    StoreOp,
    TileType,
    YieldOp,
    neutral,
    tile_type,
)
from kopt.ir.ranges import binding
from kopt.passes.cloning import clone_with_new_tags
from kopt.passes.replacing import replace, replacing
from kopt.passes.retyping import new_tags
from kopt.passes.splitting.combining import combined


class Partial:
    """A grid whose loop is dealt out to ``splits`` times as many cells, not yet rewritten."""

    def __init__(self, grid: GridOp, found: ReductionLoop, factor: int):
        self.grid = grid
        self.loop = found.loop
        self.combiners = found.combiners
        #: The visits that a part has; None where that is computed, and so differs from cell to cell.
        self.blocks = None if found.trips is None else -(-found.trips // factor)
        self.splits = factor if found.trips is None or self.blocks is None else -(-found.trips // self.blocks)
        for store in reversed(stores_that_may_wait(found.loop)):
            store.detach()
            Rewriter.insert_op(store, InsertPoint.after(found.loop))

    def deal_out(self) -> tuple[SSAValue, Sequence[SSAValue]]:
        """Lets each cell walk its part and do nothing after the loop; gives the range of the parts, and the results."""
        for op in reversed(_after(self.loop)):
            Rewriter.erase_op(op)
        part, bounds = part_of(self.grid, self.loop, self.splits, self.blocks)
        build = Builder(self.loop)
        fills = [self.neutral(number) for number in range(len(self.inits))]
        pairs = zip(self.inits, fills, strict=True)
        inits = [init if fill is None else build.add(FullOp(fill, tile_type(init))) for init, fill in pairs]
        body = Rewriter.move_region_contents_to_new_regions(self.loop.body)
        loop = ForOp(bounds[0], bounds[1], inits, body, attributes=self.loop.attributes)
        build.insert(loop).schedule = self.loop.schedule
        for old, new in zip(self.loop.results, loop.results, strict=True):
            new.name_hint = old.name_hint
        Rewriter.erase_op(self.loop)
        return part, loop.results

    @property
    def inits(self) -> Sequence[SSAValue]:
        """What the loop starts from."""
        return self.loop.inits

    def neutral(self, number: int) -> float | int | None:
        """What a carried value starts from in each part; None of one that starts as it does now."""
        how = self.combiners[number]
        if isinstance(how, Combination):
            return neutral(how.kind, tile_type(self.inits[number]).element_type)
        return 0 if isinstance(how, Rescaled) else None

    def starts_neutral(self, number: int) -> bool:
        """Whether the loop's own initial value is the neutral one."""
        how, init = self.combiners[number], self.inits[number].owner
        if isinstance(how, Placed):
            return True
        alone = isinstance(how, Combination) or self.starts_neutral(how.top)
        return alone and isinstance(init, FullOp) and init.number == self.neutral(number)

    def kinds(self) -> list[str]:
        """The kinds of reductions of values that memory is updated by, each by itself."""
        return [how.kind for how in self.combiners if isinstance(how, Combination)]


def part_of(grid: GridOp, loop: ForOp, splits: int, blocks: int | None) -> tuple[SSAValue, tuple[SSAValue, SSAValue]]:
    """The grid's new last range, which has ``splits`` parts of a loop's visits; where a part begins and ends.

    A part has ``blocks`` visits; where that is None, it is computed for each cell, and the last parts may have none:
    ``begin = lower + part * size``, ``end = min(upper, begin + size)``. Numbers of blocks stay those of the whole loop.
    """
    (lower, upper), size, build = loop.bounds, binding(loop.range).size, Builder(loop)
    if blocks is not None:
        assert isinstance(lower, int) and isinstance(upper, int)
        part = _new_range(grid, lower, upper, blocks * size)
        begin, end = build.add(BeginOp(part)), build.add(EndOp(part))
        count, each = build.index(-(-max(0, upper - lower) // size)), build.index(blocks)
        first = build.add(arith.MuliOp(build.add(IdOp(part)), each))
    else:
        part = _new_range(grid, 0, splits, 1)
        lower, upper = build.index(lower), build.index(upper)
        distance = build.add(arith.MaxSIOp(build.add(arith.SubiOp(upper, lower)), build.index(0)))
        count = build.add(arith.CeilDivSIOp(distance, build.index(size)))
        each = build.add(arith.CeilDivSIOp(count, build.index(splits)), "visits")
        first = build.add(arith.MuliOp(build.add(IdOp(part)), each))
        begin = build.add(arith.AddiOp(lower, build.add(arith.MuliOp(first, build.index(size)))), "part_begin")
        width = build.add(arith.MuliOp(each, build.index(size)))
        end = build.add(arith.MinSIOp(upper, build.add(arith.AddiOp(begin, width))), "part_end")
    _number_as_before(loop, first, count)
    return part, (begin, end)


def _number_as_before(loop: ForOp, first: SSAValue, count: SSAValue) -> None:
    """Numbers of blocks count from the part's begin: ``first`` is before them; ``count`` is that of the whole loop."""
    for op in [use.operation for use in loop.range.uses]:
        if isinstance(op, CountOp):
            replace(op, count)
        elif isinstance(op, IdOp):
            build = Builder(op)
            replace(op, build.add(arith.AddiOp(build.add(IdOp(loop.range)), first)))


def _new_range(grid: GridOp, lower: int, upper: int, size: int) -> SSAValue:
    bounds = grid.bounds
    part = grid.body.block.insert_arg(RangeType(next(new_tags(grid)), size), len(grid.ranges))
    part.name_hint = "part"
    grid.lower = int_array([*(lo for lo, _ in bounds), lower])
    grid.upper = int_array([*(hi for _, hi in bounds), upper])
    return part


def in_place(partial: Partial) -> StoreOp | None:
    """The store after the loop, where it is all that follows and may as well update a neutral output."""
    rest = _after(partial.loop)
    if len(rest) != 1 or not isinstance(rest[0], StoreOp) or len(partial.inits) != 1 or not partial.starts_neutral(0):
        return None
    store = rest[0]
    target = store.memory.owner
    only_use = isinstance(target, AllocOp) and target.fill is None and _is_only_write(store)
    if not only_use or store.value is not partial.loop.results[0] or store.mask is not None:
        return None
    walked = {entry for entry in store.entries if isinstance(entry, SSAValue)}
    own_block = all(range in walked or binding(range).trips == 1 for range in partial.grid.ranges)
    return store if own_block else None


def _is_only_write(store: StoreOp) -> bool:
    """Whether everything else that uses the stored array comes after the grid, in the grid's block."""
    grid = store.parent_op()
    assert grid is not None
    others = [use.operation for use in store.memory.uses if use.operation is not store]
    return all(op.parent is grid.parent and grid.is_before_in_block(op) for op in others)


def combine_in_place(partial: Partial, store: StoreOp) -> None:
    """Parts update the output, which starts neutral."""
    memory, entries = store.memory, list(store.entries)
    alloc = memory.owner
    assert isinstance(alloc, AllocOp) and isinstance(memory.type, MemRefType)
    filled = AllocOp(memory.type, partial.neutral(0))
    filled.result.name_hint, filled.location = memory.name_hint, alloc.location
    (kind,) = partial.kinds()
    _, results = partial.deal_out()
    Rewriter.replace_op(alloc, filled)
    _append(partial.grid, replacing(store, RmwOp(kind, results[0], filled.result, entries)), store.location)


def combine_by_atomics(partial: Partial) -> GridOp:
    """Parts update a workspace; a copy of the grid, which is given, does what followed the loop."""
    spaces = [_workspace(partial, number, ()) for number in range(len(partial.inits))]
    rest = _Rest(partial)
    for number, (space, kind) in enumerate(zip(spaces, partial.kinds(), strict=True)):
        value = rest.load(space, number, [])
        if not partial.starts_neutral(number):
            value = rest.add(ELEMENTWISE[COMBINING_OPS[kind]](rest.loop.inits[number], value))
        rest.give(number, value)
    _, results = partial.deal_out()
    for kind, value, space in zip(partial.kinds(), results, spaces, strict=True):
        entries = _entries(partial.grid, tile_type(value), len(partial.grid.ranges) - 1)
        _append(partial.grid, RmwOp(kind, value, space, entries), rest.location)
    return rest.grid


def combine_in_order(partial: Partial) -> GridOp:
    """Parts store to places of their own in a workspace; a copy of the grid, which is given, combines them, goes on."""
    spaces = [_workspace(partial, number, (partial.splits,)) for number in range(len(partial.inits))]
    rest = _Rest(partial)
    found = combined(
        Builder(rest.loop),
        partial.combiners,
        [rest.load(space, number, [ALL]) for number, space in enumerate(spaces)],
        [None if partial.starts_neutral(number) else init for number, init in enumerate(rest.loop.inits)],
    )
    for number, value in enumerate(found):
        rest.give(number, value)
    part, results = partial.deal_out()
    for value, space in zip(results, spaces, strict=True):
        entries = _entries(partial.grid, tile_type(value), len(partial.grid.ranges) - 1)
        first = _append(partial.grid, IdOp(part), rest.location)
        _append(partial.grid, StoreOp(value, space, [first, *entries]), rest.location)
    return rest.grid


class _Rest:
    """The copy of a grid, after it, that takes the loop's results from memory."""

    def __init__(self, partial: Partial):
        self.partial = partial
        self.location = partial.loop.location
        values: dict[SSAValue, SSAValue] = {}
        copy = clone_with_new_tags(partial.grid, values)
        assert isinstance(copy, GridOp)
        Rewriter.insert_op(copy, InsertPoint.after(partial.grid))
        self.grid = copy
        loop = values[partial.loop.results[0]].owner
        assert isinstance(loop, ForOp)
        self.loop = loop

    def add(self, op: Operation) -> SSAValue:
        return Builder(self.loop).add(op)

    def load(self, space: SSAValue, number: int, first: list[Entry]) -> SSAValue:
        type = tile_type(self.loop.results[number])
        ids: list[Operation] = []
        entries = _entries(self.grid, type, len(self.grid.ranges), ids)
        for op in ids:
            self.add(op)
        return self.add(LoadOp(space, [*first, *entries]))

    def give(self, number: int, value: SSAValue) -> None:
        """Lets a value stand for one of the loop's results; the loop goes with the last of them."""
        value.name_hint = self.loop.results[number].name_hint
        self.loop.results[number].replace_all_uses_with(value)
        if number == len(self.loop.results) - 1:
            Rewriter.erase_op(self.loop)


def _workspace(partial: Partial, number: int, first: Sequence[int]) -> SSAValue:
    """Memory for one carried value of every cell, filled with its neutral value where parts update it."""
    type = tile_type(partial.inits[number])
    element = type.element_type
    assert isinstance(element, FixedBitwidthType)
    own = [extent for extent, _ in _dims(partial.grid, type, len(partial.grid.ranges))]
    op = AllocOp(MemRefType(element, [*first, *(own or [1])]), None if first else partial.neutral(number))
    op.location = partial.grid.location
    op.result.name_hint = f"{partial.loop.carried[number].name_hint or 'value'}_parts"
    Rewriter.insert_op(op, InsertPoint.before(partial.grid))
    return op.result


def _dims(grid: GridOp, type: TileType, ranges: int) -> list[tuple[int, SSAValue | Attribute]]:
    """Extent and walker of each dimension of the workspace: the cells that the tile does not tell apart, then its own.

    The walker is a range whose number or block stands there, or ``:``.
    """
    pairs = zip(grid.ranges, grid.bounds, strict=True)
    own = {range.type.tag: (upper, range) for range, (_, upper) in pairs}  # pyright: ignore
    others = [range for range in grid.ranges[:ranges] if range.type.tag not in type.tags]  # pyright: ignore
    cells = [(trips, range) for range in others if (trips := binding(range).trips) is not None and trips > 1]
    return [*cells, *(own.get(tag, (size, ALL)) for tag, size in zip(type.tags, type.shape, strict=True))]


def _entries(grid: GridOp, type: TileType, ranges: int, ids: list[Operation] | None = None) -> list[Entry]:
    """The index list of a cell's place in a workspace; the block numbers that it needs are appended to the grid."""
    entries: list[Entry] = []
    for _, walker in _dims(grid, type, ranges):
        if isinstance(walker, SSAValue) and walker.type.tag not in type.tags:  # pyright: ignore
            op = IdOp(walker)
            if ids is None:
                _append(grid, op, grid.location)
            else:
                ids.append(op)
            entries.append(op.result)
        else:
            entries.append(walker)  # pyright: ignore[reportArgumentType]
    return entries or [0]


def _after(loop: ForOp) -> list[Operation]:
    assert loop.parent is not None
    ops = list(loop.parent.ops)
    return [op for op in ops[ops.index(loop) + 1 :] if not isinstance(op, YieldOp)]


def _append(grid: GridOp, op: Operation, location: object) -> SSAValue:
    """Adds an op at the end of a grid's cells."""
    op.location = location  # pyright: ignore[reportAttributeAccessIssue]
    assert grid.body.block.last_op is not None
    Rewriter.insert_op(op, InsertPoint.before(grid.body.block.last_op))
    return op.results[0] if op.results else op.operands[0]
