"""The jnp spelling of masks: lanes are compared with what is left of their range."""

from __future__ import annotations

from functools import reduce

from xdsl.dialects.builtin import i1
from xdsl.ir import Operation, SSAValue

from kopt.dialects.tile import MaskOp, ValidOp, element_of, literal_value, tile_type
from kopt.ir.ranges import unshifted
from kopt.lowering.expr import Expr, spell, subtract
from kopt.lowering.pallas.printing import PallasPrinter
from kopt.lowering.pallas.values.operands import shape_text, where
from kopt.lowering.printer import Handler


def remaining(range: SSAValue, printing: PallasPrinter) -> Expr:
    """The number of valid lanes of a range's block. May exceed the block."""
    base = unshifted(range)
    return subtract(printing.limit(base), printing.begin(base))


def lane_numbers(shape: tuple[int, ...], dim: int) -> Expr:
    """The number of each lane along one dimension."""
    return Expr(f"jax.lax.broadcasted_iota(jnp.int32, {shape_text(shape)}, {dim})")


def _valid(printing: PallasPrinter, op: ValidOp) -> None:
    lanes = lane_numbers((printing.lanes(op.range),), 0)
    printing.define(op.result, spell("{0} < {1}", lanes, remaining(op.range, printing)))


def _mask(printing: PallasPrinter, op: MaskOp) -> None:
    value, shape = printing[op.input], printing.shape(op.input)
    tests = [
        spell("{0} < {1}", lane_numbers(shape, dim), remaining(limit, printing))
        for dim, limit in enumerate(op.limits)
        if limit is not None
    ]
    if not tests:
        printing.define(op.result, value)
        return
    inside = printing.give(reduce(lambda left, right: spell("{0} & {1}", left, right), tests), "inside", op)
    if element_of(op.input) == i1:
        expr = spell("{0} | ~{1}" if literal_value(op.fill) else "{0} & {1}", value, inside)
    else:
        expr = where(inside, value, printing.literal(op.fill), tile_type(op.input), printing)
    printing.define(op.result, expr)


HANDLERS: dict[type[Operation], Handler] = {ValidOp: _valid, MaskOp: _mask}
