"""Which loops only combine, visit by visit: their visits may be dealt out to several cells, in parts. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from xdsl.ir import Operation

from kopt.analysis.aliases import root
from kopt.analysis.combiners import Combination, Combiner, NotAReduction, combiners
from kopt.dialects import atomic
from kopt.dialects.tile import COMBINING_OPS, Access, ForOp, GridOp, StoreOp
from kopt.ir.ranges import binding
from kopt.walk import walk

#: The elementwise ops that combine as memory can be updated, and the kind of reduction that they are.
KINDS = {op: kind for kind, op in COMBINING_OPS.items() if kind in atomic.KINDS}

__all__ = ["KINDS", "NotAReduction", "ReductionLoop", "reduction_loop"]


@dataclass(frozen=True)
class ReductionLoop:
    """A loop over ``trips`` blocks, None where they are computed, and how partial results are combined."""

    loop: ForOp
    trips: int | None
    combiners: tuple[Combiner, ...]

    @property
    def kinds(self) -> tuple[str | None, ...]:
        """For each carried value the kind of reduction that it is; None of one that others are needed for."""
        return tuple(one.kind if isinstance(one, Combination) else None for one in self.combiners)


def reduction_loop(grid: GridOp) -> ReductionLoop:
    """The first loop of a grid's cells, where it only combines. Raises `NotAReduction` with the reason."""
    loop = next((op for op in grid.body.block.ops if isinstance(op, ForOp)), None)
    if loop is None:
        raise NotAReduction("its cells have no loop")
    if not loop.inits:
        raise NotAReduction("the loop carries nothing")
    if any(_writes(op) for op in walk(loop)):
        raise NotAReduction("the loop writes memory")
    may_wait = stores_that_may_wait(loop)
    if any(_writes(inner) for op in _before(loop) if op not in may_wait for inner in walk(op)):
        raise NotAReduction("its cells write memory before the loop")
    return ReductionLoop(loop, binding(loop.range).trips, combiners(loop))


def stores_that_may_wait(loop: ForOp) -> list[Operation]:
    """The stores before a loop of a cell that may as well come after it: nothing else is of their arrays."""
    assert loop.parent is not None
    arrays = Counter(root(op.memory) for op in walk(loop.parent, Access))
    return [op for op in _before(loop) if isinstance(op, StoreOp) and arrays[root(op.memory)] == 1]


def _before(loop: ForOp) -> list[Operation]:
    assert loop.parent is not None
    ops = list(loop.parent.ops)
    return ops[: ops.index(loop)]


def _writes(op: Operation) -> bool:
    return isinstance(op, StoreOp) or op.name.startswith("atomic.")
