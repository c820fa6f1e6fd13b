"""The jnp spelling of random bits: a function of `kopt.lowering.emitted.mosaic`, in 32-bit integers."""

from __future__ import annotations

from xdsl.ir import Operation

from kopt.dialects.tile import PhiloxOp
from kopt.lowering.pallas.printing import PallasPrinter, ValuePrinter
from kopt.lowering.pallas.values.helpers import use_helper


def _philox(op: Operation, printing: PallasPrinter) -> str:
    assert isinstance(op, PhiloxOp)
    operands = ", ".join(printing.name(value) for value in op.operands)
    return f"{use_helper('_philox', printing)}({operands})"


PRINTERS: dict[type[Operation], ValuePrinter] = {PhiloxOp: _philox}
