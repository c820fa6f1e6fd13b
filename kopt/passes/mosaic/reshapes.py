"""Reshapes that cut the last dimension elsewhere, which Mosaic does not do, as slices that are put side by side."""

from __future__ import annotations

from collections.abc import Sequence
from math import lcm, prod

from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from kopt.analysis.storage import is_narrow
from kopt.dialects.builder import Builder
from kopt.dialects.tile import COMPARISONS, BroadcastOp, ConcatOp, DimAttr, ReshapeOp, SliceOp, element_of, tile_type
from kopt.targets.tiling import LANES

#: So many slices at most: each is code of its own.
_MOST_SLICES = 512


class SplitReshape(RewritePattern):
    """Rows of ``a`` lanes become rows of ``b``: rows are joined up to a common multiple of both, then cut."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReshapeOp, rewriter: PatternRewriter, /) -> None:
        if _is_native(tile_type(op.input).shape, tile_type(op.result).shape):
            return
        before, after = (_plain(tile_type(value).shape) for value in (op.input, op.result))
        count = _common(before, after)
        lead, rest, wanted = before[:count], before[count:], after[count:]
        whole = lcm(rest[-1].size.data, wanted[-1].size.data)
        joined, cut = whole // rest[-1].size.data, whole // wanted[-1].size.data
        if joined + cut > _MOST_SLICES:
            return
        build = Builder(op, rewriter=rewriter)
        rows = prod(_sizes(rest)) // whole
        value = build.reshape(op.input, before)
        if joined > 1:
            value = build.reshape(value, [*lead, rows, joined, rest[-1]])
            parts = _parts(build, value, count + 1, joined)
            value = _beside(build, [build.reshape(part, [*lead, rows, rest[-1]]) for part in parts], count + 1)
        if cut > 1:
            value = build.reshape(value, [*lead, rows, whole])
            parts = _parts(build, value, count + 1, cut)
            value = _beside(build, [build.reshape(part, [*lead, rows, 1, wanted[-1]]) for part in parts], count + 1)
        build.replace(build.reshape(value, tile_type(op.result).dims.data))


class JoinInOneRow(RewritePattern):
    """Vectors are joined as parts of one row. Joined as vectors, Mosaic would lay out each of them anew.

    %j = tile.concat %a, %b dim 0 : !tile.tile<32 x f32>, !tile.tile<96 x f32> to !tile.tile<128 x f32>
    becomes
    %c = tile.reshape %a : … to !tile.tile<1 x 32 x f32>   %r = tile.concat %c, %d dim 1 : …
    %j = tile.reshape %r : !tile.tile<1 x 128 x f32> to !tile.tile<128 x f32>
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConcatOp, rewriter: PatternRewriter, /) -> None:
        if tile_type(op.result).rank > 1:
            return
        build = Builder(op, rewriter=rewriter)
        rows = [build.reshape(value, [1, *tile_type(value).dims.data]) for value in op.inputs]
        build.replace(build.reshape(build.add(ConcatOp(rows, 1)), tile_type(op.result).dims.data))


class ReshapeBeforeCompare(RewritePattern):
    """Predicates that get other dimensions of one lane: what they compare gets them, which is in 32 bits.

    %p = tile.ge %a, %b : !tile.tile<8 x 128 x i32>   %r = tile.reshape %p : … to !tile.tile<1 x 8 x 128 x i1>
    becomes
    %c = tile.reshape %a …   %d = tile.reshape %b …   %r = tile.ge %c, %d : !tile.tile<1 x 8 x 128 x i32>
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReshapeOp, rewriter: PatternRewriter, /) -> None:
        compare = op.input.owner
        if not isinstance(compare, COMPARISONS) or any(is_narrow(element_of(value)) for value in compare.inputs):
            return
        if _plain_dims(op.input) != _plain_dims(op.result):
            return
        build = Builder(op, rewriter=rewriter)
        values = [_with_dims(build, value, tile_type(op.result).dims.data) for value in compare.inputs]
        build.replace(build.add(type(compare)(*values)))


def _plain_dims(value: SSAValue) -> list[DimAttr]:
    return [dim for dim in tile_type(value).dims.data if dim.size.data != 1]


def _with_dims(build: Builder, value: SSAValue, dims: Sequence[DimAttr]) -> SSAValue:
    """A value with other dimensions of one lane; of a broadcast, what it repeats is repeated along these."""
    broadcast = value.owner
    if not isinstance(broadcast, BroadcastOp):
        return build.reshape(value, dims)
    wide = [position for position, dim in enumerate(dims) if dim.size.data != 1]
    before = [position for position, dim in enumerate(tile_type(value).dims.data) if dim.size.data != 1]
    moved = dict(zip(before, wide, strict=True))
    places = [
        moved[place] for place, n in zip(broadcast.mapping, tile_type(broadcast.input).shape, strict=True) if n != 1
    ]
    return build.spread(_squeezed(build, broadcast.input), dims, places)


def _squeezed(build: Builder, value: SSAValue) -> SSAValue:
    """A value without its dimensions of one lane."""
    plain = _plain_dims(value)
    while isinstance(value.owner, ReshapeOp) and _plain_dims(value.owner.input) == plain:
        value = value.owner.input
    return build.reshape(value, plain)


class SliceBeforeReshape(RewritePattern):
    """One lane of each group, where a reshape that Mosaic lacks makes the groups: a slice with a step before it."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: SliceOp, rewriter: PatternRewriter, /) -> None:
        reshape = op.input.owner
        if not isinstance(reshape, ReshapeOp):
            return
        before, after = tile_type(reshape.input).dims.data, tile_type(reshape.result).dims.data
        at = next((n for n, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), len(before))
        grouped = at < len(before) and before[:at] + after[at : at + 2] + before[at + 1 :] == after
        if not grouped or _is_native(_sizes(before), _sizes(after)) or before[at].tag.data:
            return
        (begin, count, step), (lane, lanes, _) = op.bounds[at : at + 2]
        if lanes != 1:
            return
        group = after[at + 1].size.data
        bounds = (*op.bounds[:at], (begin * group + lane, count, step * group), *op.bounds[at + 2 :])
        build = Builder(op, rewriter=rewriter)
        offsets, sizes, strides = zip(*bounds, strict=True)
        value = build.add(SliceOp(reshape.input, offsets, sizes, strides))
        build.replace(build.reshape(value, tile_type(op.result).dims.data))
        if not reshape.result.uses:
            rewriter.erase(reshape)


def _is_native(before: Sequence[int], after: Sequence[int]) -> bool:
    """Whether Mosaic has a reshape: extents of 1 come and go, lanes stay or are whole registers, or are joined."""
    a, b = ([extent for extent in shape if extent != 1] for shape in (before, after))
    if a[-1:] == b[-1:]:
        return True
    if before[-1] == 1 or after[-1] == 1:
        return False
    return a[-1] % LANES == b[-1] % LANES == 0 or _joins_last(a, b[-1]) or _joins_last(b, a[-1])


def _joins_last(shape: Sequence[int], lanes: int) -> bool:
    """Whether some last dimensions of a shape make up the lanes, and others are left."""
    return any(prod(shape[n:]) == lanes for n in range(1, len(shape)))


def _plain(shape: Sequence[int]) -> list[DimAttr]:
    """The dimensions of more than one lane, without the tags of what is masked by now."""
    return [DimAttr(extent) for extent in shape if extent != 1]


def _sizes(dims: Sequence[DimAttr]) -> list[int]:
    return [dim.size.data for dim in dims]


def _common(before: Sequence[DimAttr], after: Sequence[DimAttr]) -> int:
    """How many first dimensions are the same; the last one is not among them."""
    most = min(len(before), len(after)) - 1
    return next((n for n in range(most) if before[n] != after[n]), most)


def _parts(build: Builder, value: SSAValue, dim: int, count: int) -> list[SSAValue]:
    """A dimension in slices."""
    shape = tile_type(value).shape
    size = shape[dim] // count
    sizes = [size if n == dim else extent for n, extent in enumerate(shape)]
    offsets = [[begin if n == dim else 0 for n in range(len(shape))] for begin in range(0, shape[dim], size)]
    return [build.add(SliceOp(value, offset, sizes, [1] * len(shape))) for offset in offsets]


def _beside(build: Builder, parts: Sequence[SSAValue], dim: int) -> SSAValue:
    return build.add(ConcatOp(parts, dim))
