"""The pass ``bind-buffers``: launches become calls, whose operands have the windows and layouts of their plan."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from kopt.dialects.host import LaunchOp
from kopt.dialects.pallas import CallOp
from kopt.passes.binding.call import LaunchConverter
from kopt.passes.launches import drop_if_idle, erase_unused
from kopt.walk import walk


@dataclass(frozen=True)
class BindBuffersPass(ModulePass):
    """Lowers each `host.launch` to a `pallas.call`: the plan's buffers become windows, index maps, physical layouts.

    They are derived once, here. Host ops around the call bring arrays into their layouts, and back.

    | before | after |
    |---|---|
    | loads and stores of blocks of windows, and of rows by numbers | `tile.get` and `tile.put` |
    | loads and stores of arrays that stay in HBM | `pallas.fetch` and `pallas.send` |
    | loops of schedule ``emit_pipeline`` | `pallas.pipeline` |
    | a written operand | one that its result takes over; its block is copied first, unless it is overwritten |
    | what a launch yields (see ``eliminate-output-only``) | a result alone |
    | what a launch donates | an operand in HBM that is not copied |
    | an array that only one launch sees, and of which cells read only what they wrote | scratch memory |

    A fetch or send names the axis that its copies may overlap: the loop of a buffer of kind ``prefetch`` or
    ``writeback``, the axis of the grid that moves fastest for one of kind ``dma``. Windows that are not whole or not
    multiples of a tile get a physical layout: a pad, a split, a transposition. Each is a remark:

        remark: 'out' is laid out as 16 x 1 x 64 for the kernel: blocks of 64 lanes of dimension 0

    Launches of no cells disappear, and so do those that write only what the cells themselves see.

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
                _drop_if_unread(LaunchConverter(launch).convert())
        for func in [inner for inner in op.ops if isinstance(inner, FuncOp)]:
            _return_what_there_is(func)


def _drop_if_unread(call: CallOp) -> None:
    """Erases a call that gives nothing."""
    if not call.outputs:
        sources = list(call.inputs)
        Rewriter.erase_op(call)
        erase_unused(sources)


def _return_what_there_is(func: FuncOp) -> None:
    """Lets a function give the arrays that calls make: dense ones, however an argument that they replace lay."""
    end = func.body.block.last_op if func.body.blocks else None
    if isinstance(end, ReturnOp):
        types = [value.type for value in end.operands]
        func.function_type = FunctionType.from_lists(func.function_type.inputs.data, types)
