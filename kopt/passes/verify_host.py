"""The pass ``verify-host``: what stands around kernels is what a family's host code is made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from kopt.analysis.host_order import host_ops
from kopt.diagnostics import Problem
from kopt.dialects.tile.extent_names import NAMES, unnamed
from kopt.dialects.tile.extents import ExtentOp, argument_extents
from kopt.open_extents import OpenExtent, open_extents
from kopt.passes.verifying.host_forms import HostForms
from kopt.passes.verifying.printable import VerifyPrintablePass
from kopt.registry import load
from kopt.walk import walk

#: What the host code of each family is made of.
_FORMS = {
    "pallas": "kopt.passes.verifying.jax_forms:KERNELS",
    "jax": "kopt.passes.verifying.jax_forms:PROGRAMS",
    "triton": "kopt.passes.verifying.torch_forms:KERNELS",
    "torch": "kopt.passes.verifying.torch_forms:PROGRAMS",
}


@dataclass(frozen=True)
class VerifyHostPass(VerifyPrintablePass):
    """Checks that a family's host code has a form for what functions do around kernels. Printers take its word for it.

    ``family`` is whose code it becomes: ``pallas`` or ``triton`` for the function around kernels; ``jax`` or ``torch``
    for a program of all ranks, which has collectives besides. It refuses, at the op:

    * ops that the family has no form of, such as `tile.grid`;
    * element types that it lacks, where arrays are made;
    * results with ``?`` of which ``tile.extents`` does not name the extents, or names what no argument has;
    * calls of torch operators that it lacks, or has no form of for these arguments;
    * of programs of JAX, collectives that write an array that is given, averages of integers, and numbers of ranks
      that differ;
    * of programs of torch, persistent memory that is not symmetric and the reverse, results of collectives that are
      not contiguous, algorithms without the barriers or the result that torch's have, captured runs that take numbers
      from outside or are part of another.

        error: 'aten.renorm.default' of these arguments has no spelling in jnp

    The module stays as it is.
    """

    name = "verify-host"

    family: Literal["pallas", "jax", "triton", "torch"]

    def problems(self, top: Operation) -> Iterator[Problem]:
        forms = load(_FORMS[self.family])
        for func in top.ops if isinstance(top, ModuleOp) else (top,):
            if isinstance(func, FuncOp) and not func.is_declaration:
                yield from _of_function(func, forms)


def _of_function(func: FuncOp, forms: HostForms) -> Iterator[Problem]:
    if (op := unnamed(func)) is not None:
        yield Problem(op, f"which extents the results of '{op.name}' have is not said", (NAMES,))
    yield from _untold(func)
    for op in host_ops(func.body.block):
        if type(op) not in forms.ops:
            yield forms.formless(op)
        if (check := forms.checks.get(type(op))) is not None:
            yield from check(op)
    yield from forms.of_function(func)


def _untold(func: FuncOp) -> Iterator[Problem]:
    """Extents that no argument tells, of what the host makes and in kernels."""
    known = argument_extents(func.body.block.args)
    for op in (*host_ops(func.body.block), *walk(func, ExtentOp)):
        if untold := [extent for extent in _extents(op) if extent not in known]:
            yield Problem(op, f"no argument has the extent {untold[0].name!r} of '{op.name}'", (NAMES,))


def _extents(op: Operation) -> Iterator[OpenExtent]:
    """The extents of an op's results, those that others follow from in place of these; of `tile.extent` its own."""
    if isinstance(op, ExtentOp):
        yield op.extent
    for type in op.result_types:
        for extent in open_extents(type.get_shape() if isinstance(type, MemRefType) else ()):
            while extent.source is not None:
                extent = extent.source[0]
            yield extent
