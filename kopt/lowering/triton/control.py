"""Loops and branches of a kernel, with the values they carry."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import nullcontext

from xdsl.dialects import scf
from xdsl.ir import Block, Operation, SSAValue

from kopt.dialects import tile, triton
from kopt.lowering.expr import Expr, number
from kopt.lowering.printer import Handler
from kopt.lowering.triton.kernel import TritonPrinter
from kopt.lowering.triton.ranges import bind, checks, needs_lanes

_WORD = re.compile(r"\b[A-Za-z_]\w*\b")


def _value(kernel: TritonPrinter, value: SSAValue) -> Expr:
    """A value as it is carried: a tile with all of its lanes, a scalar as it is."""
    return kernel.whole(value) if isinstance(value.type, tile.TileType) else kernel[value]


def _assign_all(kernel: TritonPrinter, targets: Sequence[str], values: Sequence[SSAValue]) -> None:
    """Assigns carried values: at once where one is computed from a target assigned before it.

    An assignment is under the source line of what it computes.
    """
    found = [(target, _value(kernel, value), value.owner) for target, value in zip(targets, values, strict=True)]
    found = [(target, expr, owner) for target, expr, owner in found if target != expr.text]
    for number_, (_, expr, _) in enumerate(found):
        before = {target for target, _, _ in found[:number_]}
        if before & set(_WORD.findall(expr.text)):
            kernel.line(f"{', '.join(t for t, _, _ in found)} = {', '.join(e.text for _, e, _ in found)}")
            return
    for target, expr, owner in found:
        with kernel.explained_by(owner if isinstance(owner, Operation) and not expr.is_name else None):
            kernel.line(f"{target} = {expr.text}")


def _shape(value: SSAValue) -> tuple[int, ...]:
    return value.type.shape if isinstance(value.type, tile.TileType) else ()


def print_for(kernel: TritonPrinter, op: tile.ForOp) -> None:
    """``for k_begin in range(lower, upper, BLOCK_2):``; results have the names of the carried values."""
    lower, upper = (number(b) if isinstance(b, int) else kernel[b] for b in op.bounds)
    if isinstance(op.bounds[1], SSAValue) and checks(kernel, op.range):
        upper = kernel.named(op.bounds[1])  # the range's mask compares with it too
    names = [kernel.names.bind(c, r.name_hint or c.name_hint) for c, r in zip(op.carried, op.results, strict=True)]
    _assign_all(kernel, names, op.inits)
    for name, carried, result in zip(names, op.carried, op.results, strict=True):
        kernel.alias(carried, Expr(name, shape=_shape(carried)))
        kernel.alias(result, Expr(name, shape=_shape(carried)))
    range = op.range
    assert isinstance(range.type, tile.RangeType)
    hint = range.name_hint or "tile"
    begin = kernel.names.fresh(f"{hint}_begin" if needs_lanes(kernel, range) else hint)
    step = kernel.blocks.get(range.type.tag, str(range.type.size))
    arguments = [lower.text, upper.text, *([step] if range.type.size != 1 else [])]
    if range.type.size == 1 and lower.literal == 0:
        arguments = arguments[1:]
    stages = None if op.schedule is None else dict(op.schedule.data.options).get("stages")
    visits = f"range({', '.join(arguments)})" if stages is None else _staged(arguments, stages)
    guard = kernel.block(f"if {lower.text} < {upper.text}:") if "guarded" in op.attributes else nullcontext()
    with guard, kernel.block(f"for {begin} in {visits}:"):
        bind(kernel, range, Expr(begin), upper, lower)
        kernel.print_block(op.body.block)
        _yield(kernel, names, op.body.block)


def _staged(arguments: Sequence[str], stages: object) -> str:
    """The visits of a loop whose blocks are loaded ahead, also those that feed no product."""
    return f"tl.range({', '.join(arguments)}, num_stages={stages})"


def print_while(kernel: TritonPrinter, op: tile.WhileOp) -> None:
    """``while go:``; results have the names of the carried values."""
    go = kernel.names.fresh("go")
    pairs = zip(op.carried, op.results, strict=True)
    names = [go, *(kernel.names.bind(carried, result.name_hint or carried.name_hint) for carried, result in pairs)]
    _assign_all(kernel, names, [op.condition, *op.inits])
    for name, carried, result in zip(names[1:], op.carried, op.results, strict=True):
        kernel.alias(carried, Expr(name, shape=_shape(carried)))
        kernel.alias(result, Expr(name, shape=_shape(carried)))
    with kernel.block(f"while {go}:"):
        kernel.print_block(op.body.block)
        _yield(kernel, names, op.body.block)
    kernel.forget_comment()


def _yield(kernel: TritonPrinter, names: Sequence[str], block: Block) -> None:
    last = block.last_op
    if last is not None and last.operands:
        with kernel.writer.written_for(last):
            _assign_all(kernel, names, last.operands)


def print_if(kernel: TritonPrinter, op: scf.IfOp) -> None:
    """``if condition:``; each arm assigns the results."""
    names = [kernel.names.bind(result) for result in op.results]
    for name, result in zip(names, op.results, strict=True):
        kernel.alias(result, Expr(name, shape=_shape(result)))
    with kernel.block(f"if {kernel[op.cond].text}:"):
        _arm(kernel, names, op.true_region.block)
    if op.false_region.blocks and (names or len(op.false_region.block.ops) > 1):
        with kernel.writer.block("else:"):
            kernel.forget_comment()
            _arm(kernel, names, op.false_region.block)
    kernel.forget_comment()


def _arm(kernel: TritonPrinter, names: Sequence[str], block: Block) -> None:
    kernel.print_block(block)
    _yield(kernel, names, block)


def print_yield(kernel: TritonPrinter, op: tile.YieldOp | scf.YieldOp) -> None:
    """Printed by the loop or branch that it ends."""


def print_barrier(kernel: TritonPrinter, op: triton.BarrierOp) -> None:
    """``tl.debug_barrier()``: the name is Triton's, for all barriers."""
    kernel.line("tl.debug_barrier()")


HANDLERS: dict[type[Operation], Handler] = {
    triton.BarrierOp: print_barrier,
    tile.ForOp: print_for,
    tile.YieldOp: print_yield,
    tile.WhileOp: print_while,
    scf.IfOp: print_if,
    scf.YieldOp: print_yield,
}
