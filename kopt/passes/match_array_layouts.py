"""The pass ``match-array-layouts``: arrays are taken in the order in which XLA lays them out, and not copied."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from kopt.analysis.compact_layouts import reordered
from kopt.diagnostics import remark
from kopt.dialects.canonicalization.tile import PATTERNS
from kopt.dialects.tile import TransposeOp
from kopt.passes.permuting import permute
from kopt.passes.rewriting import walk_and_apply_patterns


@dataclass(frozen=True)
class MatchArrayLayoutsPass(ModulePass):
    """Takes arrays in XLA's order of their dimensions, and transposes their blocks in the kernel.

    XLA pads the last two dimensions in memory to tiles of 8 by 128, and orders all so that this takes the least memory:
    of ``bf16[4096,64]`` a row is 4096 long, and of ``bf16[4,513,1024]`` the 4 are the rows of a tile. A kernel takes
    its arrays row by row, so XLA copies such an array before the kernel, or behind it. The transposed array has the
    order that is in memory: its transpose is no copy.

        %v = tile.load %x[%i, :] : memref<4096x64xbf16> -> !tile.tile<b0=512 x 64 x bf16>
    becomes
        %t = host.permute %x [1, 0]
        %w = tile.load %t[:, %i] : memref<64x4096xbf16> -> !tile.tile<64 x b0=512 x bf16>
        %v = tile.transpose %w [1, 0] : !tile.tile<64 x b0=512 x bf16>

    An array stays as it is where a block is not of whole tiles of the transposed array, where anything but unmasked
    loads and stores of blocks accesses it, and where another launch has to take it, or gives it, by rows. Small arrays
    that single elements are loaded from may have any order: they stand in scalar memory. It never refuses.
    """

    name = "match-array-layouts"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for (launch, number), order in reordered(op).items():
            name = launch.body.block.args[number].name_hint or f"operand {number}"
            how = "by columns" if order[-1] != len(order) - 1 else f"in the order {[*order]} of its dimensions"
            remark(launch, f"'{name}' is taken {how}, as XLA lays it out")
            permute(launch, number, order)
        for _ in range(2):  # two in a row become one, and one that keeps the order goes
            walk_and_apply_patterns(op, {TransposeOp: PATTERNS[TransposeOp]})
