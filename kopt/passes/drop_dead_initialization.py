"""The pass ``drop-dead-initialization``: no array is given elements that nothing sees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from kopt.analysis.access_summary import accesses, seen_by
from kopt.analysis.aliases import root
from kopt.analysis.coverage import Verdict
from kopt.diagnostics import remark
from kopt.dialects.host import AllocOp, CallOp, CopyOp
from kopt.dialects.tile import GridOp, array_type


@dataclass(frozen=True)
class DropDeadInitializationPass(ModulePass):
    """Dead initialisation elimination: drops the fill, copy or call that gives an array elements which nothing reads.

    It does so where every element is written before any is read.

    Reads and writes are followed over the launches of the function and through views, by
    `kopt.analysis.access_summary`. Where a fill stays, a remark says which read needs it.

        %out = host.alloc fill 0.0 : memref<1000xf32>
        tile.grid (%i: b0=128) in (1000) { … tile.store %v, %out[%i] … }
    becomes
        %out = host.alloc : memref<1000xf32>
        tile.grid (%i: b0=128) in (1000) { … tile.store %v, %out[%i] … }

    Likewise `host.copy` into an array is dropped, and a `host.call` becomes an allocation. It never refuses.
    """

    name = "drop-dead-initialization"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.body.block.ops:
            if isinstance(func, FuncOp) and func.body.blocks:
                for inner in reversed(list(func.body.block.ops)):  # a dead copy may be the only reader of its source
                    _drop_if_dead(inner)


def _drop_if_dead(op: Operation) -> None:
    if isinstance(op, AllocOp) and op.fill is not None:
        _unfill(op)
    elif isinstance(op, CopyOp):
        if not seen_by(root(op.target), _after(op)).needed:
            _say(op, f"nothing is copied into '{_name(op.target)}'")
            Rewriter.erase_op(op)
    elif isinstance(op, CallOp) and len(op.outputs) == 1 and op.outputs[0].first_use is not None:
        result = op.outputs[0]
        if not seen_by(result, _after(op)).needed:
            _say(op, f"'{_name(result)}' is not computed")
            array = AllocOp(array_type(result))
            array.location, array.result.name_hint = op.location, result.name_hint
            Rewriter.replace_op(op, array)


def _unfill(op: AllocOp) -> None:
    if op.result.first_use is None:
        return
    found = seen_by(op.result, _after(op))
    if not found.needed:
        _say(op, f"'{_name(op.result)}' is not filled")
        op.fill = None
    elif (stores := _stores(op.result, _after(op))) is not None:
        reason = stores.reason if isinstance(found.blame, ReturnOp) and not stores else found.reason
        remark(op, f"'{_name(op.result)}' is filled first: {reason}")


def _stores(array: SSAValue, ops: Iterable[Operation]) -> Verdict | None:
    """What the last grid that writes an array leaves out of it, or None where no grid does."""
    grids = [access for op in ops if isinstance(op, GridOp) for access in accesses(op).values()]
    verdicts = [access.covered for access in grids if access.written is not None and root(access.memory) is array]
    return verdicts[-1] if verdicts else None


def _after(op: Operation) -> Iterator[Operation]:
    while op.next_op is not None:
        op = op.next_op
        yield op


def _say(op: Operation, what: str) -> None:
    remark(op, f"{what}: every element is written before it is read")


def _name(value: SSAValue) -> str:
    return value.name_hint or "array"
