"""The spelling of ``arith`` on scalars: ``index`` and integer arithmetic, predicates, a few floats.

Operands are Python numbers or 32-bit scalars, so every spelling works for both.
"""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerType, i1
from xdsl.ir import Operation

from kopt.lowering.pallas.printing import PallasPrinter
from kopt.lowering.pallas.values.division import guarded
from kopt.lowering.printer import SCALARS, Handler, by

#: Divisions, whose divisor may be 0.
_DIVISIONS: dict[type[Operation], str] = {
    arith.DivSIOp: "jax.lax.div({0}, {1})",
    **dict.fromkeys((arith.DivUIOp, arith.FloorDivSIOp), "{0} // {1}"),
    **dict.fromkeys((arith.CeilDivSIOp, arith.CeilDivUIOp), "-(-{0} // {1})"),
    arith.RemSIOp: "jax.lax.rem({0}, {1})",
}
_CASTS = (
    arith.ExtSIOp,
    arith.ExtUIOp,
    arith.TruncIOp,
    arith.SIToFPOp,
    arith.UIToFPOp,
    arith.FPToSIOp,
    arith.FPToUIOp,
    arith.ExtFOp,
    arith.TruncFOp,
)


def _divide(printing: PallasPrinter, op: Operation) -> None:
    text = guarded(_DIVISIONS[type(op)], op, printing)
    printing.define(op.results[0], printing.spell(text, *op.operands))


def _constant(printing: PallasPrinter, op: arith.ConstantOp) -> None:
    printing.alias(op.result, printing.literal(op.value))


def _cast(printing: PallasPrinter, op: Operation) -> None:
    """By number: signed, a truth value is 0 or -1; unsigned, a narrow integer has the bits beyond its own cleared."""
    source, target = op.operands[0].type, op.results[0].type
    cast = "{0}" if isinstance(target, IndexType) else f"jnp.asarray({{0}}, {printing.dtype(target)})"
    if target == i1:
        cast = "({0} & 1) != 0"
    elif source == i1 and isinstance(op, arith.ExtSIOp | arith.SIToFPOp):
        cast = f"-{cast}"
    elif isinstance(op, arith.ExtUIOp) and isinstance(source, IntegerType) and source != i1:
        cast = f"{cast} & {(1 << source.width.data) - 1}"
    printing.define(op.results[0], printing.spell(cast, *op.operands))


HANDLERS: dict[type[Operation], Handler] = {
    **SCALARS,
    arith.ConstantOp: _constant,
    **dict.fromkeys(_DIVISIONS, _divide),
    **dict.fromkeys(_CASTS, _cast),
    arith.IndexCastOp: by("{0}"),
    **dict.fromkeys((arith.MinSIOp, arith.MinUIOp, arith.MinimumfOp), by("jnp.minimum({0}, {1})")),
    **dict.fromkeys((arith.MaxSIOp, arith.MaxUIOp, arith.MaximumfOp), by("jnp.maximum({0}, {1})")),
    **dict.fromkeys((arith.ShRSIOp, arith.ShRUIOp), by("{0} >> {1}")),
    arith.ShLIOp: by("{0} << {1}"),
    arith.NegfOp: by("-{0}"),
    arith.SelectOp: by("jnp.where({0}, {1}, {2})"),
}
