"""What host code in JAX is made of."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import IntegerType, MemRefType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation

from kopt.analysis.groups import ranks_of
from kopt.diagnostics import Problem
from kopt.dialects import host, symm
from kopt.dialects.pallas import CallOp
from kopt.lowering.host.jax_calls import HANDLERS, is_spelt
from kopt.lowering.jax import collectives
from kopt.passes.verifying.host_forms import Check, HostForms, of_elements
from kopt.passes.verifying.removed_by import formless

_NO_ELEMENT_TYPE = "Pallas has no element type for"


def _formless(op: Operation) -> Problem:
    if isinstance(op, symm.AllReduceOutOp | symm.CollectiveOutOp):
        message = f"'{op.name}' writes an array that is given, and JAX has none to give: it plans the memory itself"
        return Problem(op, message, ("lower the program as it was before symm-to-dps",), id="no-form")
    return formless(op, "pallas", f"'{op.name}' has no spelling on the host of a Pallas kernel")


def _of_alloc(op: host.AllocOp) -> Iterator[Problem]:
    yield from of_elements(op.result, _NO_ELEMENT_TYPE)


def _of_call(op: host.CallOp) -> Iterator[Problem]:
    if not is_spelt(op):
        yield Problem(op, f"'{op.callee.data}' of these arguments has no spelling in jnp", id="no-form")
    for output in op.outputs:
        yield from of_elements(output, _NO_ELEMENT_TYPE)


def _of_all_reduce(op: symm.AllReduceOp) -> Iterator[Problem]:
    assert isinstance(op.input.type, MemRefType)
    if op.kind.data == "avg" and isinstance(op.input.type.element_type, IntegerType):
        yield Problem(op, f"JAX's average of {op.input.type} is no integer", id="no-form")


def _of_program(func: FuncOp) -> Iterator[Problem]:
    """Groups of one number of ranks: who counts them refuses others."""
    ranks_of(func)
    yield from ()


_CALLS = {CallOp, ReturnOp}
_CHECKS: dict[type[Operation], Check] = {host.AllocOp: _of_alloc, host.CallOp: _of_call}

#: Functions around kernels.
KERNELS = HostForms(_CALLS | HANDLERS.keys(), _formless, _CHECKS)
#: Programs of all ranks.
PROGRAMS = HostForms(
    _CALLS | collectives.HANDLERS.keys(), _formless, {**_CHECKS, symm.AllReduceOp: _of_all_reduce}, _of_program
)
