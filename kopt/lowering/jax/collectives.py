"""How collectives are printed: `jax.lax` operations along the mesh's axis of their group.

How the data move is XLA's choice, so an algorithm that an all-reduce names says nothing here; ``expand-collectives``
makes kernels of collectives whose ranks copy to each other by themselves.
"""

from __future__ import annotations

from xdsl.ir import Operation

from kopt.dialects import symm
from kopt.lowering.expr import Expr, spell
from kopt.lowering.host.jax_calls import HANDLERS as HOST
from kopt.lowering.names import quoted
from kopt.lowering.pallas.printing import PallasPrinter
from kopt.lowering.printer import Handler

_REDUCTIONS = {"add": "psum", "max": "pmax", "min": "pmin", "avg": "pmean"}
_TEMPLATES: dict[type[Operation], str] = {
    symm.AllGatherOp: "jax.lax.all_gather({0}, {1}, tiled=True)",
    symm.ReduceScatterOp: "jax.lax.psum_scatter({0}, {1}, tiled=True)",
    symm.AllToAllOp: "jax.lax.all_to_all({0}, {1}, 0, 0, tiled=True)",
}


def _all_reduce(printing: PallasPrinter, op: symm.AllReduceOp) -> None:
    _define(printing, op, f"jax.lax.{_REDUCTIONS[op.kind.data]}({{0}}, {{1}})")


def _collective(printing: PallasPrinter, op: symm.CollectiveOp) -> None:
    _define(printing, op, _TEMPLATES[type(op)])


def _define(printing: PallasPrinter, op: symm.AllReduceOp | symm.CollectiveOp, text: str) -> None:
    """A template of the array and the name of its group's axis."""
    printing.define(op.result, spell(text, printing[op.input], Expr(quoted(op.group.data))))


def _ordered_by_data(printing: PallasPrinter, op: symm.BarrierOp) -> None:
    """Nothing: arrays are values here, so whoever reads one waits for it."""


#: The printer of each host op of a program.
HANDLERS: dict[type[Operation], Handler] = {
    **HOST,
    symm.AllReduceOp: _all_reduce,
    **dict.fromkeys(_TEMPLATES, _collective),
    symm.BarrierOp: _ordered_by_data,
}
