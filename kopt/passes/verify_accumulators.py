"""The pass ``verify-accumulators``: no order of visits loses updates."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from kopt.analysis.lost_updates import problems
from kopt.diagnostics import location_of, warning
from kopt.dialects.pallas import CallOp
from kopt.errors import LoweringError
from kopt.walk import walk


@dataclass(frozen=True)
class VerifyAccumulatorsPass(ModulePass):
    """Checks that what cells of a `pallas.call` combine over several visits arrives in memory whole.

    Mosaic compiles each of these silently, and computes something else. They are refused, with the order of visits in
    which updates are lost and what to do about it:

    * an output block that is read before a visit has written it;
    * a store that starts from the input's block again on every visit, or that all cells make to the same block;
    * an output block that is left and come back to: a reduction dimension that is not the innermost;
    * scratch memory that is carried along dimensions that are not the innermost, or committed later than filled;
    * a dimension marked ``parallel`` along which a block is revisited or scratch carried.

    Accumulating in bf16 or f16 is a warning. The module stays as it is.

        error: the block of 'o' at d1 (%i) is left and come back to when d0 (%k) moves outside:
               visits (0, 0) → (0, 1) → … → (1, 0) lose the updates of d0 = 0
    """

    name = "verify-accumulators"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for call in walk(op, CallOp):
            for problem in problems(call):
                if problem.fatal:
                    raise LoweringError(
                        problem.message, location_of(problem.op), notes=[problem.note], id="lost-updates"
                    )
                warning(problem.op, problem.message, id="lost-updates")
