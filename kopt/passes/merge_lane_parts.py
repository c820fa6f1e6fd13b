"""The pass ``merge-lane-parts``: parts of a vector register that are concatenated are computed as one."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from kopt.analysis.lane_parts import AllLanes, Joined, Tree, merged
from kopt.dialects.builder import Builder
from kopt.dialects.tile import ConcatOp, TileType, tile_type
from kopt.walk import walk


@dataclass(frozen=True)
class MergeLanePartsPass(ModulePass):
    """Computes parts of lanes that are concatenated as one tile, as superword-level parallelism does.

    Halves of 64 lanes take a vector register each, and every op on them as much as one on 128 lanes. Rotary embeddings
    are of this kind:

        %a = tile.slice %x [0, 0] [256, 64] [1, 1]     %b = tile.slice %x [0, 64] [256, 64] [1, 1]
        %p = tile.sub (tile.mul %a, %c0), (tile.mul %b, %s0)
        %q = tile.add (tile.mul %b, %c1), (tile.mul %a, %s1)
        %r = tile.concat %p, %q dim 1
    becomes, where %c0 and %c1 are the halves of %c,
        %t = tile.concat %b, %a dim 1     %s = tile.concat (tile.neg %s0), %s1 dim 1
        %r = tile.add (tile.mul %x, %c), (tile.mul %t, %s)

    Differences beside sums become sums of negated numbers, which is exact. Stays where parts are whole registers, of
    unlike widths or ops, and where the new tree would be as much work (`kopt.analysis.lane_parts`).
    """

    name = "merge-lane-parts"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for concat in [*walk(op, ConcatOp)]:
            if (tree := merged(concat)) is not None:
                build = Builder(concat)
                build.replace(_made(tree, build, tile_type(concat.result)))


def _made(tree: Tree, build: Builder, type: TileType) -> SSAValue:
    """The value of a tree, which has the lanes of ``type``."""
    if isinstance(tree, AllLanes):
        return tree.value
    if isinstance(tree, Joined):
        pairs = zip(tree.parts, tree.negative, strict=True)
        parts = [build.compute("neg", part) if negative else part for part, negative in pairs]
        return build.add(ConcatOp(parts, tile_type(parts[0]).rank - 1))
    op, operands = tree.like, [_made(operand, build, type) for operand in tree.operands]
    narrow = tile_type(op.results[0])
    wide = narrow.with_dims((*narrow.dims.data[:-1], type.dims.data[-1]))
    new = tree.kind.create(operands=operands, properties=dict(op.properties), result_types=[wide])
    return Builder(build.op, op).add(new)
