"""The pass ``plan-vmem``: calls that need more VMEM than a kernel has by default ask for it."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.passes import ModulePass

from kopt.analysis.cell_footprint import call_bytes
from kopt.analysis.revisit_order import grid_of
from kopt.dialects.pallas import CallOp
from kopt.targets.budget import Budget
from kopt.targets.chips import TPU_CHIPS
from kopt.walk import walk


@dataclass(frozen=True)
class PlanVmemPass(ModulePass):
    """Sets the VMEM limit of each `pallas.call` that may need more than the default of its ``chip``.

    It counts what is seen here: windows twice, scratch, and the values that are live at once. The limit is up to twice
    that, for what Mosaic adds of its own, and no more than the chip has. Scratch memory is final by then.

        pallas.call @f(%x) windows [<[4096, 4096], (d0) -> (d0, 0), vmem>, …] …
    becomes
        pallas.call @f(%x) windows [<[4096, 4096], (d0) -> (d0, 0), vmem>, …] … vmem_limit 134217728 …

    Refuses nothing: what cannot fit, ``verify-plan`` refuses.
    """

    name = "plan-vmem"

    chip: str = "tpu7x"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for call in walk(op, CallOp):
            limit = Budget(TPU_CHIPS[self.chip]).vmem_limit(call_bytes(call, grid_of(call)))
            call.vmem_limit = None if limit is None else IntegerAttr(limit, 64)
