"""What keeps accesses at computed places from having the buffers that a plan gives them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kopt.analysis.plan_problems.problem import Problem, text_of
from kopt.analysis.values.gathers import Choice, choices, gathers
from kopt.analysis.values.plans import buffers_of, sources_of
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import GridOp, LoadOp
from kopt.ir.sums import SumAnalysis
from kopt.planning.kinds import VALUES
from kopt.planning.plan import Buffer


def value_problems(launch: LaunchOp, grid: GridOp) -> Iterator[Problem]:
    """The accesses of a grid that no code is made of as its plan says."""
    given, sums = buffers_of(grid), SumAnalysis()
    for load in [op for op in grid.walk() if isinstance(op, LoadOp)]:
        buffer = given.get(load)
        if gathers(load) or buffer is not None and buffer.kind in VALUES:
            among = sources_of(grid, buffer) if buffer is not None else None
            yield from _of_access(grid, load, buffer, choices(load, launch, sums, among))


def _of_access(grid: GridOp, load: LoadOp, buffer: Buffer | None, found: list[Choice]) -> Iterator[Problem]:
    name, kinds = load.memory.name_hint or "an array", [choice.kind for choice in found]
    may = " or ".join(dict.fromkeys(kinds)) or "it is at no computed place"
    if buffer is None:
        yield Problem(load, f"'{name}' has no buffer here", (f"it may be {may}",))
    elif Buffer(buffer.name, buffer.operand, buffer.kind) != replace(buffer, source=None):
        yield Problem(load, f"no Pallas code is made of '{text_of(grid, buffer)}' yet: it has a kind alone")
    elif buffer.kind not in kinds:
        yield Problem(load, f"'{name}' cannot stand in a buffer of kind '{buffer.kind}' here: {may}")
    elif buffer.source is not None and not any(choice.held for choice in found):
        yield Problem(load, f"not all of it is in @{buffer.source}", (f"without 'from' it may be {may}",))
