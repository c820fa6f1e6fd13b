"""How ranges are spelt: ``i = pid * BLOCK_0 + tl.arange(0, BLOCK_0)`` and the masks of their lanes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.ir import Operation, SSAValue

from kopt.analysis.tensor_descriptors import is_described
from kopt.dialects import tile, triton
from kopt.ir.ranges import always_full, unshifted
from kopt.lowering.expr import Expr, add, number, place, spell, subtract, times
from kopt.lowering.printer import Handler
from kopt.lowering.triton.kernel import RangeNames, TritonPrinter

#: Lanes beyond this element do not fit 32-bit numbers.
_MOST = (1 << 31) - 1


def users(range: SSAValue) -> Iterator[Operation]:
    """Who uses a range, and who uses what it is shifted to."""
    for use in range.uses:
        yield use.operation
        if isinstance(use.operation, tile.ShiftOp):
            yield from users(use.operation.result)


def needs_begin(range: SSAValue) -> bool:
    """Whether the first element is used beside the lanes."""
    return any(isinstance(user, tile.BeginOp | tile.EndOp | tile.IdOp) or is_described(user) for user in users(range))


def needs_lanes(kernel: TritonPrinter, range: SSAValue) -> bool:
    """Whether the lanes' numbers are used."""
    numbers = (tile.BeginOp, tile.EndOp, tile.IdOp, tile.CountOp)
    lanes = (user for user in users(range) if not is_described(user))
    return any(not isinstance(user, numbers) for user in lanes) or checks(kernel, range) > 0


def checks(kernel: TritonPrinter, range: SSAValue) -> int:
    """How often the mask of a range is spelt. Accesses of its lanes count twice: beside those, it has a name."""
    masks = sum(isinstance(user, tile.MaskOp | tile.ValidOp) for user in users(range))
    return masks + kernel.checked[range]


def bind(kernel: TritonPrinter, range: SSAValue, begin: Expr, limit: Expr, lower: Expr) -> None:
    """Names the lanes of a range that begins at ``begin``, and its mask where it is used more than once."""
    assert isinstance(range.type, tile.RangeType)
    size = kernel.blocks.get(range.type.tag, str(range.type.size))
    lanes = Expr(f"tl.arange(0, {size})", shape=(range.type.size,))
    lanes = add(begin, lanes)
    names = RangeNames(begin, lanes, limit, range.type.size, lower=lower)
    kernel.ranges[range] = names
    if needs_lanes(kernel, range):
        names.lanes = kernel.assign(range, lanes)
    if checks(kernel, range) > 1:
        names.mask = kernel.names.fresh(f"{names.lanes.text}_mask")
        kernel.give(names.mask, spell("{0} < {1}", names.lanes, limit))


def print_range(kernel: TritonPrinter, op: triton.RangeOp) -> None:
    """A range of the grid."""
    size = tile.range_type(op.result).size
    block, limit = kernel[op.block], op.limit
    if isinstance(limit, int) and limit + size > _MOST and block.literal is None:
        block = spell("{0}.to(tl.int64)", block)
    step = Expr(kernel.blocks.get(tile.tag_of(op.result), str(size)), literal=1 if size == 1 else None)
    lower = number(op.lower.data)
    if block.literal is None:
        begin = add(lower, times(block, step))
    else:
        begin = number(op.lower.data + int(block.literal) * size)
    if needs_begin(op.result) and not begin.is_name:
        hint = op.result.name_hint or "tile"
        name = kernel.names.fresh(f"{hint}_begin" if needs_lanes(kernel, op.result) else hint)
        kernel.give(name, begin)
        begin = Expr(name)
    bind(kernel, op.result, begin, number(limit) if isinstance(limit, int) else kernel[limit], lower)


def print_whole(kernel: TritonPrinter, op: tile.WholeOp) -> None:
    """A range over a whole extent."""
    if op.result.uses or checks(kernel, op.result):
        bind(kernel, op.result, number(0), number(op.extent.data), number(0))


def print_shift(kernel: TritonPrinter, op: tile.ShiftOp) -> None:
    """The lanes further on; their mask is the original's."""
    names, offset = kernel.ranges[op.range], kernel[op.offset]
    kernel.ranges[op.result] = RangeNames(
        add(names.begin, offset), add(names.lanes, offset), add(names.limit, offset), names.size, lower=names.lower
    )


def mask_of(kernel: TritonPrinter, range: SSAValue, position: int, rank: int) -> Expr:
    """Whether each lane of a dimension is inside its range, placed among ``rank`` dimensions."""
    names = kernel.ranges[unshifted(range)]
    if names.mask is not None:
        return place(Expr(names.mask, shape=(names.size,)), [position], rank)
    return spell("{0} < {1}", place(names.lanes, [position], rank), names.limit)


def masks_of(kernel: TritonPrinter, limits: Sequence[SSAValue | None]) -> Expr | None:
    """Whether each lane is inside all of the ranges that limit its dimensions, or None without limits."""
    needed = [(n, limit) for n, limit in enumerate(limits) if limit is not None and not always_full(limit)]
    return both([mask_of(kernel, limit, n, len(limits)) for n, limit in needed])


def both(masks: Sequence[Expr]) -> Expr | None:
    """All of some masks, or None for none."""
    if not masks:
        return None
    joined = masks[0]
    for mask in masks[1:]:
        joined = spell("{0} & {1}", joined, mask)
    return joined


def _size(kernel: TritonPrinter, range: SSAValue) -> Expr:
    """The lanes of a block, by name where that has one."""
    return Expr(kernel.blocks.get(tile.tag_of(range), str(tile.range_type(range).size)))


def print_begin(kernel: TritonPrinter, op: tile.BeginOp) -> None:
    """The first element."""
    kernel.alias(op.result, kernel.ranges[op.range].begin)


def print_end(kernel: TritonPrinter, op: tile.EndOp) -> None:
    """``min(begin + size, limit)``; the limit is no less where every block is full."""
    names = kernel.ranges[op.range]
    end = add(names.begin, _size(kernel, op.range))
    whole = always_full(unshifted(op.range))
    kernel.define(op.result, end if whole else spell("min({0}, {1})", end, names.limit))


def print_id(kernel: TritonPrinter, op: tile.IdOp) -> None:
    """The number of the block: how many blocks begin before it."""
    names = kernel.ranges[op.range]
    distance = subtract(names.begin, names.lower)
    kernel.define(op.result, distance if names.size == 1 else spell("{0} // {1}", distance, _size(kernel, op.range)))


def print_count(kernel: TritonPrinter, op: tile.CountOp) -> None:
    """The number of blocks."""
    names = kernel.ranges[op.range]
    distance = subtract(names.limit, names.lower)
    kernel.define(op.result, spell("tl.cdiv({0}, {1})", distance, _size(kernel, op.range)))


def print_index(kernel: TritonPrinter, op: tile.IndexOp) -> None:
    """The numbers of the lanes."""
    kernel.alias(op.result, kernel.ranges[op.range].lanes)


def print_valid(kernel: TritonPrinter, op: tile.ValidOp) -> None:
    """The mask of the lanes."""
    kernel.alias(op.result, mask_of(kernel, op.range, 0, 1))


HANDLERS: dict[type[Operation], Handler] = {
    triton.RangeOp: print_range,
    tile.WholeOp: print_whole,
    tile.ShiftOp: print_shift,
    tile.BeginOp: print_begin,
    tile.EndOp: print_end,
    tile.IdOp: print_id,
    tile.CountOp: print_count,
    tile.IndexOp: print_index,
    tile.ValidOp: print_valid,
}
