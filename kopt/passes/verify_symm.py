"""The pass ``verify-symm``: no rank reads what another has not written yet, or writes what another still reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from kopt.analysis.symm_hazards import hazards
from kopt.diagnostics import Problem
from kopt.passes.verifying.printable import VerifyPrintablePass
from kopt.walk import walk


@dataclass(frozen=True)
class VerifySymmPass(VerifyPrintablePass):
    """Checks what the types alone do not say of symmetric memory. The module stays as it is.

    Nothing stops a program that breaks these rules: its results are wrong now and then. It refuses

    * a collective by an algorithm whose input is not in its group's space, static and contiguous;
    * a buffer in symmetric memory that is returned to the caller;
    * a read of all ranks' memory with no barrier between it and the last write: the entry barrier;
    * a write to memory that other ranks read with no barrier between: the exit barrier. Reuse of memory, and the
      next call of the function, write it too;
    * two persistent arrays of one function with the same id.

        error: other ranks may still read the memory of 'h' when it is written again
        note: an exit barrier is missing: symm.barrier, or 'exit' among the collective's barriers
    """

    name = "verify-symm"

    def problems(self, top: Operation) -> Iterator[Problem]:
        for func in walk(top, FuncOp):
            yield from () if func.is_declaration else hazards(func)
