"""Rows of narrow values that alternate, as those of two unpacked nibbles do, put together in words of 32 bits."""

from __future__ import annotations

from functools import reduce

from xdsl.dialects.builtin import bf16, f32, i8, i32
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from kopt.analysis.interleaved import alternating
from kopt.dialects.builder import Builder
from kopt.dialects.canonicalization.elementwise import widens
from kopt.dialects.pallas.bitcast import BitcastRowsOp
from kopt.dialects.tile import (
    BitcastOp,
    CastOp,
    DimAttr,
    MaskOp,
    ReshapeOp,
    TileType,
    element_of,
    is_float,
    tile_type,
)


class InterleaveInWords(RewritePattern):
    """As many parts as a word has elements, row by row in turn: each word is made of one element of each part.

    A concat of such rows moves every sublane; an ``or`` moves none.

        %c = tile.concat %a, %b dim 1 : !tile.tile<8 x 1 x 128 x bf16>, … to !tile.tile<8 x 2 x 128 x bf16>
        %r = tile.reshape %c : … to !tile.tile<16 x 128 x bf16>
    becomes
        %w = tile.or (bits of %a), (bits of %b) << 16 : !tile.tile<8 x 128 x i32>
        %r = pallas.bitcast %w : !tile.tile<8 x 128 x i32> to !tile.tile<16 x 128 x bf16>
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReshapeOp, rewriter: PatternRewriter, /) -> None:
        mask, concat = op.input.owner, alternating(op)
        if concat is None:
            return
        if isinstance(mask, MaskOp) and mask.limits[-2] is not None:  # which parts there are depends on a limit
            return
        build, result = Builder(op, rewriter=rewriter), tile_type(op.result)
        parts = [_masked(build, part, mask) for part in concat.inputs] if isinstance(mask, MaskOp) else concat.inputs
        *outer, rows, lanes = result.dims.data
        dims = [*outer, DimAttr(rows.size.data // len(parts)), lanes]
        rows_of = [part.owner.input if isinstance(part.owner, ReshapeOp) else part for part in parts]
        words = [build.reshape(_word(build, part, n, len(parts)), dims) for n, part in enumerate(rows_of)]
        word = reduce(lambda first, second: build.compute("or", first, second), words)
        build.replace(build.add(BitcastRowsOp(word, result)))


def _masked(build: Builder, part: SSAValue, mask: MaskOp) -> SSAValue:
    """A part with the fill where a mask of all of them has it."""
    whole, kept = tile_type(mask.result), tile_type(part)
    dims = [*whole.dims.data[:-2], kept.dims.data[-2], whole.dims.data[-1]]
    return build.add(MaskOp(part, mask.limits, mask.fill, TileType(dims, kept.element_type)))


def _word(build: Builder, part: SSAValue, number: int, count: int) -> SSAValue:
    """A part's bits at their place in a word, with zeros around them."""
    bits, element = 32 // count, element_of(part)
    if element == bf16:  # the upper half of the same number in f32, whose lower half is 0
        cast = part.owner
        if isinstance(cast, CastOp) and widens(element_of(cast.input), bf16):
            part = cast.input
        word = build.add(BitcastOp(build.cast(part, f32), i32))
        return word if number else build.with_number("and", build.with_number("shr", word, bits), (1 << bits) - 1)
    word = build.cast(build.add(BitcastOp(part, i8)) if is_float(element) else part, i32)
    if number < count - 1:
        word = build.with_number("and", word, (1 << bits) - 1)
    return build.with_number("shl", word, bits * number) if number else word
