"""Lane numbers are counted in the dimensions that want them: to move lanes to other dimensions costs a TPU more."""

from __future__ import annotations

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from kopt.dialects.builder import Builder
from kopt.dialects.tile import ArangeOp, BroadcastOp, IndexOp, ReshapeOp, tile_type


class CountInPlace(RewritePattern):
    """A broadcast of lane numbers in other dimensions of one lane is one of the lane numbers themselves.

    %i = tile.index %r   %c = tile.reshape %i : … to !tile.tile<b0=64 x 1 x i32>   %n = tile.broadcast %c dims [0, 1]
    becomes
    %i = tile.index %r   %n = tile.broadcast %i dims [0]
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: BroadcastOp, rewriter: PatternRewriter, /) -> None:
        column = op.input.owner
        if not isinstance(column, ReshapeOp) or not isinstance(column.input.owner, IndexOp | ArangeOp):
            return
        (lanes,) = tile_type(column.input).dims.data
        places = [place for place, dim in enumerate(tile_type(column.result).dims.data) if dim == lanes]
        if len(places) == 1:
            build = Builder(op, rewriter=rewriter)
            build.replace(build.add(BroadcastOp(column.input, [op.mapping[places[0]]], tile_type(op.result))))
