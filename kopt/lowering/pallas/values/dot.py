"""The spelling of matrix products: one ``dot_general`` with an accumulator of 32 bits.

``precision`` becomes: ``ieee`` → HIGHEST (six bf16 passes), ``tf32`` and ``tf32x3`` → HIGHEST too (Mosaic takes no
HIGH), ``bf16`` → DEFAULT (one pass), none → the default; ``expand-for-mosaic`` has made three products of ``bf16x3``.
It concerns f32 operands only: Mosaic refuses a precision on narrower ones, which are exact anyway.
"""

from __future__ import annotations

from xdsl.dialects.builtin import f32
from xdsl.ir import Operation

from kopt.dialects.tile import DotOp, element_of, tile_type
from kopt.lowering.expr import spell
from kopt.lowering.pallas.printing import PallasPrinter
from kopt.lowering.printer import Handler

_PRECISION = {"ieee": "HIGHEST", "tf32": "HIGHEST", "tf32x3": "HIGHEST", "bf16": "DEFAULT", "bf16x3": "HIGHEST"}


def _dot(printing: PallasPrinter, op: DotOp) -> None:
    rank = tile_type(op.lhs).rank
    options = f"{_precision(op)}preferred_element_type={printing.dtype(element_of(op.result))}"
    text = "jnp.dot({0}, {1}, " if rank == 2 else f"jax.lax.dot_general({{0}}, {{1}}, {_dimension_numbers(rank)}, "
    product = printing.spell(f"{text}{options})", op.lhs, op.rhs)
    if op.accumulator is not None:
        product = spell("{0} + {1}", printing[op.accumulator], product)
    printing.define(op.result, product)


def _precision(op: DotOp) -> str:
    if op.precision is None or element_of(op.lhs) != f32:
        return ""
    return f"precision=jax.lax.Precision.{_PRECISION[op.precision.data]}, "


def _dimension_numbers(rank: int) -> str:
    batch = tuple(range(rank - 2))
    return repr((((rank - 1,), (rank - 2,)), (batch, batch)))


HANDLERS: dict[type[Operation], Handler] = {DotOp: _dot}
