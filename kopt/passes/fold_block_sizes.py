"""The pass ``fold-block-sizes``: numbers that follow from the chosen block sizes become constants."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.arith import ConstantOp, SubiOp
from xdsl.dialects.builtin import IndexType, IntegerAttr, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from kopt.dialects.tile import BeginOp, BlockSizeOp, EndOp, ValidCountOp, mark_open, range_type
from kopt.dialects.tile.sizes import mark_read_sizes
from kopt.ir.ranges import always_full
from kopt.walk import walk


@dataclass(frozen=True)
class FoldBlockSizesPass(ModulePass):
    """Constant-folds `tile.block_size` and `tile.valid_count`, once the sizes of blocks are chosen.

    It is the first pass after the choice. Imported IR has no constants that follow from a size, so another size is a
    substitution in its types. This pass makes the constants. A valid count is the size where every block is full.
    Elsewhere it is the distance from the block's begin to its end. A distance that the source spells out is treated
    alike. The marks ``tile.open`` and ``tile.read_sizes`` go.

        %n = tile.block_size %i : !tile.range<b0=128>
        %v = tile.valid_count %i : !tile.range<b0=128>
    becomes, for 1000 elements,
        %n = arith.constant 128 : index
        %b = tile.begin %i : !tile.range<b0=128>
        %e = tile.end %i : !tile.range<b0=128>
        %v = arith.subi %e, %b : index

    It never refuses.
    """

    name = "fold-block-sizes"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in walk(op):
            mark_open(inner, ())
            mark_read_sizes(inner, ())
            if isinstance(inner, BlockSizeOp | ValidCountOp):
                _replace(inner, _folded(inner))
            elif isinstance(inner, SubiOp) and (range := _measured(inner)) is not None and always_full(range):
                _replace(inner, [_constant(range)])


def _measured(op: SubiOp) -> SSAValue | None:
    """The range of whose block an op computes the distance from its begin to its end."""
    end, begin = op.lhs.owner, op.rhs.owner
    if isinstance(end, EndOp) and isinstance(begin, BeginOp) and end.range is begin.range:
        return begin.range
    return None


def _folded(op: BlockSizeOp | ValidCountOp) -> list[Operation]:
    """The ops that compute the number, the last one its value."""
    if isinstance(op, BlockSizeOp) or always_full(op.range):
        return [_constant(op.range)]
    begin, end = BeginOp(op.range), EndOp(op.range)
    return [begin, end, SubiOp(end.result, begin.result)]


def _constant(range: SSAValue) -> ConstantOp:
    return ConstantOp(IntegerAttr(range_type(range).size, IndexType()))


def _replace(op: BlockSizeOp | ValidCountOp | SubiOp, ops: list[Operation]) -> None:
    for new in ops:
        new.location = op.location
    ops[-1].results[0].name_hint = op.result.name_hint
    Rewriter.replace_op(op, ops)
