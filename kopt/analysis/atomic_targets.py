"""Atomic updates of a grid: what they update, and whether the order of the cells can be seen in the result.

Pure. Updates of one kind whose previous values nobody uses commute, so cells may run in any order. Anything else
makes the cells take turns:

| found | why |
|---|---|
| a previous value that is used, `atomic.cas` | it tells who was first |
| ``xchg`` | the last one stays |
| two kinds on one target | ``max(x, a) + b`` is not ``max(x + b, a)`` |
| a load or a store of the target beside its updates | it sees the updates made so far |
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from kopt.analysis.windows import ACCESSES, Accesses, AtomicOp
from kopt.dialects.atomic import COMMUTES, CasOp, RmwOp
from kopt.dialects.tile import GridOp
from kopt.walk import walk


@dataclass(frozen=True)
class AtomicTarget:
    """A memref that atomic updates write, and every access to it in order of appearance."""

    memory: SSAValue
    accesses: tuple[Accesses, ...]

    @property
    def name(self) -> str:
        """The memref's name, for messages."""
        return f"'{self.memory.name_hint}'" if self.memory.name_hint else "an array"

    @property
    def turns(self) -> Turns | None:
        """Why the cells take turns, or None where they need not."""
        for op in self.accesses:
            if (reason := self._reason(op)) is not None:
                return Turns(op, reason)
        return None

    def _reason(self, op: Accesses) -> str | None:
        if isinstance(op, CasOp):
            return f"what a compare-and-swap finds in {self.name} depends on it"
        if not isinstance(op, RmwOp):
            return f"{self.name} is also {'written' if 'store' in op.name else 'read'} beside its updates"
        if any(result.first_use is not None for result in op.previous):
            return f"the previous value of {self.name} is used"
        if not COMMUTES[op.kind.data]:
            return f"the last exchange of {self.name} stays"
        kinds = dict.fromkeys(other.kind.data for other in self.accesses if isinstance(other, RmwOp))
        return f"{' and '.join(kinds)} of {self.name} do not commute" if len(kinds) > 1 else None


@dataclass(frozen=True)
class Turns:
    """The access for whose sake cells run in order, and why."""

    op: Operation
    reason: str


def targets(grid: GridOp) -> list[AtomicTarget]:
    """The targets of the atomic updates inside a grid, in order of appearance."""
    accesses: dict[SSAValue, list[Accesses]] = {}
    for op in walk(grid, *ACCESSES):
        accesses.setdefault(op.memory, []).append(op)
    updated = {memory: ops for memory, ops in accesses.items() if any(isinstance(op, AtomicOp) for op in ops)}
    return [AtomicTarget(memory, tuple(ops)) for memory, ops in updated.items()]
