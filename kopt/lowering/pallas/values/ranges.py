"""The spelling of the numbers of a range: ``index`` scalars, and the element number of each lane."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from kopt.dialects.tile import BeginOp, BroadcastOp, CountOp, EndOp, IdOp, IndexOp, TakeAlongOp
from kopt.ir.ranges import unshifted
from kopt.lowering.expr import Expr, add, number, spell
from kopt.lowering.pallas.printing import PallasPrinter
from kopt.lowering.pallas.values.masks import lane_numbers, remaining
from kopt.lowering.printer import Handler


def _begin(printing: PallasPrinter, op: BeginOp) -> None:
    printing.define(op.result, printing.begin(op.range))


def _end(printing: PallasPrinter, op: EndOp) -> None:
    begin, lanes = printing.begin(op.range), number(printing.lanes(op.range))
    if unshifted(op.range) is op.range:
        end = spell("jnp.minimum({0}, {1})", add(begin, lanes), printing.limit(op.range))
    else:
        end = add(begin, spell("jnp.minimum({0}, {1})", lanes, remaining(op.range, printing)))
    printing.define(op.result, end)


def _id(printing: PallasPrinter, op: IdOp) -> None:
    printing.define(op.result, printing.visit(op.range).id)


def _count(printing: PallasPrinter, op: CountOp) -> None:
    printing.define(op.result, printing.visit(op.range).count)


def _index(printing: PallasPrinter, op: IndexOp) -> None:
    """Not where only broadcasts use them, which count lanes anew."""
    if not all(_counts_anew(use.operation) for use in op.result.uses):
        printing.define(op.result, element_numbers(op.range, (printing.lanes(op.range),), 0, printing))


def _counts_anew(op: Operation) -> bool:
    """Whether an op is a broadcast that counts, and none that picks of rows look through to the numbers themselves."""
    if not isinstance(op, BroadcastOp):
        return False
    picks = (use.operation for use in op.result.uses)
    return not any(isinstance(pick, TakeAlongOp) and pick.rows is op.input for pick in picks)


def element_numbers(range: SSAValue, shape: tuple[int, ...], dim: int, printing: PallasPrinter) -> Expr:
    """Which element of what a range walks each lane is, where its block stands along one dimension of a shape."""
    return add(printing.begin(range), lane_numbers(shape, dim))


HANDLERS: dict[type[Operation], Handler] = {
    BeginOp: _begin,
    EndOp: _end,
    IdOp: _id,
    CountOp: _count,
    IndexOp: _index,
}
