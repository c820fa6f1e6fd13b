"""The pass ``host-to-dps``: library calls write into arrays that a plan of the memory can see."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.symmetric import is_contiguous, is_static
from kopt.dialects.host import AllocOp, CallOp, CallOutOp
from kopt.dialects.host.out_forms import OUT_FORMS
from kopt.walk import walk


@dataclass(frozen=True)
class HostToDpsPass(ModulePass):
    """Destination-passing style of library calls: each that can write a given array gets one for its result.

    Such calls can be captured, and their results are planned as other arrays are. Calls of operators that have no such
    form, or whose results have a dynamic shape or gaps, stay as they are.

        %e = host.call "aten.exp.default"(%x) args [unit] : (memref<8x4xf32>) -> (memref<8x4xf32>)
    becomes
        %e = host.alloc : memref<8x4xf32>
        host.call_out "aten.exp.default"(%x) args [unit] to %e : (memref<8x4xf32>) to memref<8x4xf32>

    It never refuses.
    """

    name = "host-to-dps"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in walk(op):
            if isinstance(inner, CallOp) and _has_out_form(inner):
                _pass_destination(inner)


def _has_out_form(op: CallOp) -> bool:
    types = [value.type for value in op.outputs]
    return op.callee.data in OUT_FORMS and len(types) == 1 and is_static(types[0]) and is_contiguous(types[0])


def _pass_destination(op: CallOp) -> None:
    (result,) = op.outputs
    alloc = AllocOp(result.type)
    alloc.result.name_hint = result.name_hint
    call = CallOutOp(op.callee.data, op.inputs, op.arguments.data, alloc.result)
    call.attributes |= op.attributes
    for new in (alloc, call):
        new.location = op.location
    Rewriter.insert_op([alloc, call], InsertPoint.before(op))
    Rewriter.replace_op(op, [], [alloc.result])
