"""The spelling of matrix products: one ``dot_general`` with an accumulator of 32 bits.

``precision`` becomes: ``ieee`` → HIGHEST (six bf16 passes), ``tf32`` → HIGHEST too (the chips have no three-pass form
in Mosaic), ``bf16`` → DEFAULT (one pass), none → the default. It concerns f32 operands only: Mosaic refuses a
precision on narrower ones, which are exact anyway.
"""

from __future__ import annotations

from xdsl.dialects.builtin import f32
from xdsl.ir import Operation

from kopt.dialects.tile import DotOp, element_of, tile_type
from kopt.lowering.pallas.printing import PallasPrinter, ValuePrinter

_PRECISION = {"ieee": "HIGHEST", "tf32": "HIGHEST", "bf16": "DEFAULT"}


def _dot(op: Operation, printing: PallasPrinter) -> str:
    assert isinstance(op, DotOp)
    lhs, rhs = printing.name(op.lhs), printing.name(op.rhs)
    rank = tile_type(op.lhs).rank
    options = f"{_precision(op)}preferred_element_type={printing.dtype(element_of(op.result))}"
    if rank == 2:
        product = f"jnp.dot({lhs}, {rhs}, {options})"
    else:
        product = f"jax.lax.dot_general({lhs}, {rhs}, {_dimension_numbers(rank)}, {options})"
    return product if op.accumulator is None else f"{printing.name(op.accumulator)} + {product}"


def _precision(op: DotOp) -> str:
    if op.precision is None or element_of(op.lhs) != f32:
        return ""
    return f"precision=jax.lax.Precision.{_PRECISION[op.precision.data]}, "


def _dimension_numbers(rank: int) -> str:
    batch = tuple(range(rank - 2))
    return repr((((rank - 1,), (rank - 2,)), (batch, batch)))


PRINTERS: dict[type[Operation], ValuePrinter] = {DotOp: _dot}
