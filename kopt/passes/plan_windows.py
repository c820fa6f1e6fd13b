"""The pass ``plan-windows``: how the blocks that loops walk arrive in the chip's memory."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.passes import ModulePass

from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import ForOp


@dataclass(frozen=True)
class PlanWindowsPass(ModulePass):
    """x"""

    name = "plan-windows"

    loop_type: str = "auto"
    chip: str = "tpu7x"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for launch in op.walk():
            if isinstance(launch, LaunchOp):
                for loop in launch.walk():
                    if isinstance(loop, ForOp):
                        loop.schedule = StringAttr("resident")
