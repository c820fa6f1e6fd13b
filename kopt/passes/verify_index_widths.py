"""The pass ``verify-index-widths``: what kernels compute with loops' numbers fits the 32 bits that chips compute in."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from kopt.analysis.visits import NotStatic, depends_on
from kopt.diagnostics import location_of
from kopt.dialects.tile import BeginOp, EndOp, GridOp
from kopt.errors import LoweringError
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.value_range import ANY, ValueRange
from kopt.walk import walk

#: Numbers of loops over arrays of so many elements: what follows from them is computed in 64 bits, where a chip can.
_OF_LOOPS = (BeginOp, EndOp)


@dataclass(frozen=True)
class VerifyIndexWidthsPass(ModulePass):
    """Refuses index arithmetic in grids that is known to leave 32 bits, on every target alike.

        error: a loop's number is computed in 32 bits, and this one goes from 0 to 4294967296

    What is not known, as where a loop's bounds are loaded, passes. The module stays as it is.
    """

    name = "verify-index-widths"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        analysis = IndexAnalysis()
        for grid in walk(op, GridOp):
            wide: set[SSAValue] = set()
            for inner in walk(grid.body):
                _check(inner, wide, analysis)


def _check(op: Operation, wide: set[SSAValue], analysis: IndexAnalysis) -> None:
    """Refuses an op whose result is the first to leave 32 bits; ``wide`` are loops' own numbers that do, and sums."""
    if not op.results or not isinstance(op.results[0].type, IndexType):
        return
    if (known := _known(op.results[0], analysis)).fits(32) or not known.is_bounded:
        return
    if isinstance(op, _OF_LOOPS) or wide.intersection(op.operands):
        wide.add(op.results[0])
    elif op.operands and op.dialect_name() == arith.Arith.name:
        raise LoweringError(
            f"a loop's number is computed in 32 bits, and this one goes from {known.low} to {known.high}",
            location_of(op),
            notes=["compute in 64 bits: torch.full([], number, dtype=torch.int64) is the number as a tensor"],
        )


def _known(value: SSAValue, analysis: IndexAnalysis) -> ValueRange:
    """What a number may be that loops alone tell."""
    if (known := analysis.range(value)).fits(32):
        return known
    try:
        depends_on(value)
    except NotStatic:
        return ANY
    return known
