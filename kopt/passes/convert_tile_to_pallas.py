"""The pass ``convert-tile-to-pallas``: launches become calls whose kernels see blocks in on-chip memory."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.passes import ModulePass

from kopt.dialects.host import LaunchOp
from kopt.passes.to_pallas.call import LaunchConverter
from kopt.passes.to_pallas.launches import drop_if_idle
from kopt.targets.chips import TPU_CHIPS
from kopt.walk import walk


@dataclass(frozen=True)
class ConvertTileToPallasPass(ModulePass):
    """Converts each `host.launch` to a `pallas.call`; host ops around it bring arrays into their layouts and back.

    The windows of the memrefs become block specs; loads and stores become `tile.get` and `tile.put` of those blocks.
    A written operand is one that its result takes over, and its block is copied first; what a launch yields is a result
    alone, and what it donates stays in HBM and is not copied (see ``eliminate-output-only``). An array that only one
    launch sees, and whose cells read only what they wrote, is scratch memory. Launches of no cells disappear.

        %new = host.launch @f (%a = %x, %b = %out) writes [1] … { tile.grid … { %v = tile.load %a[%i, :] … } }
    becomes
        %new = pallas.call @f(%x) windows [<[128, 64], (d0) -> (d0, 0), vmem>, …] semantics (parallel) … {
        ^bb0(%a: !tile.ref<128 x 64 x f32, vmem>, …): tile.grid … { %v = tile.get %a[:, :] … } }

    Refuses, with the access's place: blocks indexed by computed numbers, and windows that no layout makes legal.
    """

    name = "convert-tile-to-pallas"

    chip: str = "tpu7x"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for launch in walk(op, LaunchOp):
            if not drop_if_idle(launch):
                LaunchConverter(launch, TPU_CHIPS[self.chip]).convert()
        for func in [inner for inner in op.ops if isinstance(inner, FuncOp)]:
            _return_what_there_is(func)


def _return_what_there_is(func: FuncOp) -> None:
    """Lets a function give the arrays that calls make: dense ones, however an argument that they replace lay."""
    end = func.body.block.last_op if func.body.blocks else None
    if isinstance(end, ReturnOp):
        types = [value.type for value in end.operands]
        func.function_type = FunctionType.from_lists(func.function_type.inputs.data, types)
