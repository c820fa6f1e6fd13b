"""Control flow inside a kernel: loops that carry values, conditions, first and last visits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

from xdsl.dialects import scf
from xdsl.ir import Block, Operation, SSAValue

from kopt.dialects.tile import (
    AssociativeOp,
    AssociativeReduceOp,
    AssociativeScanOp,
    ForOp,
    IdOp,
    WhenOp,
    WhileOp,
    YieldOp,
)
from kopt.ir.ranges import binding, visits
from kopt.lowering.expr import Expr, add, number, spell, subtract, times
from kopt.lowering.pallas.printing import PallasPrinter, Visit
from kopt.lowering.printer import Handler


def _for(printing: PallasPrinter, op: ForOp) -> None:
    """A `tile.for` as `jax.lax.fori_loop` over block numbers; one with a single visit as its body."""
    if visits(op.range) == 1:
        _once(op, printing)
        return
    lower, upper = bounds_of(op, printing)
    count = count_of(op, lower, upper, printing)
    body = printing.names.fresh(f"{op.range.name_hint or 'k'}_body")
    id = printing.names.fresh(op.range.name_hint, "k")
    carried = [printing.names.bind(value) for value in op.carried]
    printing.writer.gap()
    with printing.block(f"def {body}({id}, {_pattern(carried)}):", op):
        if len(carried) > 1:
            printing.line(f"{', '.join(carried)} = carry")
        begin = begin_of(op.range, Expr(id), lower, printing, op)
        printing.visits[op.range] = Visit(Expr(id), begin, upper, count)
        printing.print_block(op.body.block)
        printing.line(f"return {_values([printing.name(value) for value in op.yielded])}")
    printing.writer.gap()
    results = [printing.names.bind(result) for result in op.results]
    inits = _values([printing.name(value) for value in op.inits])
    target = f"{', '.join(results)} = " if results else ""
    unroll = op.schedule.data.unroll if op.schedule is not None else 1
    written_out = f", unroll={unroll}" if unroll > 1 else ""
    printing.line(f"{target}jax.lax.fori_loop(0, {count.text}, {body}, {inits}{written_out})", op)


def _once(op: ForOp, printing: PallasPrinter) -> None:
    lower, upper = bounds_of(op, printing)
    printing.visits[op.range] = Visit(number(0), lower, upper, number(1))
    for value, init in zip(op.carried, op.inits, strict=True):
        printing.define(value, printing[init])
    printing.print_block(op.body.block)
    for result, value in zip(op.results, op.yielded, strict=True):
        printing.define(result, printing[value])


def bounds_of(op: ForOp, printing: PallasPrinter) -> tuple[Expr, Expr]:
    """A loop's bounds as numbers or names."""
    lower, upper = (bound_of(bound, printing) for bound in op.bounds)
    return lower, upper


def bound_of(bound: SSAValue | int, printing: PallasPrinter) -> Expr:
    """A bound of a range as a number or a name."""
    return number(bound) if isinstance(bound, int) else printing.named(bound)


def count_of(op: ForOp, lower: Expr, upper: Expr, printing: PallasPrinter) -> Expr:
    """The number of a loop's visits; a line is written where it must be computed."""
    count, size = visits(op.range), binding(op.range).size
    if count is not None:
        return number(count)
    distance = subtract(upper, lower)
    if size == 1 and distance.is_name:
        return distance
    return printing.give(spell(f"pl.cdiv({{0}}, {size})", distance), f"{op.range.name_hint or 'k'}_count", op)


def begin_of(range: SSAValue, id: Expr, lower: Expr, printing: PallasPrinter, op: Operation | None = None) -> Expr:
    """The first element of a block, as a name or a number; a line is written where it must be computed."""
    if id.literal == 0:
        return lower
    if all(isinstance(use.operation, WhenOp | IdOp) for use in range.uses):  # which ask for the block's number only
        return id
    begin = add(lower, times(id, number(binding(range).size)))
    return begin if begin.is_name else printing.give(begin, f"{range.name_hint or id.text}_begin", op)


def _while(printing: PallasPrinter, op: WhileOp) -> None:
    """A `tile.while` as `jax.lax.while_loop`, whose first carried value is the condition, as a number."""
    body = printing.names.fresh("while_body")
    carried = [printing.names.bind(value) for value in op.carried]
    printing.writer.gap()
    with printing.block(f"def {body}(carry):", op):
        if carried:
            printing.line(f"{', '.join(['_', *carried])} = carry")
        printing.print_block(op.body.block)
        values = [_as_number(printing.name(op.more)), *(printing.name(value) for value in op.yielded)]
        printing.line(f"return {_tuple(values)}")
    printing.writer.gap()
    results = [printing.names.bind(result) for result in op.results]
    inits = _tuple([_as_number(printing.name(op.condition)), *(printing.name(value) for value in op.inits)])
    loop = f"jax.lax.while_loop(lambda carry: carry[0] != 0, {body}, {inits})"
    printing.line(f"{', '.join(['_', *results])} = {loop}" if results else loop, op)


def _as_number(condition: str) -> str:
    """A predicate as an i32: Mosaic's loops carry numbers."""
    return f"jnp.asarray({condition}, jnp.int32)"


def _pattern(names: Sequence[str]) -> str:
    if not names:
        return "_"
    return names[0] if len(names) == 1 else "carry"


def _values(names: Sequence[str]) -> str:
    if not names:
        return "None"
    return names[0] if len(names) == 1 else f"({', '.join(names)})"


def _when(printing: PallasPrinter, op: WhenOp) -> None:
    """A first or last visit as `pl.when`; where there is one visit only, as the body itself."""
    tests = [_visit_test(printing.visit(range), op.visit.data) for range in op.ranges]
    tests = [test for test in tests if test is not None]
    if not tests:
        printing.print_block(op.body.block)
        return
    condition = reduce(lambda left, right: spell("{0} & {1}", left, right), tests)
    _guarded(condition.text, op, op.body.block, printing)


def _visit_test(visit: Visit, which: str) -> Expr | None:
    if visit.id.literal == 0:
        return None
    return spell("{0} == {1}", visit.id, number(0) if which == "first" else subtract(visit.count, number(1)))


def _guarded(condition: str, op: Operation, block: Block, printing: PallasPrinter) -> None:
    printing.writer.gap()
    printing.line(f"@pl.when({condition})", op)
    with printing.block("def _():"):
        printing.print_block(block)
    printing.writer.gap()


def _if(printing: PallasPrinter, op: scf.IfOp) -> None:
    """An `scf.if` with results as `jax.lax.cond`, without as `pl.when`."""
    condition = printing[op.cond].text
    if not op.results:
        if len(op.true_region.block.ops) > 1:
            _guarded(condition, op, op.true_region.block, printing)
        if op.false_region.blocks and len(op.false_region.block.ops) > 1:
            _guarded(f"jnp.logical_not({condition})", op, op.false_region.block, printing)
        return
    arms = [_arm(region.block, hint, printing) for region, hint in _arms(op)]
    results = [printing.names.bind(result) for result in op.results]
    printing.line(f"{', '.join(results)} = jax.lax.cond({condition}, {', '.join(arms)})", op)


def _arms(op: scf.IfOp):
    return ((op.true_region, "then"), (op.false_region, "otherwise"))


def _arm(block: Block, hint: str, printing: PallasPrinter) -> str:
    name = printing.names.fresh(hint)
    with printing.block(f"def {name}():"):
        printing.print_block(block)
        last = block.last_op
        values: Sequence[SSAValue] = last.operands if last is not None else ()
        printing.line(f"return {_values([printing.name(value) for value in values])}")
    return name


def _associative(printing: PallasPrinter, op: AssociativeOp) -> None:
    """A scan or reduction by a function, which is written first."""
    combine = printing.names.fresh("combine")
    operands = [printing.names.bind(value) for value in op.body.block.args]
    printing.writer.gap()
    with printing.block(f"def {combine}({', '.join(operands)}):", op):
        printing.print_block(op.body.block)
        printing.line(f"return {_tuple(printing.name(value) for value in op.combined)}")
    printing.writer.gap()
    helper = printing.helper("_" + op.name.removeprefix("tile."))
    inputs = _tuple(printing.name(value) for value in op.inputs)
    reverse = ", reverse=True" if op.reverse is not None else ""
    expr = Expr(f"{helper}({combine}, {inputs}, {op.dim.data}{reverse})")
    if len(op.results) > 1:
        printing.unpack(op.results, expr, op)
    else:
        printing.assign(op.results[0], spell("{0}[0]", expr))


def _tuple(names: Iterable[str]) -> str:
    texts = list(names)
    return f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"


def _yield(printing: PallasPrinter, op: YieldOp | scf.YieldOp) -> None:
    """Written by the loop or branch that it ends."""


#: The printer of each op with regions.
HANDLERS: dict[type[Operation], Handler] = {
    ForOp: _for,
    WhenOp: _when,
    WhileOp: _while,
    scf.IfOp: _if,
    **dict.fromkeys((YieldOp, scf.YieldOp), _yield),
    AssociativeReduceOp: _associative,
    AssociativeScanOp: _associative,
}
