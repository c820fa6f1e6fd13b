"""The pass ``symm-to-dps``: collectives write into arrays that a plan of the memory can see."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.symmetric import is_static
from kopt.diagnostics import location_of
from kopt.dialects.host import AllocOp
from kopt.dialects.symm import (
    AllGatherOp,
    AllGatherOutOp,
    AllReduceOp,
    AllReduceOutOp,
    AllToAllOp,
    AllToAllOutOp,
    CollectiveOp,
    CollectiveOutOp,
    ReduceScatterOp,
    ReduceScatterOutOp,
)
from kopt.errors import LoweringError
from kopt.walk import walk

_OUT_FORMS: dict[type[Operation], type[CollectiveOutOp]] = {
    AllGatherOp: AllGatherOutOp,
    ReduceScatterOp: ReduceScatterOutOp,
    AllToAllOp: AllToAllOutOp,
}


@dataclass(frozen=True)
class SymmToDpsPass(ModulePass):
    """Destination-passing style of collectives: each gets an array for its result, which it writes.

    Before it, every collective allocates its own result, where no plan of the memory sees it.

        %s = symm.all_reduce add %h group "tp" by one_shot : memref<8x64xf32> to memref<8x64xf32>
    becomes
        %s = host.alloc : memref<8x64xf32>
        symm.all_reduce_out add %h to %s group "tp" by one_shot : memref<8x64xf32> to memref<8x64xf32>

    Refuses results of dynamic shape.
    """

    name = "symm-to-dps"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in walk(op):
            if isinstance(inner, AllReduceOp | CollectiveOp):
                _pass_destination(inner)


def _pass_destination(op: AllReduceOp | CollectiveOp) -> None:
    if not is_static(op.result.type):
        message = f"'{op.name}' gives an array of dynamic shape, {op.result.type}, which cannot be planned"
        raise LoweringError(message, location_of(op), notes=["compile one program for each shape"], id="collective")
    alloc = AllocOp(op.result.type)
    alloc.result.name_hint = op.result.name_hint
    out = _out_form(op, alloc.result)
    out.attributes |= op.attributes
    for new in (alloc, out):
        new.location = op.location
    Rewriter.insert_op([alloc, out], InsertPoint.before(op))
    Rewriter.replace_op(op, [], [alloc.result])


def _out_form(op: AllReduceOp | CollectiveOp, out: SSAValue) -> Operation:
    if isinstance(op, AllReduceOp):
        algorithm = op.algorithm.data if op.algorithm is not None else None
        return AllReduceOutOp(op.kind.data, op.input, out, op.group.data, algorithm)
    return _OUT_FORMS[type(op)](op.input, out, op.group.data)
