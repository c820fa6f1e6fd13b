"""The pass ``spread-strides``: slices with steps that Mosaic does not take read and write whole dimensions."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import LoadOp, StoreOp
from kopt.ir.from_ssa import IndexAnalysis
from kopt.passes.mosaic.strided_accesses import SpreadLoad, SpreadStore
from kopt.passes.rewriting import walk_and_apply_patterns
from kopt.walk import walk


@dataclass(frozen=True)
class SpreadStridesPass(ModulePass):
    """Legalises strided accesses: those of every n-th lane, or of every n-th row of elements below 32 bits.

    A load takes the whole dimension and slices the value. A store puts each lane of its value at its place in the
    whole dimension, and writes the lanes that the slice names.

        tile.store %v, %x[0:32:2] : !tile.tile<16 x f32>, memref<32xf32>
    becomes
        %n = tile.arange 0 step 1 : !tile.tile<32 x i32>
        %w = … the lane %n / 2 of %v, for each lane …
        %m = … %n % 2 == 0 …
        tile.store %w, %x[:] mask %m : !tile.tile<32 x f32>, memref<32xf32>

    It never refuses. Atomic updates are spread where they accumulate, in ``materialize-accumulators``.
    """

    name = "spread-strides"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        analysis = IndexAnalysis()
        patterns = {LoadOp: (SpreadLoad(analysis),), StoreOp: (SpreadStore(analysis),)}
        for launch in walk(op, LaunchOp):
            walk_and_apply_patterns(launch, patterns)
