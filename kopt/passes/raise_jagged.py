"""The pass ``raise-jagged``: computed index tiles become slices of rows, loops to the longest item jagged loops."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from kopt.analysis.jagged import loops_around
from kopt.analysis.slices import NotSlices
from kopt.diagnostics import remark
from kopt.dialects.tile import ForOp, LoadOp, StoreOp
from kopt.ir.forms import is_number
from kopt.ir.sums import SumAnalysis
from kopt.passes.jagged.accesses import raise_access
from kopt.passes.jagged.loops import raise_loop
from kopt.walk import walk


@dataclass(frozen=True)
class RaiseJaggedPass(ModulePass):
    """Raises index arithmetic to rows of items: what people write are flat element numbers, row numbers, masks.

    * a loop from 0 to the largest of some lengths becomes a `jagged.for`. Masks must leave the lanes beyond each item's
      length out of every reduction, product and store;
    * a load or store whose index tiles are sums of lanes and of numbers of the items gets `jagged.rows` and ranges as
      entries. An index into flat storage is taken apart by the strides of the array that it is a view of, or else by
      its own coefficients. Each inner part must be known to stay inside its dimension. A `tile.arange` becomes a slice;
    * a load whose index tiles are sums of lanes and of loaded numbers alone gets ranges moved by these. Numbers that
      are computed from lanes alone belong to no item;
    * conditions of its mask that the loops around it imply are dropped.

        %f = host.reshape %x : memref<40x20xf32> to memref<800xf32>   // %at = (%starts + %k) * 20 + %m
        %v = tile.load %f[%at] : memref<800xf32> -> !tile.tile<b0=4 x b1=8 x b2=16 x f32>
    becomes
        %rows = jagged.rows %k from %starts …
        %v = tile.load %x[%rows, %m] : memref<40x20xf32> -> !tile.tile<b0=4 x b1=8 x b2=16 x f32>

    It never refuses: an access in a jagged loop that is no slice stays a gather, and a remark says why.
    """

    name = "raise-jagged"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for loop in walk(op, ForOp):
            raise_loop(loop)
        sums = SumAnalysis()
        for access in walk(op, LoadOp, StoreOp):
            if access.gathers:
                _raise(access, sums)
                if isinstance(access, LoadOp) and is_number(access.result.type):  # and what is made of its numbers
                    sums = SumAnalysis()


def _raise(access: LoadOp | StoreOp, sums: SumAnalysis) -> None:
    try:
        raise_access(access, sums)
    except NotSlices as why:
        if not loops_around(access):
            return
        what = access.memory.name_hint or "an array"
        remark(access, f"'{what}' is gathered lane by lane, not by slices of rows: {why}")
