"""The pass ``symm-place``: what collectives read from all ranks lies in their group's symmetric memory."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from kopt.analysis.host_order import host_ops
from kopt.analysis.symmetric import is_reader
from kopt.passes.symm.placement import Placer
from kopt.passes.symm.returns import copy_returned
from kopt.walk import walk


@dataclass(frozen=True)
class SymmPlacePass(ModulePass):
    """Puts the input of each collective by an algorithm into the symmetric memory of its group.

    Decided for each array and group, through views; the first that applies:

    | the array is | then |
    |---|---|
    | an allocation, or the result of a call that can write a given array | it is allocated there: nothing is copied |
    | an argument, which the caller allocated | copied before each collective to an array of its own there |
    | anything else: an opaque call's result, another group's array, a view with gaps, one that is read after \
a two-shot reduction overwrites it | the same |

    Every array there is persistent: the same memory in every call. What the function returns is copied out of it.

        %h = host.call "aten.mm.default"(%x, %w) args [unit, unit] : …
        symm.all_reduce_out add %h to %s group "tp" by one_shot : memref<8x64xf32> to memref<8x64xf32>
    becomes
        %h = host.alloc persistent "f.0" : memref<8x64xf32, #symm.space<"tp">>
        host.call_out "aten.mm.default"(%x, %w) args [unit, unit] to %h : …
        symm.all_reduce_out add %h to %s group "tp" by one_shot : memref<8x64xf32, #symm.space<"tp">> to …

    Refuses arrays of dynamic shape: ranks must agree on their symmetric memory. Each array placed is a remark.
    """

    name = "symm-place"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in walk(op):
            if isinstance(func, FuncOp) and func.body.blocks:
                _place(func)


def _place(func: FuncOp) -> None:
    placer = Placer(func)
    for op in list(host_ops(func.body.block)):
        if is_reader(op):
            placer.place(op)
    copy_returned(func)
