"""The spelling of the numbers of a range: ``index`` scalars, and the element number of each lane."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from kopt.dialects.tile import BeginOp, BroadcastOp, CountOp, EndOp, IdOp, IndexOp
from kopt.ir.ranges import unshifted
from kopt.lowering.pallas.printing import PallasPrinter, ValuePrinter
from kopt.lowering.pallas.values.masks import lane_numbers, remaining


def _begin(op: Operation, printing: PallasPrinter) -> str:
    assert isinstance(op, BeginOp)
    return printing.begin(op.range)


def _end(op: Operation, printing: PallasPrinter) -> str:
    assert isinstance(op, EndOp)
    begin, lanes = printing.begin(op.range), printing.lanes(op.range)
    if unshifted(op.range) is op.range:
        return f"jnp.minimum({begin} + {lanes}, {printing.limit(op.range)})"
    return f"{begin} + jnp.minimum({lanes}, {remaining(op.range, printing)})"


def _id(op: Operation, printing: PallasPrinter) -> str:
    assert isinstance(op, IdOp)
    return printing.visit(op.range).id


def _count(op: Operation, printing: PallasPrinter) -> str:
    assert isinstance(op, CountOp)
    return printing.visit(op.range).count


def _index(op: Operation, printing: PallasPrinter) -> str:
    assert isinstance(op, IndexOp)
    return element_numbers(op.range, (printing.lanes(op.range),), 0, printing)


def element_numbers(range: SSAValue, shape: tuple[int, ...], dim: int, printing: PallasPrinter) -> str:
    """Which element of what a range walks each lane is, where its block stands along one dimension of a shape."""
    begin, lanes = printing.begin(range), lane_numbers(shape, dim)
    return lanes if begin == "0" else f"{begin} + {lanes}"


def is_spelt_at_uses(op: Operation) -> bool:
    """Whether an op is the element numbers of lanes that only broadcasts use, which count anew."""
    return isinstance(op, IndexOp) and all(isinstance(use.operation, BroadcastOp) for use in op.result.uses)


PRINTERS: dict[type[Operation], ValuePrinter] = {
    BeginOp: _begin,
    EndOp: _end,
    IdOp: _id,
    CountOp: _count,
    IndexOp: _index,
}
