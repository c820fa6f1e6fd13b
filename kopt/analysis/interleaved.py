"""Rows of narrow values that alternate, as those of two unpacked nibbles do: words of 32 bits hold them. Pure."""

from __future__ import annotations

from xdsl.ir import Operation

from kopt.dialects.pallas.bitcast import elements_of_a_word
from kopt.dialects.tile import ConcatOp, MaskOp, ReshapeOp, tile_type


def alternating(reshape: Operation) -> ConcatOp | None:
    """The concatenation, masked or not, whose parts are the rows of a reshape in turn.

    %c = tile.concat %a, %b dim 1 : !tile.tile<8 x 1 x 128 x bf16>, … to !tile.tile<8 x 2 x 128 x bf16>
    %r = tile.reshape %c : … to !tile.tile<16 x 128 x bf16>
    """
    if not isinstance(reshape, ReshapeOp):
        return None
    mask = reshape.input.owner
    concat = mask.input.owner if isinstance(mask, MaskOp) else mask
    return concat if isinstance(concat, ConcatOp) and _alternate(concat, reshape) else None


def _alternate(concat: ConcatOp, reshape: ReshapeOp) -> bool:
    """Whether single rows of as many parts as a word has elements become the rows of one dimension."""
    made, result = tile_type(concat.result), tile_type(reshape.result)
    count = elements_of_a_word(made.element_type)
    if count == 1 or made.rank < 3 or concat.dim.data != made.rank - 2 or len(concat.inputs) != count:
        return False
    *outer, rows, _, lanes = made.dims.data
    return (
        made.shape[-2] == count
        and (*result.dims.data[:-2], result.dims.data[-1]) == (*outer, lanes)
        and (result.shape[-2] == rows.size.data * count)
    )
