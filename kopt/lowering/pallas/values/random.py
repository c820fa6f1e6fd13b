"""The jnp spelling of random bits: a function of `kopt.lowering.emitted.mosaic`, in 32-bit integers."""

from __future__ import annotations

from xdsl.ir import Operation

from kopt.dialects.tile import PhiloxOp
from kopt.lowering.pallas.printing import PallasPrinter
from kopt.lowering.printer import Handler


def _philox(printing: PallasPrinter, op: PhiloxOp) -> None:
    printing.unpack(op.results, printing.spell("_philox({0}, {1}, {2})", *op.operands), op)


HANDLERS: dict[type[Operation], Handler] = {PhiloxOp: _philox}
