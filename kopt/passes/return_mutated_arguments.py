"""The pass ``return-mutated-arguments``: what a kernel changes in place becomes part of what it returns."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.passes import ModulePass

from kopt.analysis.aliases import written_arguments


@dataclass(frozen=True)
class ReturnMutatedArgumentsPass(ModulePass):
    """Appends each argument that a function writes to its results, in the order of the arguments.

    The emitted function then gives the final values back, which functional targets need. Arguments that share
    storage with a result are appended all the same. It never refuses.

        func.func @f(%x: memref<8xf32>) { … tile.store %v, %x[%i] … func.return }
    becomes
        func.func @f(%x: memref<8xf32>) -> memref<8xf32> { … func.return %x }
    """

    name = "return-mutated-arguments"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.body.block.ops:
            if isinstance(func, FuncOp) and func.body.blocks:
                _append_results(func)


def _append_results(func: FuncOp) -> None:
    mutated = written_arguments(func)
    end = func.body.block.last_op
    if not mutated or not isinstance(end, ReturnOp):
        return
    end.operands = [*end.operands, *mutated]
    outputs = [*func.function_type.outputs.data, *(arg.type for arg in mutated)]
    func.function_type = FunctionType.from_lists(func.function_type.inputs.data, outputs)
