"""The jnp spelling of masks: lanes are compared with what is left of their range."""

from __future__ import annotations

from xdsl.dialects.builtin import i1
from xdsl.ir import Operation, SSAValue

from kopt.dialects.tile import MaskOp, ValidOp, element_of, literal_value, tile_type
from kopt.ir.ranges import unshifted
from kopt.lowering.pallas.printing import PallasPrinter, ValuePrinter
from kopt.lowering.pallas.values.operands import shape_text, where


def remaining(range: SSAValue, printing: PallasPrinter) -> str:
    """The number of valid lanes of a range's block, as an expression of one operand. May exceed the block."""
    base = unshifted(range)
    begin, limit = printing.begin(base), printing.limit(base)
    if begin == "0":
        return limit
    return f"({limit} - {begin})"


def lane_numbers(shape: tuple[int, ...], dim: int) -> str:
    """The number of each lane along one dimension."""
    return f"jax.lax.broadcasted_iota(jnp.int32, {shape_text(shape)}, {dim})"


def _valid(op: Operation, printing: PallasPrinter) -> str:
    assert isinstance(op, ValidOp)
    return f"{lane_numbers((printing.lanes(op.range),), 0)} < {remaining(op.range, printing)}"


def _mask(op: Operation, printing: PallasPrinter) -> str:
    assert isinstance(op, MaskOp)
    name, shape = printing.name(op.input), printing.shape(op.input)
    tests = [
        f"({lane_numbers(shape, dim)} < {remaining(limit, printing)})"
        for dim, limit in enumerate(op.limits)
        if limit is not None
    ]
    if not tests:
        return name
    inside = printing.assign(" & ".join(tests), hint="inside", op=op)
    if element_of(op.input) == i1:
        return f"{name} | ~{inside}" if literal_value(op.fill) else f"{name} & {inside}"
    return where(inside, name, printing.literal(op.fill), tile_type(op.input), printing)


PRINTERS: dict[type[Operation], ValuePrinter] = {ValidOp: _valid, MaskOp: _mask}
