"""The pass ``expand-for-mosaic``: value ops in element types and shapes that Mosaic lacks, by those that it has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from kopt.dialects.tile import (
    ELEMENTWISE,
    ArgReduceOp,
    AssociativeReduceOp,
    AssociativeScanOp,
    BroadcastOp,
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
    TakeAlongOp,
    TransposeOp,
    WhileOp,
)
from kopt.passes.mosaic.carries import widen_carries
from kopt.passes.mosaic.combinations import widen_associative, widen_sort
from kopt.passes.mosaic.products import expand_dot
from kopt.passes.mosaic.reshapes import slice_before_reshape, split_reshape
from kopt.passes.mosaic.scalars import widen_scalar_load
from kopt.passes.mosaic.widening import widen_combination, widen_elementwise, widen_rearrangement, widen_selection
from kopt.walk import walk

#: What may have to be done for each op.
RULES: dict[type[Operation], Callable[[Operation], None]] = {
    **dict.fromkeys(ELEMENTWISE.values(), widen_elementwise),
    **dict.fromkeys((ReduceOp, ArgReduceOp, ScanOp), widen_combination),
    **dict.fromkeys((AssociativeReduceOp, AssociativeScanOp), widen_associative),
    SortOp: widen_sort,
    **dict.fromkeys((BroadcastOp, ConcatOp, ReshapeOp, SliceOp, TakeAlongOp, TransposeOp), widen_rearrangement),
    **dict.fromkeys((SelectOp, MaskOp), widen_selection),
    DotOp: expand_dot,
    LoadOp: widen_scalar_load,
    **dict.fromkeys((ForOp, WhileOp, scf.IfOp), widen_carries),
}


@dataclass(frozen=True)
class ExpandForMosaicPass(ModulePass):
    """Rewrites value ops that Mosaic refuses for their types or shapes. Functions that it lacks are printed as helpers.

    * integers of 8 and 16 bits are computed with and compared in 32 bits, and wrap when cast back;
    * reductions and scans of narrow types are done in 32 bits, and the result is rounded once; sorts too;
    * narrow values that are computed from lanes picked by number are masked and selected from in 32 bits;
    * lanes that a kernel's own function combines are moved in 32 bits, and combined in their type;
    * narrow values, predicates too, get another last dimension, a stride or a pick in 32 bits;
    * predicates that loops carry and branches give are numbers there, and narrow scalars have 32 bits;
    * reshapes that cut the last dimension elsewhere are slices put side by side, and one lane of each group that
      such a reshape makes is a slice with a step before it;
    * one element of a narrow type is read as a block of one lane, and becomes a scalar of 32 bits;
    * products with several batch dimensions get one; products of unsigned bytes are done in bf16, exactly;
    * products of integers of 16 and 32 bits are sums of shifted products of their bytes.

        %s = tile.add %a, %b : !tile.tile<32 x 128 x i8>
    becomes
        %x = tile.cast %a … to !tile.tile<32 x 128 x i32>   %y = tile.cast %b …
        %z = tile.add %x, %y : !tile.tile<32 x 128 x i32>   %s = tile.cast %z … to !tile.tile<32 x 128 x i8>

    Refuses products of 64-bit integers.
    """

    name = "expand-for-mosaic"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in walk(op, SliceOp):
            slice_before_reshape(inner)
        for inner in walk(op):
            if inner.parent is not None and (rule := RULES.get(type(inner))) is not None:
                rule(inner)
        for inner in walk(op, ReshapeOp):  # all of 32 bits by now
            split_reshape(inner)
