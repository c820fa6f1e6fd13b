"""The pass ``split-odd-blocks``: loops in blocks that are no power of two, such as 100."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.arith import AddiOp, CeilDivSIOp, ConstantOp, MinSIOp, MuliOp, SubiOp
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.diagnostics import location_of
from kopt.dialects import tile
from kopt.dialects.builder import Builder
from kopt.dialects.tile.shape import int_array
from kopt.errors import LoweringError
from kopt.ir.ranges import block_tag
from kopt.ir.trip_counts import most_visits
from kopt.ir.widths import next_power_of_two
from kopt.passes.gpu.moved_lanes import refuse_moved
from kopt.passes.launches import is_bound
from kopt.passes.retyping import taken_tags
from kopt.plans.renaming import renamed
from kopt.walk import walk


@dataclass(frozen=True)
class SplitOddBlocksPass(ModulePass):
    """Splits a loop whose blocks are no power of two: an outer loop over the numbers of blocks, and one block inside.

    The block ends before the next one begins, whatever its lanes are: ``pad-to-power-of-two`` widens it after this. A
    dimension of the grid is split so, too: the grid walks the numbers, around a loop over the block. A loop that has
    one visit at most stays as it is.

        tile.for %k: b0=100 in (0, 1000) { … }
    becomes
        tile.for %n: b0_block=1 in (0, 10) {
          %begin = 100 * begin of %n    %end = min(%begin + 100, 1000)
          tile.for %k: b0=100 in (%begin, %end) { … }
        }

    A block of which nothing but begin, end and number is asked needs no loop inside: these are ``%begin``, ``%end`` and
    ``%n``'s.

    Refuses to join or reshape the lanes of such blocks, and another range with the tag that the numbers get.
    """

    name = "split-odd-blocks"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for grid in walk(op, tile.GridOp):
            if is_bound(grid):
                continue
            for loop in walk(grid, tile.ForOp):
                if _is_odd(loop.range) and most_visits(loop.range) != 1:
                    _split_for(loop, grid)
            for position, range in enumerate(grid.ranges):
                if _is_odd(range):
                    _split_grid(grid, position)


def _is_odd(range: SSAValue) -> bool:
    return next_power_of_two(tile.range_type(range).size) != tile.range_type(range).size


def _bounds(
    build: Builder, block: SSAValue, size: int, lower: SSAValue | int, upper: SSAValue | int
) -> tuple[SSAValue, SSAValue]:
    """First element and limit of a block, from the range of its number."""
    number = build.add(tile.BeginOp(block))
    begin = build.add(MuliOp(number, build.index(size)))
    if lower != 0:
        begin = build.add(AddiOp(begin, build.index(lower)))
    end = build.add(AddiOp(begin, build.index(size)))
    if isinstance(lower, int) and isinstance(upper, int) and (upper - lower) % size == 0:
        return begin, end
    return begin, build.add(MinSIOp(end, build.index(upper)))


def _is_asked_for_numbers(range: SSAValue, body: Block) -> bool:
    """Whether nobody takes the lanes of a block, and no value has them."""
    if not all(isinstance(use.operation, tile.BeginOp | tile.EndOp | tile.IdOp | tile.CountOp) for use in range.uses):
        return False
    tag, types = tile.range_type(range).tag, (value.type for op in body.walk() for value in op.results)
    return not any(isinstance(type, tile.TileType) and tag in type.tags for type in types)


def _replace_ends(range: SSAValue, begin: SSAValue, end: SSAValue) -> None:
    """``tile.begin`` and ``tile.end`` of a block are values."""
    for use in list(range.uses):
        op = use.operation
        if isinstance(op, tile.BeginOp | tile.EndOp):
            Rewriter.replace_op(op, [], [begin if isinstance(op, tile.BeginOp) else end])


def _number_uses(range: SSAValue, block: SSAValue, count: SSAValue | int) -> None:
    """``tile.id`` and ``tile.count`` are the number loop's."""
    for use in list(range.uses):
        op = use.operation
        if isinstance(op, tile.IdOp):
            Rewriter.replace_op(op, tile.BeginOp(block))
        elif isinstance(op, tile.CountOp):
            if isinstance(count, int):
                Rewriter.replace_op(op, ConstantOp.from_int_and_width(count, IndexType()))
            else:
                Rewriter.replace_op(op, [], [count])


def _numbers_of(op: Operation, type: tile.RangeType) -> tile.RangeType:
    """The range of the numbers of a range's blocks, which analyses know by its tag."""
    if (tag := block_tag(type.tag)) in taken_tags(op):
        raise LoweringError(
            f"the blocks of '{type.tag}', of {type.size} lanes, are numbered under the tag '{tag}', which is taken",
            location_of(op),
            notes=[f"give the other range another tag than '{tag}', or choose a block size that is a power of two"],
            id="gpu-block",
        )
    return tile.RangeType(tag, 1)


def _split_for(loop: tile.ForOp, grid: tile.GridOp) -> None:
    type = tile.range_type(loop.range)
    lower, upper = loop.bounds
    count = _count(loop, type.size)
    outer = tile.ForOp(0, count, loop.inits, _numbers_of(loop, type))
    outer.location = loop.location
    outer.range.name_hint = f"{loop.range.name_hint or 'tile'}_block"
    Rewriter.insert_op(outer, InsertPoint.before(loop))
    _number_uses(loop.range, outer.range, count)
    loop.detach()
    begin, end = _bounds(Builder(InsertPoint.at_end(outer.body.block), loop), outer.range, type.size, lower, upper)
    for old, new, carried in zip(loop.results, outer.results, outer.carried, strict=True):
        new.name_hint = carried.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    if _is_asked_for_numbers(loop.range, loop.body.block):
        _replace_ends(loop.range, begin, end)
        Rewriter.inline_block(loop.body.block, InsertPoint.at_end(outer.body.block), [outer.range, *outer.carried])
        _plan_numbers(grid, type.tag)
    else:
        inner = tile.ForOp(begin, end, outer.carried, loop.detach_region(loop.body), None, loop.attributes)
        inner.location = loop.location
        outer.body.block.add_ops([inner, tile.YieldOp(*inner.results)])
        for new, mid in zip(outer.results, inner.results, strict=True):
            mid.name_hint = new.name_hint
    loop.erase()
    refuse_moved(outer, type.dim)


def _count(loop: tile.ForOp, size: int) -> SSAValue | int:
    lower, upper = loop.bounds
    if isinstance(lower, int) and isinstance(upper, int):
        return max(0, -(-(upper - lower) // size))
    build = Builder(loop)
    distance = build.add(SubiOp(build.index(upper), build.index(lower)))
    return build.add(CeilDivSIOp(distance, build.index(size)))


def _split_grid(grid: tile.GridOp, position: int) -> None:
    range = grid.ranges[position]
    type = tile.range_type(range)
    lower, upper = grid.bounds[position]
    count = -(-(upper - lower) // type.size)
    body = grid.body.block
    alone = _is_asked_for_numbers(range, body)
    inner = Block(arg_types=[type])
    inner.args[0].name_hint = range.name_hint
    range.replace_all_uses_with(inner.args[0])
    for op in list(body.ops):
        op.detach()
        inner.add_op(op)
    number = Rewriter.replace_value_with_new_type(range, _numbers_of(grid, type))
    number.name_hint = f"{range.name_hint or 'tile'}_block"
    begin, end = _bounds(Builder(InsertPoint.at_end(body), grid), number, type.size, lower, upper)
    _number_uses(inner.args[0], number, count)
    if alone:
        _replace_ends(inner.args[0], begin, end)
        Rewriter.inline_block(inner, InsertPoint.at_end(body), [number])
    else:
        loop = tile.ForOp(begin, end, [], Region(inner))
        loop.location = grid.location
        body.add_ops([loop, tile.YieldOp()])
    bounds = [*grid.bounds]
    bounds[position] = (0, count)
    grid.lower, grid.upper = int_array([lo for lo, _ in bounds]), int_array([hi for _, hi in bounds])
    _plan_numbers(grid, type.tag)
    refuse_moved(grid, type.dim)


def _plan_numbers(grid: tile.GridOp, tag: str) -> None:
    """A plan says of the numbers of a range's blocks what it said of the range."""
    if grid.plan is not None:
        grid.plan = tile.PlanAttr(renamed(grid.plan.data, lambda axis: block_tag(tag) if axis == tag else axis))
