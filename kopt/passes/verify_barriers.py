"""The pass ``verify-barriers``: whatever order its ranks run in, a kernel that copies between them gives one result."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from kopt.analysis.remote import NotKnown, copies_to_other_ranks, hazards
from kopt.diagnostics import location_of, remark, warning
from kopt.dialects.pallas import CallOp
from kopt.errors import LoweringError
from kopt.walk import walk


@dataclass(frozen=True)
class VerifyBarriersPass(ModulePass):
    """Checks that every use of memory by a copy between ranks is ordered with every other use of it.

    Nothing stops a kernel that breaks these rules. The interpreter's race detector finds only some of them, since in
    its runs no rank is late. This pass runs each rank's loops with its numbers. Which use happens before which follows
    from barriers, signals, and waits for copies. Refused are, each with the ranks of an example,

    * a copy or a signal to a rank that there is not;
    * a copy to a rank that may not have begun the kernel: the entry barrier;
    * a copy that may still leave or arrive when its kernel ends: a wait for each end;
    * a read of what may not have arrived, and a write of what may still be sent;
    * a place that is written again before a signal says that it was read;
    * waits that nothing satisfies, signals that are left over, and blocks of two sizes on one semaphore;
    * an end at which a rank cannot know that all others are through the barrier.

        error: rank 0 may overwrite 'inbox' of rank 1 before that reads it: nothing tells rank 0 that it has
        note: symm.signal after the last use, and symm.wait for it before the next copy

    Kernels whose order depends on what is in memory, or of more than ``limit`` events, are not checked: a warning. Of
    more than 600 accesses to one memory the first 600 are checked. The module stays as it is.
    """

    name = "verify-barriers"

    limit: int = 200000

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for call in walk(op, CallOp):
            if copies_to_other_ranks(call):
                self._check(call)

    def _check(self, call: CallOp) -> None:
        try:
            for hazard in hazards(call, self.limit):
                raise LoweringError(hazard.message, location_of(hazard.op), notes=[hazard.note], id="collective")
        except NotKnown as error:
            warning(
                error.op,
                f"the order of '{call.sym_name.data}' between ranks is not checked: {error.reason}",
                id="order-not-checked",
            )
        else:
            remark(call, f"'{call.sym_name.data}' has one result in every order of its ranks")
