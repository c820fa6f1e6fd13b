"""The pass ``drop-dead-arrays``: what is stored but never read is not stored, nor is there an array for it."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from kopt.diagnostics import remark
from kopt.dialects.atomic import RmwOp
from kopt.dialects.host import AllocOp, CallOp, CopyOp, ViewOp
from kopt.dialects.tile import StoreOp
from kopt.walk import walk


@dataclass(frozen=True)
class DropDeadArraysPass(ModulePass):
    """Dead store elimination: arrays of the function's own that are only written go, with their views and all writes.

    An array is read if any view of it is loaded, copied, passed to a call or returned. What was computed for the stores
    alone is left to ``dce``.

        %tmp = host.alloc : memref<1000xf32>
        tile.grid … { … tile.store %v, %tmp[%i] … tile.store %r, %out[%i] … }
    becomes
        tile.grid … { … tile.store %r, %out[%i] … }

    It never refuses.
    """

    name = "drop-dead-arrays"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in reversed(walk(op)):  # copies into dead arrays may have been the last uses of others
            if isinstance(inner, AllocOp | CallOp) and len(inner.results) == 1:
                _drop(inner.results[0])


def _drop(array: SSAValue) -> None:
    uses = _uses(array)
    writes = [op for op, number in uses if _only_writes(op, number)]
    views = [op for op, _ in uses if isinstance(op, ViewOp)]
    made = array.owner
    if len(writes) + len(views) < len(uses) or not isinstance(made, Operation):
        return
    if writes:
        remark(made, f"'{array.name_hint or 'array'}' is never read: it is neither stored to nor allocated")
    for op in [*writes, *reversed(views), made]:
        Rewriter.erase_op(op)


def _uses(array: SSAValue) -> list[tuple[Operation, int]]:
    """The uses of an array and of all views of it, views before their own uses."""
    found = []
    for use in array.uses:
        found.append((use.operation, use.index))
        if isinstance(use.operation, ViewOp):
            found += _uses(use.operation.result)
    return found


def _only_writes(op: Operation, number: int) -> bool:
    """Whether an op has no effect but to write the operand of this number."""
    if isinstance(op, StoreOp | RmwOp):
        return number == 1 and not op.results
    return isinstance(op, CopyOp) and number == 1
