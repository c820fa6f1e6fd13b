"""The pass ``verify-pallas``: every op of a kernel is one that Pallas code is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, MemRefType
from xdsl.ir import Attribute, Operation, SSAValue

from kopt import dtypes
from kopt.analysis.revisit_order import grid_of
from kopt.diagnostics import Problem
from kopt.dialects import symm, tile
from kopt.dialects.pallas import CallOp
from kopt.lowering.pallas.kernel import HANDLERS
from kopt.lowering.pallas.specs import SCRATCH, SEMAPHORES
from kopt.lowering.printer import FLOAT_PREDICATES
from kopt.passes.verifying.printable import VerifyPrintablePass
from kopt.passes.verifying.removed_by import formless
from kopt.targets.compiler_hazards import UNREAD_OPERAND
from kopt.walk import walk

#: Values that stand for something else than elements.
_NO_ELEMENTS = (IndexType, tile.RangeType, symm.TransferType)
_ONE_BARRIER = "a kernel has one semaphore for barriers, so one barrier: a rank that is ahead would signal the next"


@dataclass(frozen=True)
class VerifyPallasPass(VerifyPrintablePass):
    """Checks that Pallas has a form for what the kernel of a `pallas.call` does. The printer takes its word for it.

    It refuses, at the op:

    * ops that no Pallas code is made of, such as `tile.load`, and comparisons of floats that it lacks;
    * element types that Pallas lacks, of values, results and scratch memory; scratch memory that is in HBM;
    * a call without a grid, or with an operand that its kernel does not use (a hazard of libtpu's);
    * barriers that do not say how many ranks meet, or of a call without a ``collective``; a second barrier; copies to
      other ranks without semaphores.

        error: 'tile.load' has no spelling in a Pallas kernel

    The module stays as it is.
    """

    name = "verify-pallas"

    def problems(self, top: Operation) -> Iterator[Problem]:
        for call in walk(top, CallOp):
            yield from _of_memory(call)
            ops = walk(grid_of(call).body)
            yield from _of_barriers(call, [op for op in ops if isinstance(op, symm.BarrierOp)])
            for op in ops:
                yield from _of_op(op)
            yield from _of_operands(call)


def _of_memory(call: CallOp) -> Iterator[Problem]:
    """The arrays and the scratch memory that are made for a kernel."""
    for output in call.outputs:
        assert isinstance(output.type, MemRefType)
        yield from _of_element(call, output.type.element_type)
    for ref in call.scratch:
        assert isinstance(ref.type, tile.RefType)
        if (space := ref.type.space.data) in SCRATCH:
            yield from _of_element(call, ref.type.element_type)
        elif space not in SEMAPHORES:
            yield Problem(
                call, f"scratch memory of a kernel is in {' or '.join(SCRATCH)}, found {ref.type}", id="no-form"
            )


def _of_operands(call: CallOp) -> Iterator[Problem]:
    """What a call is given, its kernel uses: itself, in the place of a result, or for the places of blocks."""
    for number, (ref, array) in enumerate(zip(call.input_refs, call.inputs, strict=True)):
        if ref.first_use is None and number not in call.aliased and number >= call.prefetched_count:
            name = ref.name_hint or array.name_hint or f"operand {number}"
            note = f"give the call what it reads alone: in {UNREAD_OPERAND.versions}, {UNREAD_OPERAND.what}"
            yield Problem(call, f"the kernel does not use '{name}'", (note,), id="no-form")


def _of_barriers(call: CallOp, barriers: Sequence[symm.BarrierOp]) -> Iterator[Problem]:
    for number, op in enumerate(barriers):
        if (op.ranks is None and not op.others) or call.collective is None:
            yield Problem(
                op, "a barrier in a kernel needs its ranks, and the call its collective's number", id="no-form"
            )
        if number > 0:
            yield Problem(
                op, _ONE_BARRIER, ("signal and wait for counters instead, one channel for each rank",), id="no-form"
            )


def _of_op(op: Operation) -> Iterator[Problem]:
    kind = type(op)
    if kind not in HANDLERS:
        yield formless(op, "pallas", f"'{op.name}' has no spelling in a Pallas kernel")
    if (check := _CHECKS.get(kind)) is not None:
        yield from check(op)
    for result in op.results:
        yield from _of_value(op, result)


def _of_value(op: Operation, value: SSAValue) -> Iterator[Problem]:
    if isinstance(value.type, tile.TileType):
        yield from _of_element(op, value.type.element_type)
    elif not isinstance(value.type, _NO_ELEMENTS):
        yield from _of_element(op, value.type)


def _of_element(op: Operation, type: Attribute) -> Iterator[Problem]:
    if dtypes.from_ir(type) is None:
        yield Problem(op, f"Pallas has no element type for {type}", id="no-form")


def _of_comparison(op: arith.CmpfOp) -> Iterator[Problem]:
    if (predicate := op.predicate.value.data) not in FLOAT_PREDICATES:
        yield Problem(op, f"Pallas has no spelling for arith.cmpf with predicate {predicate}", id="no-form")


def _of_remote_copy(op: symm.RemoteCopyOp) -> Iterator[Problem]:
    if op.sent is None:
        yield Problem(
            op,
            "a copy to another rank counts on two semaphores, found none",
            ("run lower-remote-copies",),
            id="no-form",
        )


_CHECKS: dict[type[Operation], Callable[[Any], Iterator[Problem]]] = {
    arith.CmpfOp: _of_comparison,
    symm.RemoteCopyOp: _of_remote_copy,
}
