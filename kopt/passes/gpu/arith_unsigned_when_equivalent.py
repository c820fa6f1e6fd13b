"""The pass ``arith-unsigned-when-equivalent``: rounded quotients of numbers that are never negative."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.arith import CeilDivSIOp, CeilDivUIOp, DivUIOp, FloorDivSIOp
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from kopt.dialects import triton
from kopt.dialects.builder import Builder
from kopt.ir.from_ssa import IndexAnalysis
from kopt.passes.replacing import replace
from kopt.walk import walk

#: The unsigned op for each signed one.
_UNSIGNED = {FloorDivSIOp: DivUIOp, CeilDivSIOp: CeilDivUIOp}


@dataclass(frozen=True)
class ArithUnsignedWhenEquivalentPass(ModulePass):
    """Divides numbers that are never negative as unsigned ones, in launches: Triton's ``//`` rounds to zero.

        %q = arith.floordivsi %n, %d : index
    becomes, where both are natural numbers,
        %q = arith.divui %n, %d : index

    Quotients that are rounded up become ``arith.ceildivui``. It never refuses: other quotients stay.
    """

    name = "arith-unsigned-when-equivalent"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        numbers = IndexAnalysis()
        quotients = [q for launch in walk(op, triton.LaunchOp) for q in walk(launch, *_UNSIGNED)]
        # All are looked at before the first changes, as the analysis remembers values.
        for quotient in [q for q in quotients if all(numbers.range(value).is_natural for value in q.operands)]:
            replace(quotient, Builder(quotient).add(_UNSIGNED[type(quotient)](quotient.lhs, quotient.rhs)))
