"""Control flow inside a kernel: loops that carry values, conditions, first and last visits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from xdsl.dialects import scf
from xdsl.ir import Block, Operation, SSAValue

from kopt.dialects.tile import AssociativeOp, AssociativeReduceOp, AssociativeScanOp, ForOp, IdOp, WhenOp, WhileOp
from kopt.ir.ranges import binding, visits
from kopt.lowering.pallas.printing import PallasPrinter, Visit
from kopt.lowering.pallas.values.helpers import use_helper

PrintBlock = Callable[[Block, PallasPrinter], None]


def _for(op: Operation, printing: PallasPrinter, print_block: PrintBlock) -> None:
    """A `tile.for` as `jax.lax.fori_loop` over block numbers; one with a single visit as its body."""
    assert isinstance(op, ForOp)
    if visits(op.range) == 1:
        _once(op, printing, print_block)
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
        printing.visits[op.range] = Visit(id, begin_of(op, id, lower, printing), str(upper), count)
        print_block(op.body.block, printing)
        printing.line(f"return {_values([printing.name(value) for value in op.yielded])}")
    printing.writer.gap()
    results = [printing.names.bind(result) for result in op.results]
    inits = _values([printing.name(value) for value in op.inits])
    target = f"{', '.join(results)} = " if results else ""
    printing.line(f"{target}jax.lax.fori_loop(0, {count}, {body}, {inits})", op)


def _once(op: ForOp, printing: PallasPrinter, print_block: PrintBlock) -> None:
    lower, upper = bounds_of(op, printing)
    printing.visits[op.range] = Visit("0", str(lower), str(upper), "1")
    for value, init in zip(op.carried, op.inits, strict=True):
        printing.alias(value, printing.name(init))
    print_block(op.body.block, printing)
    for result, value in zip(op.results, op.yielded, strict=True):
        printing.alias(result, printing.name(value))


def bounds_of(op: ForOp, printing: PallasPrinter) -> tuple[int | str, int | str]:
    """A loop's bounds as numbers or names."""
    lower, upper = (bound if isinstance(bound, int) else printing.name(bound) for bound in op.bounds)
    return lower, upper


def count_of(op: ForOp, lower: int | str, upper: int | str, printing: PallasPrinter) -> str:
    """The number of a loop's visits; a line is written where it must be computed."""
    count, size = visits(op.range), binding(op.range).size
    if count is not None:
        return str(count)
    distance = str(upper) if lower == 0 else f"{upper} - {lower}"
    if size == 1 and distance.isidentifier():
        return distance
    return printing.assign(f"pl.cdiv({distance}, {size})", f"{op.range.name_hint or 'k'}_count", op)


def begin_of(op: ForOp, id: str, lower: int | str, printing: PallasPrinter) -> str:
    """The first element of the loop's block, as a name or a number; a line is written where it must be computed."""
    if not any(not isinstance(use.operation, WhenOp | IdOp) for use in op.range.uses):
        return id
    size = binding(op.range).size
    product = id if size == 1 else f"{id} * {size}"
    if lower == 0 and product == id:
        return id
    expression = product if lower == 0 else f"{lower} + {product}"
    return printing.assign(expression, f"{op.range.name_hint or id}_begin", op)


def _while(op: Operation, printing: PallasPrinter, print_block: PrintBlock) -> None:
    """A `tile.while` as `jax.lax.while_loop`, whose first carried value is the condition, as a number."""
    assert isinstance(op, WhileOp)
    body = printing.names.fresh("while_body")
    carried = [printing.names.bind(value) for value in op.carried]
    printing.writer.gap()
    with printing.block(f"def {body}(carry):", op):
        if carried:
            printing.line(f"{', '.join(['_', *carried])} = carry")
        print_block(op.body.block, printing)
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


def _when(op: Operation, printing: PallasPrinter, print_block: PrintBlock) -> None:
    """A first or last visit as `pl.when`; where there is one visit only, as the body itself."""
    assert isinstance(op, WhenOp)
    tests = [_visit_test(printing.visit(range), op.visit.data) for range in op.ranges]
    tests = [test for test in tests if test is not None]
    if not tests:
        print_block(op.body.block, printing)
        return
    condition = tests[0] if len(tests) == 1 else " & ".join(f"({test})" for test in tests)
    _guarded(condition, op, op.body.block, printing, print_block)


def _visit_test(visit: Visit, which: str) -> str | None:
    if visit.id == "0":
        return None
    if which == "first":
        return f"{visit.id} == 0"
    last = int(visit.count) - 1 if visit.count.isdigit() else f"{visit.count} - 1"
    return f"{visit.id} == {last}"


def _guarded(condition: str, op: Operation, block: Block, printing: PallasPrinter, print_block: PrintBlock) -> None:
    printing.writer.gap()
    printing.line(f"@pl.when({condition})", op)
    with printing.block("def _():"):
        print_block(block, printing)
    printing.writer.gap()


def _if(op: Operation, printing: PallasPrinter, print_block: PrintBlock) -> None:
    """An `scf.if` with results as `jax.lax.cond`, without as `pl.when`."""
    assert isinstance(op, scf.IfOp)
    condition = printing.name(op.cond)
    if not op.results:
        if len(op.true_region.block.ops) > 1:
            _guarded(condition, op, op.true_region.block, printing, print_block)
        if op.false_region.blocks and len(op.false_region.block.ops) > 1:
            _guarded(f"jnp.logical_not({condition})", op, op.false_region.block, printing, print_block)
        return
    arms = [_arm(region.block, hint, printing, print_block) for region, hint in _arms(op)]
    results = [printing.names.bind(result) for result in op.results]
    printing.line(f"{', '.join(results)} = jax.lax.cond({condition}, {', '.join(arms)})", op)


def _arms(op: scf.IfOp):
    return ((op.true_region, "then"), (op.false_region, "otherwise"))


def _arm(block: Block, hint: str, printing: PallasPrinter, print_block: PrintBlock) -> str:
    name = printing.names.fresh(hint)
    with printing.block(f"def {name}():"):
        print_block(block, printing)
        last = block.last_op
        values: Sequence[SSAValue] = last.operands if last is not None else ()
        printing.line(f"return {_values([printing.name(value) for value in values])}")
    return name


def _associative(op: Operation, printing: PallasPrinter, print_block: PrintBlock) -> None:
    """A scan or reduction by a function, which is written first."""
    assert isinstance(op, AssociativeOp)
    combine = printing.names.fresh("combine")
    operands = [printing.names.bind(value) for value in op.body.block.args]
    printing.writer.gap()
    with printing.block(f"def {combine}({', '.join(operands)}):", op):
        print_block(op.body.block, printing)
        printing.line(f"return {_tuple(printing.name(value) for value in op.combined)}")
    printing.writer.gap()
    helper = use_helper("_" + op.name.removeprefix("tile."), printing)
    inputs = _tuple(printing.name(value) for value in op.inputs)
    reverse = ", reverse=True" if op.reverse is not None else ""
    expression = f"{helper}({combine}, {inputs}, {op.dim.data}{reverse})"
    if len(op.results) > 1:
        printing.unpack(op.results, expression, op)
    else:
        printing.bind(op.results[0], f"{expression}[0]", op)


def _tuple(names: Iterable[str]) -> str:
    texts = list(names)
    return f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"


#: The writer of each op with regions.
LOOPS: dict[type[Operation], Callable[[Operation, PallasPrinter, PrintBlock], None]] = {
    ForOp: _for,
    WhenOp: _when,
    WhileOp: _while,
    scf.IfOp: _if,
    AssociativeReduceOp: _associative,
    AssociativeScanOp: _associative,
}
