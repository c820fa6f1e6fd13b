"""The pass ``clamp-gathers``: no lane number of a gather is outside its input, since Triton does not check."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.passes import ModulePass

from kopt.dialects import tile, triton
from kopt.dialects.builder import Builder
from kopt.passes.gpu.gathers import INSIDE
from kopt.walk import walk


@dataclass(frozen=True)
class ClampGathersPass(ModulePass):
    """Clamps the lane numbers of gathers without ``triton.inside``: a number outside takes the first lane.

        %t = tile.take_along %v, %n dim 0 : !tile.tile<8 x f32>, !tile.tile<4 x i32>
    becomes
        %picks = triton.bounded %n below 8 : !tile.tile<4 x i32>
        %t = tile.take_along %v, %picks dim 0 {triton.inside}

    It never refuses. Lane numbers that are known are inside: `verify-accesses` has seen to that.
    """

    name = "clamp-gathers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for launch in walk(op, triton.LaunchOp):
            for gather in walk(launch, tile.TakeAlongOp):
                if INSIDE in gather.attributes or isinstance(gather.indices.owner, tile.FullOp):
                    continue
                lanes = tile.tile_type(gather.input).shape[gather.dim.data]
                gather.operands[1] = Builder(gather).add(triton.BoundedOp(gather.indices, lanes))
                gather.operands[1].name_hint = "picks"
                gather.attributes[INSIDE] = UnitAttr()
