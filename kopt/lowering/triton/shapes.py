"""Constants, broadcasts and rearrangements of lanes."""

from __future__ import annotations

from xdsl.dialects.builtin import i1, i32
from xdsl.ir import Operation

from kopt.dialects import tile, triton
from kopt.lowering.expr import Expr, add, number, place, spell, times
from kopt.lowering.printer import Handler
from kopt.lowering.triton.kernel import TritonPrinter
from kopt.lowering.triton.reductions import narrowed


def print_full(kernel: TritonPrinter, op: tile.FullOp) -> None:
    """A literal, which broadcasts to anything."""
    kernel.alias(op.result, kernel.literal(op.value))


def print_splat(kernel: TritonPrinter, op: tile.SplatOp) -> None:
    """A scalar, which broadcasts to anything; an ``index`` takes the tile's type."""
    scalar = kernel[op.scalar]
    if op.scalar.type.name != "index" or scalar.literal is not None:
        kernel.define(op.result, scalar)
        return
    dtype = kernel.dtype(tile.tile_type(op.result).element_type)
    kernel.define(op.result, spell(f"tl.cast({{0}}, {dtype})", scalar))


def print_arange(kernel: TritonPrinter, op: tile.ArangeOp) -> None:
    """``start + step * tl.arange(0, n)``."""
    type = tile.tile_type(op.result)
    lanes = Expr(f"tl.arange(0, {kernel.sizes(type.shape, type)[1:-1]})", shape=type.shape)
    if type.element_type != i32:
        lanes = spell(f"{{0}}.to({kernel.dtype(type.element_type)})", lanes)
    kernel.define(op.result, add(number(op.start.data), times(lanes, number(op.step.data))))


def print_broadcast(kernel: TritonPrinter, op: tile.BroadcastOp) -> None:
    """``m[:, None]``; lanes are repeated where they are needed."""
    kernel.define(op.result, place(kernel[op.input], op.mapping, tile.tile_type(op.result).rank))


def print_reshape(kernel: TritonPrinter, op: tile.ReshapeOp) -> None:
    """``tl.reshape``, or new dimensions of 1 by indexing."""
    source, target = op.input_type, op.result_type
    expr = kernel[op.input]
    if not expr.shape or source.shape == target.shape:
        kernel.define(op.result, expr)
        return
    if not target.rank:
        kernel.define(op.result, _only_lane(kernel, op))
        return
    positions = _kept(source.shape, target.shape)
    if positions is not None:
        kernel.define(op.result, place(expr, positions, target.rank))
        return
    text = f"tl.reshape({{0}}, {kernel.sizes(target.shape, target)})"
    kernel.define(op.result, spell(text, kernel.whole(op.input), shape=target.shape))


def _kept(source: tuple[int, ...], target: tuple[int, ...]) -> list[int] | None:
    """Where each source dimension stands in the target, if the target only adds dimensions of 1."""
    positions: list[int] = []
    for size in source:
        start = positions[-1] + 1 if positions else 0
        found = next((n for n in range(start, len(target)) if target[n] == size), None)
        if found is None or any(target[n] != 1 for n in range(start, found)):
            return None
        positions.append(found)
    rest = target[positions[-1] + 1 :] if positions else target
    return positions if all(size == 1 for size in rest) else None


def _only_lane(kernel: TritonPrinter, op: tile.ReshapeOp) -> Expr:
    """The scalar of a tile of one lane: the largest of one."""
    if op.input_type.element_type == i1:
        return spell("tl.max({0}.to(tl.int32)) != 0", kernel.whole(op.input), shape=())
    return narrowed(kernel, op.input_type.element_type, spell("tl.sum({0})", kernel.whole(op.input), shape=()))


def print_transpose(kernel: TritonPrinter, op: tile.TransposeOp) -> None:
    """``tl.trans(v)`` of a matrix, else ``tl.permute``."""
    expr = kernel[op.input]
    if not expr.shape:
        kernel.define(op.result, expr)
        return
    shape = tuple(expr.shape[n] for n in op.order)
    text = "tl.trans({0})" if op.order == (1, 0) else f"tl.permute({{0}}, {list(op.order)})"
    kernel.define(op.result, spell(text, expr, shape=shape))


def print_take_along(kernel: TritonPrinter, op: tile.TakeAlongOp) -> None:
    """``tl.gather``, which does not check whether lanes are there."""
    text, shape = f"tl.gather({{0}}, {{1}}, axis={op.dim.data})", tile.tile_type(op.result).shape
    kernel.define(op.result, spell(text, kernel.whole(op.input), kernel.whole(op.indices), shape=shape))


def print_join(kernel: TritonPrinter, op: triton.JoinOp) -> None:
    """``tl.join(a, b)``."""
    shape = tile.tile_type(op.result).shape
    kernel.define(op.result, spell("tl.join({0}, {1})", kernel.whole(op.first), kernel.whole(op.second), shape=shape))


def print_bounded(kernel: TritonPrinter, op: triton.BoundedOp) -> None:
    """``picks = tl.where((n >= 0) & (n < 8), n, 0)``."""
    index = kernel.named(op.input)
    kernel.assign(op.result, spell(f"tl.where(({{0}} >= 0) & ({{0}} < {op.limit.data}), {{0}}, 0)", index))


HANDLERS: dict[type[Operation], Handler] = {
    tile.FullOp: print_full,
    tile.SplatOp: print_splat,
    tile.ArangeOp: print_arange,
    tile.BroadcastOp: print_broadcast,
    tile.ReshapeOp: print_reshape,
    tile.TransposeOp: print_transpose,
    tile.TakeAlongOp: print_take_along,
    triton.BoundedOp: print_bounded,
    triton.JoinOp: print_join,
}
