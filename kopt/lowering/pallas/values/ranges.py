"""The spelling of the numbers of a range: ``index`` scalars, and the element number of each lane."""

from __future__ import annotations

from xdsl.ir import Operation

from kopt.analysis.ranges import unshifted
from kopt.dialects.tile import BeginOp, CountOp, EndOp, IdOp, IndexOp
from kopt.lowering.pallas.printing import Printing, ValuePrinter
from kopt.lowering.pallas.values.masks import lane_numbers, remaining


def _begin(op: Operation, printing: Printing) -> str:
    assert isinstance(op, BeginOp)
    return printing.begin(op.range)


def _end(op: Operation, printing: Printing) -> str:
    assert isinstance(op, EndOp)
    begin, lanes = printing.begin(op.range), printing.lanes(op.range)
    if unshifted(op.range) is op.range:
        return f"jnp.minimum({begin} + {lanes}, {printing.limit(op.range)})"
    return f"{begin} + jnp.minimum({lanes}, {remaining(op.range, printing)})"


def _id(op: Operation, printing: Printing) -> str:
    assert isinstance(op, IdOp)
    return printing.visit(op.range).id


def _count(op: Operation, printing: Printing) -> str:
    assert isinstance(op, CountOp)
    return printing.visit(op.range).count


def _index(op: Operation, printing: Printing) -> str:
    assert isinstance(op, IndexOp)
    begin, lanes = printing.begin(op.range), lane_numbers((printing.lanes(op.range),), 0)
    return lanes if begin == "0" else f"{begin} + {lanes}"


PRINTERS: dict[type[Operation], ValuePrinter] = {
    BeginOp: _begin,
    EndOp: _end,
    IdOp: _id,
    CountOp: _count,
    IndexOp: _index,
}
