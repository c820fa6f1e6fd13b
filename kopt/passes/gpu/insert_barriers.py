"""The pass ``insert-barriers``: threads of a program wait before they access what other threads may have accessed."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from kopt.analysis.thread_hazards import barrier_points
from kopt.dialects import triton
from kopt.dialects.builder import Builder
from kopt.walk import walk


@dataclass(frozen=True)
class InsertBarriersPass(ModulePass):
    """Inserts barriers between accesses of one array that different threads of a program may make.

    Triton deals the lanes of each access out to threads by itself, and orders threads for shared memory alone. Two
    accesses of one array, one of which writes, need a barrier between them, unless no element is in both, or the same
    thread makes both. It stands in front of the outermost loop that has one of the two.

        tile.store %h, %hidden[%rows, :]
        tile.for %k: b1=64 in (0, 256) { %v = tile.load %hidden[%rows, %k] … }
    becomes
        tile.store %h, %hidden[%rows, :]
        triton.barrier
        tile.for %k: b1=64 in (0, 256) { %v = tile.load %hidden[%rows, %k] … }

    A loop whose visits need one has it in its body, and Triton does not load its blocks ahead. After 64
    accesses of an array without a barrier, the next one has a barrier in any case: comparing all would take quadratic
    time. It never refuses.
    """

    name = "insert-barriers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for launch in walk(op, triton.LaunchOp):
            for point in barrier_points(launch):
                Builder(point).insert(triton.BarrierOp())
