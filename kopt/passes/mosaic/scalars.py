"""Scalars below 32 bits, which a TPU does not have, read as 32-bit ones from a block of one lane."""

from __future__ import annotations

from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from kopt.analysis.storage import is_narrow, wide
from kopt.dialects.builder import Builder
from kopt.dialects.tile import (
    BeginOp,
    CastOp,
    FullOp,
    IdOp,
    LoadOp,
    RangeType,
    ReshapeOp,
    SelectOp,
    ShiftOp,
    SliceAttr,
    element_of,
    literal,
    literal_value,
    tile_type,
)
from kopt.dialects.tile.index_list import Entry
from kopt.ir.ranges import binding, unshifted
from kopt.passes.retyping import all_lanes


class WidenScalarLoad(RewritePattern):
    """A load of one narrow element: the lane is widened before it becomes a scalar.

        %s = tile.load %x[%i, 11] : memref<4x16xbf16> -> !tile.tile<bf16>
    becomes
        %l = tile.load %x[%i, 11:12] …   %w = tile.cast %l …   %r = tile.reshape %w : … to !tile.tile<f32>   %s = …

    Arrays without dimensions are left to ``legalise-element-types``, which casts them around the launch.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: LoadOp, rewriter: PatternRewriter, /) -> None:
        element = element_of(op.result)
        if tile_type(op.result).rank or not is_narrow(element) or not op.entries:
            return
        build = Builder(op, rewriter=rewriter)
        lane = own_lane(op.entries[-1])
        if lane is None:
            number = op.entries[-1]
            assert isinstance(number, SSAValue)
            lane = build.add(ShiftOp(build.add(all_lanes(1, op)), number))
        block = build.add(LoadOp(op.memory, [*op.entries[:-1], lane], attributes=op.attributes))
        block = build.cast(block, wide(element_of(block)))
        scalar = build.add(ReshapeOp(block, tile_type(block).with_dims(())))
        if op.mask is not None:
            other = literal(0 if op.other is None else literal_value(op.other), element_of(scalar))
            scalar = build.add(SelectOp(op.mask, scalar, build.add(FullOp(other, tile_type(scalar)))))
        drop_casts_back(op.result, scalar)
        build.replace(scalar)


def own_lane(entry: Entry) -> Entry | None:
    """One element as a block of one lane, where its number is known or a cell's own."""
    if isinstance(entry, int):
        return SliceAttr(entry, entry + 1, 1)
    if not (isinstance(entry, SSAValue) and isinstance(entry.owner, BeginOp | IdOp)):
        return None
    first = entry.owner.range
    is_one = isinstance(first.type, RangeType) and first.type.size == 1
    begins = isinstance(entry.owner, BeginOp) or unshifted(first) is first and binding(first).lower == 0
    return first if is_one and begins else None


def drop_casts_back(narrow: SSAValue, scalar: SSAValue) -> None:
    """Users that cast the element take it wide: it came from the narrow type, so nothing was rounded."""
    for user in [use.operation for use in narrow.uses]:
        if isinstance(user, CastOp):
            build = Builder(user)
            build.replace(build.cast(scalar, element_of(user.result)))
