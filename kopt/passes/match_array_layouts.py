"""The pass ``match-array-layouts``: arrays that XLA lays out by columns are taken by columns, and not copied."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from kopt.analysis.column_layouts import by_columns
from kopt.diagnostics import remark
from kopt.dialects.canonicalization.tile import PATTERNS
from kopt.dialects.tile import TransposeOp, array_type
from kopt.passes.permuting import permute
from kopt.passes.rewriting import walk_and_apply_patterns


@dataclass(frozen=True)
class MatchArrayLayoutsPass(ModulePass):
    """Swaps the last two dimensions of arrays that XLA lays out by columns, and transposes their blocks in the kernel.

    XLA pads the last two dimensions in memory to tiles of 8 by 128, and orders all so that this takes the least memory:
    of ``bf16[4096,64]`` a row is 4096 long. A kernel takes its arrays row by row, so XLA copies such an array before
    the kernel, or behind it. The transposed array has the order that is in memory: its transpose is no copy.

        %v = tile.load %x[%i, :] : memref<4096x64xbf16> -> !tile.tile<b0=512 x 64 x bf16>
    becomes
        %t = host.permute %x [1, 0]
        %w = tile.load %t[:, %i] : memref<64x4096xbf16> -> !tile.tile<64 x b0=512 x bf16>
        %v = tile.transpose %w [1, 0] : !tile.tile<64 x b0=512 x bf16>

    An array stays as it is where a block is not of whole tiles of the transposed array, where anything but unmasked
    loads and stores of blocks accesses it, and where another launch has to take it, or gives it, by rows. It never
    refuses.
    """

    name = "match-array-layouts"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for launch, number in by_columns(op):
            memory = launch.body.block.args[number]
            rank = array_type(memory).get_num_dims()
            remark(launch, f"'{memory.name_hint or f'operand {number}'}' is taken by columns, as XLA lays it out")
            permute(launch, number, [*range(rank - 2), rank - 1, rank - 2])
        for _ in range(2):  # two in a row become one, and one that keeps the order goes
            walk_and_apply_patterns(op, {TransposeOp: PATTERNS[TransposeOp]})
