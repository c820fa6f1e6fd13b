"""The pass ``legalise-ops``: ops that Triton has in another form."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from kopt.dialects.tile import ELEMENTWISE, DotOp
from kopt.passes.gpu.powers import ExpandPower
from kopt.passes.gpu.products import BoolToInt8, DotToSum, Float8ToHalf, MergeBatches, PrecisionOfChip, UnsignedToSigned
from kopt.passes.meaning import REASSOCIATES
from kopt.passes.rewriting import Patterns, walk_and_apply_patterns
from kopt.targets.chips import GPU_CHIPS, chip_option

PATTERNS: Patterns = {
    DotOp: (DotToSum(), BoolToInt8(), UnsignedToSigned(), MergeBatches()),
    ELEMENTWISE["pow"]: (ExpandPower(),),
}


@dataclass(frozen=True)
class LegaliseOpsPass(ModulePass):
    """Rewrites what Triton lacks: products that its matrix units do not take, several batches, exact powers.

    | op | becomes |
    |---|---|
    | `tile.dot` of fewer than 16 summed lanes, of wide integers, of one exact row | a sum of products |
    | `tile.dot` of `i1` | one of `i8`, of ones and zeros |
    | `tile.dot` of `ui8` | one of `i8`, each number 128 less, and sums that make up for it |
    | `tile.dot` of f8E4M3FN, which ``chip`` lacks | one of f16, which has all of its numbers |
    | `tile.dot` with several batch dimensions | one with their product |
    | `tile.dot` with a precision that Triton lacks for ``chip``, of AMD's mostly | one that is exact, with a remark |
    | `tile.pow` by 1, 2, 3, -1 | products, a reciprocal: exactly what torch computes |

        %p = tile.pow %x, %two
    becomes
        %p = tile.mul %x, %x

    It never refuses. It runs after ``insert-masks``, so missing lanes are zeros.
    """

    name = "legalise-ops"
    meaning = REASSOCIATES

    chip: str = chip_option(GPU_CHIPS, "sm90")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        chip = GPU_CHIPS[self.chip]
        products = (*PATTERNS[DotOp], PrecisionOfChip(chip), *([] if chip.e4m3 else [Float8ToHalf()]))
        walk_and_apply_patterns(op, {**PATTERNS, DotOp: products})
