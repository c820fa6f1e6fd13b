"""Divisions of integers whose divisor may be 0: XLA on a CPU dies where it computes one while it compiles."""

from __future__ import annotations

from xdsl.dialects.builtin import IndexType, IntegerType
from xdsl.ir import Operation, SSAValue

from kopt.dialects.tile import element_of
from kopt.lowering.pallas.printing import PallasPrinter

#: What stands for a template where the divisor may be 0; ``%`` of `jnp` looks for itself.
_GUARDED = {
    "{0} // {1}": "_divided(jnp.floor_divide, {0}, {1})",
    "-(-{0} // {1})": "-_divided(jnp.floor_divide, -{0}, {1})",
    "jax.lax.div({0}, {1})": "_divided(jax.lax.div, {0}, {1})",
    "jax.lax.rem({0}, {1})": "_divided(jax.lax.rem, {0}, {1})",
}


def guarded(template: str, op: Operation, printing: PallasPrinter) -> str:
    """The template of a division, by a helper that gives 0 for a divisor of 0 where one cannot be excluded."""
    if template not in _GUARDED or not _may_be_zero(op.operands[1], printing):
        return template
    return _GUARDED[template]


def _may_be_zero(value: SSAValue, printing: PallasPrinter) -> bool:
    return isinstance(element_of(value.type), IntegerType | IndexType) and 0 in printing.range(value)
