"""The pass ``plan-vmem``: calls that need more VMEM than a kernel has by default ask for it, and fit their chip."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from kopt.analysis.cell_footprint import temporaries
from kopt.analysis.revisit_order import grid_of
from kopt.analysis.spills import spilled_bytes
from kopt.analysis.vmem import VmemBuffer, amount, vmem_buffers
from kopt.diagnostics import location_of, remark
from kopt.dialects.pallas import CallOp
from kopt.errors import VmemError
from kopt.targets.budget import Budget
from kopt.targets.chips import TPU_CHIPS, chip_option
from kopt.walk import walk

#: The largest buffers of a call, which errors name one by one.
_NAMED = 8


@dataclass(frozen=True)
class PlanVmemPass(ModulePass):
    """Counts the VMEM of each `pallas.call`, and sets its limit where a kernel of its ``chip`` has less by default.

    What a call takes are its buffers, which are final by then: windows, twice where their blocks change from step to
    step; scratch memory; blocks of pipelines, twice. Each is padded to tiles as libtpu pads it, so that the sum is the
    least that libtpu takes. Beside them come the values that wait and have no register (`kopt.analysis.spills`). A
    remark says what a call takes.

    The limit is up to twice the buffers and all values that are alive at once, for what Mosaic adds of its own, and no
    more than the chip has.

        pallas.call @f(%x) windows [<[4096, 4096], (d0) -> (d0, 0), vmem>, …] …
    becomes
        pallas.call @f(%x) windows [<[4096, 4096], (d0) -> (d0, 0), vmem>, …] … vmem_limit 134217728 …

    Refuses, at an access of the largest one, buffers that take more VMEM than the chip has, and says what each takes:

        error: the buffers of 'f' take 256.0 MiB of VMEM: v6e has 128.0 MiB
        note: 'x' takes 128.0 MiB: 2 of 4096 x 4096 x f32 (window)
    """

    name = "plan-vmem"

    chip: str = chip_option(TPU_CHIPS, "tpu7x")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for call in walk(op, CallOp):
            self._plan(call)

    def _plan(self, call: CallOp) -> None:
        chip, grid, buffers = TPU_CHIPS[self.chip], grid_of(call), vmem_buffers(call)
        taken = sum(buffer.total for buffer in buffers)
        if taken > chip.vmem_bytes:
            message = f"the buffers of '{call.sym_name.data}' take {amount(taken)} of VMEM"
            place = location_of(_access(call, max(buffers, key=lambda buffer: buffer.total)))
            raise VmemError(f"{message}: {chip.name} has {amount(chip.vmem_bytes)}", place, notes=_table(buffers))
        spilled = spilled_bytes(grid, chip)
        limit = Budget(chip).vmem_limit(taken + max(spilled, temporaries(grid)))
        call.vmem_limit = None if limit is None else IntegerAttr(limit, 64)
        parts = [*map(str, buffers), *([f"values beyond registers take {amount(spilled)}"] if spilled else ())]
        remark(call, f"'{call.sym_name.data}' takes {amount(taken + spilled)} of VMEM: {'; '.join(parts)}")


def _access(call: CallOp, buffer: VmemBuffer) -> Operation:
    """The first op that uses a buffer."""
    return next((op for op in walk(call) if buffer.value in op.operands), call)


def _table(buffers: Sequence[VmemBuffer]) -> list[str]:
    """A line for each buffer, the largest ones first, and one for those that are left."""
    ordered = sorted(buffers, key=lambda buffer: -buffer.total)
    named, others = ordered[:_NAMED], ordered[_NAMED:]
    rest = [f"{len(others)} others take {amount(sum(buffer.total for buffer in others))}"] if others else []
    return [*map(str, named), *rest]
