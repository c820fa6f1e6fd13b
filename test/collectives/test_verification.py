"""What orders the ranks of a kernel is all needed: without any one of it, ``verify-barriers`` refuses the kernel."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.rewriter import Rewriter

import kopt
from kopt.dialects import symm
from kopt.dialects.pallas import DmaWaitOp

from .programs import Program, programs

RANKS = 4
ORDERING = (symm.BarrierOp, symm.RemoteCopyStartOp, symm.RemoteCopyWaitOp, symm.SignalOp, symm.WaitOp, DmaWaitOp)
SOME = [program for program in programs(RANKS) if program.dtype != "i32" or "long" in program.name]


def _expanded(program: Program) -> tuple[ModuleOp, list[Operation]]:
    module = kopt.parse(program.ir)
    kopt.run_pipeline(module, f"expand-collectives{{kind={program.kind} ranks={RANKS}}}")
    return module, [op for op in module.walk() if isinstance(op, ORDERING)]


@pytest.mark.parametrize("program", SOME, ids=lambda program: program.name)
def test_each_is_needed(program: Program) -> None:
    """As it is, a kernel passes; without any one barrier, wait, signal or start it is refused."""
    module, ordering = _expanded(program)
    kopt.run_pipeline(module, "verify-barriers")
    for number in range(len(ordering)):
        module, found = _expanded(program)
        Rewriter.erase_op(found[number])
        with pytest.raises(kopt.LoweringError):
            kopt.run_pipeline(module, "verify-barriers")
