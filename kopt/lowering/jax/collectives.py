"""How collectives are printed: `jax.lax` operations along the mesh's axis of their group.

How the data move is XLA's choice, so an algorithm that an all-reduce names says nothing here; ``expand-collectives``
makes kernels of collectives whose ranks copy to each other by themselves.
"""

from __future__ import annotations

from xdsl.ir import Operation

from kopt.dialects import symm
from kopt.lowering.host.jax_calls import HOST, HostPrinter
from kopt.lowering.names import quoted
from kopt.lowering.pallas.printing import Printing

_REDUCTIONS = {"add": "psum", "max": "pmax", "min": "pmin", "avg": "pmean"}
_TEMPLATES: dict[type[Operation], str] = {
    symm.AllGatherOp: "jax.lax.all_gather({0}, {1}, tiled=True)",
    symm.ReduceScatterOp: "jax.lax.psum_scatter({0}, {1}, tiled=True)",
    symm.AllToAllOp: "jax.lax.all_to_all({0}, {1}, 0, 0, tiled=True)",
}


def _all_reduce(op: Operation, printing: Printing) -> str:
    assert isinstance(op, symm.AllReduceOp)
    return f"jax.lax.{_REDUCTIONS[op.kind.data]}({printing.name(op.input)}, {quoted(op.group.data)})"


def _collective(op: Operation, printing: Printing) -> str:
    assert isinstance(op, symm.CollectiveOp)
    return _TEMPLATES[type(op)].format(printing.name(op.input), quoted(op.group.data))


def _ordered_by_data(op: Operation, printing: Printing) -> str:
    """Nothing: arrays are values here, so whoever reads one waits for it."""
    return ""


#: The printer of each host op of a program.
SPELLINGS: dict[type[Operation], HostPrinter] = {
    **HOST,
    symm.AllReduceOp: _all_reduce,
    **dict.fromkeys(_TEMPLATES, _collective),
    symm.BarrierOp: _ordered_by_data,
}
