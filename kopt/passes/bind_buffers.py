"""The pass ``bind-buffers``: launches become calls, whose operands have the windows and layouts of their plan."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.passes import ModulePass

from kopt.dialects.host import LaunchOp
from kopt.passes.binding.call import LaunchConverter
from kopt.passes.launches import drop_if_idle
from kopt.walk import walk


@dataclass(frozen=True)
class BindBuffersPass(ModulePass):
    """Converts each `host.launch` to a `pallas.call`; host ops around it bring arrays into their layouts and back.

    The buffers of the plan become windows, index maps and physical layouts, derived once, here. Loads and stores become
    `tile.get` and `tile.put` of the blocks of windows, and of rows by numbers; of arrays that stay in HBM they become
    `pallas.fetch` and `pallas.send`, which name the axis that their copies may overlap: the loop of a buffer of kind
    ``prefetch`` or ``writeback``, for one of kind ``dma`` the axis of the grid that moves fastest. Loops of schedule
    ``emit_pipeline`` become `pallas.pipeline`. A written operand is one that its result takes over, and its block is
    copied first; what a launch yields is a result alone, and what it donates stays in HBM and is not copied (see
    ``eliminate-output-only``). An array that only one launch sees, and whose cells read only what they wrote, is
    scratch memory. Windows that are not whole or not multiples of a tile get a physical layout: a pad, a split, a
    transposition. Each is a remark:

        remark: 'out' is laid out as 16 x 1 x 64 for the kernel: blocks of 64 lanes of dimension 0

    Launches of no cells disappear.

        %new = host.launch @f (%a = %x, %b = %w) yields … { tile.grid (%i: b0=128) in (1000) {
          %v = tile.load %a[%i, :] …
          tile.for %k: b1=64 in (0, %n) schedule prefetch { %u = tile.load %b[%k, :] … } } }
    becomes
        %new = pallas.call @f(%x, %w) windows [<[128, 64], (d0) -> (d0, 0), vmem>, …] semantics (parallel) … {
        ^bb0(%a: !tile.ref<128 x 64 x f32, vmem>, %b: !tile.ref<4096 x 64 x f32, hbm>, …): tile.grid … {
          %v = tile.get %a[:, :] …
          tile.for … { %u = pallas.fetch %b[%k, :] ahead %k depth 2 … } } }

    Refuses, with the access's place: blocks indexed by computed numbers, and windows that no layout makes legal.
    """

    name = "bind-buffers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for launch in walk(op, LaunchOp):
            if not drop_if_idle(launch):
                LaunchConverter(launch).convert()
        for func in [inner for inner in op.ops if isinstance(inner, FuncOp)]:
            _return_what_there_is(func)


def _return_what_there_is(func: FuncOp) -> None:
    """Lets a function give the arrays that calls make: dense ones, however an argument that they replace lay."""
    end = func.body.block.last_op if func.body.blocks else None
    if isinstance(end, ReturnOp):
        types = [value.type for value in end.operands]
        func.function_type = FunctionType.from_lists(func.function_type.inputs.data, types)
