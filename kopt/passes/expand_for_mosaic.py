"""The pass ``expand-for-mosaic``: value ops in element types and shapes that Mosaic lacks, by those that it has."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from kopt.dialects.tile import (
    ELEMENTWISE,
    ArgReduceOp,
    AssociativeReduceOp,
    AssociativeScanOp,
    BroadcastOp,
    CastOp,
    ConcatOp,
    DotOp,
    ForOp,
    LoadOp,
    MaskOp,
    ReduceOp,
    ReshapeOp,
    ScanOp,
    SelectOp,
    SliceOp,
    SortOp,
    WhileOp,
)
from kopt.passes.mosaic.carries import WidenCarries
from kopt.passes.mosaic.combinations import WidenAssociative, WidenSort
from kopt.passes.mosaic.interleaves import InterleaveInWords
from kopt.passes.mosaic.lane_numbers import CountInPlace
from kopt.passes.mosaic.products import FlattenBatches, IntegersToBytes, PartsOfF32, UnsignedBytesToBf16
from kopt.passes.mosaic.reshapes import JoinInOneRow, ReshapeBeforeCompare, SliceBeforeReshape, SplitReshape
from kopt.passes.mosaic.scalars import WidenScalarLoad
from kopt.passes.mosaic.widening import (
    Rearrangement,
    WidenCombination,
    WidenElementwise,
    WidenRearrangement,
    WidenSelection,
)
from kopt.passes.mosaic.wrapping import ShiftOnce, WrapInPlace
from kopt.passes.rewriting import Patterns, walk_and_apply_patterns

#: What comes before ops get other types.
BEFORE: Patterns = {
    SliceOp: (SliceBeforeReshape(),),
    ReshapeOp: (ReshapeBeforeCompare(), InterleaveInWords()),
    BroadcastOp: (CountInPlace(),),
    ConcatOp: (JoinInOneRow(),),
}
#: The types that Mosaic has for each op.
TYPES: Patterns = {
    **dict.fromkeys(ELEMENTWISE.values(), (WidenElementwise(),)),
    **dict.fromkeys((ReduceOp, ArgReduceOp, ScanOp), (WidenCombination(),)),
    **dict.fromkeys((AssociativeReduceOp, AssociativeScanOp), (WidenAssociative(),)),
    SortOp: (WidenSort(),),
    **dict.fromkeys(Rearrangement.__args__, (WidenRearrangement(),)),
    **dict.fromkeys((SelectOp, MaskOp), (WidenSelection(),)),
    DotOp: (FlattenBatches(),),
    LoadOp: (WidenScalarLoad(),),
    **dict.fromkeys((ForOp, WhileOp, scf.IfOp), (WidenCarries(),)),
}
#: What comes behind: reshapes are all of 32 bits by then, and products have one batch dimension.
BEHIND: Patterns = {
    ReshapeOp: (SplitReshape(),),
    DotOp: (UnsignedBytesToBf16(), IntegersToBytes(), PartsOfF32()),
    CastOp: (WrapInPlace(),),
    **dict.fromkeys((ELEMENTWISE["shl"], ELEMENTWISE["shr"]), (ShiftOnce(),)),
}


@dataclass(frozen=True)
class ExpandForMosaicPass(ModulePass):
    """Legalises value ops: those that Mosaic refuses for their types or shapes are expanded into ones that it takes.

    Functions that it lacks stay as they are, and are printed as helpers.

    * integers of 8 and 16 bits are computed with and compared in 32 bits, and wrap when cast back; between ops of
      32 bits they wrap by shifts, or by a mask, if they may be other numbers than their type has;
    * reductions and scans of narrow types are done in 32 bits, and the result is rounded once; sorts too;
    * narrow values that are computed from lanes picked by number are masked and selected from in 32 bits;
    * lanes that a kernel's own function combines are moved in 32 bits, and combined in their type;
    * narrow values, predicates too, get another last dimension, a stride or a pick in 32 bits;
    * predicates that loops carry and branches give are numbers there, and narrow scalars have 32 bits;
    * reshapes that cut the last dimension elsewhere are slices put side by side, and one lane of each group that
      such a reshape makes is a slice with a step before it;
    * rows of several narrow values in turn are put together in words of 32 bits;
    * vectors are joined as parts of one row;
    * where a predicate gets other dimensions of one lane, the operands of its comparison get them instead;
    * lane numbers that get other dimensions are counted along these;
    * one element of a narrow type is read as a block of one lane, and becomes a scalar of 32 bits;
    * products with several batch dimensions get one; products of unsigned bytes are done in bf16, exactly;
    * products of integers of 16 and 32 bits are sums of shifted products of their bytes;
    * products of f32 with ``precision bf16x3`` are sums of three products of bf16 parts; with ``tf32x3`` they are
      exact.

        %s = tile.add %a, %b : !tile.tile<32 x 128 x i8>
    becomes
        %x = tile.cast %a … to !tile.tile<32 x 128 x i32>   %y = tile.cast %b …
        %z = tile.add %x, %y : !tile.tile<32 x 128 x i32>   %s = tile.cast %z … to !tile.tile<32 x 128 x i8>

    Refuses products of 64-bit integers.
    """

    name = "expand-for-mosaic"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for patterns in (BEFORE, TYPES, BEHIND):
            walk_and_apply_patterns(op, patterns)
