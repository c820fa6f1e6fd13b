"""What keeps accesses at computed places from having the buffers that a plan gives them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from xdsl.ir import SSAValue

from kopt.analysis.plan_problems.problem import text_of
from kopt.analysis.values.gathers import Choice, choices
from kopt.analysis.values.update_kinds import update_kinds, why_not_together
from kopt.analysis.values.updates import UpdateOp, gathered
from kopt.analysis.values.value_plan import buffers_of, sources_of
from kopt.diagnostics import Problem
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import Access, GridOp, LoadOp
from kopt.ir.sums import SumAnalysis
from kopt.plans.kinds import VALUES
from kopt.plans.plan import Buffer
from kopt.targets.chips import TpuChip
from kopt.walk import walk


def value_problems(launch: LaunchOp, grid: GridOp, chip: TpuChip) -> Iterator[Problem]:
    """The accesses of a grid that no code is made of as its plan says."""
    given, sums = buffers_of(grid), SumAnalysis()
    updates: dict[SSAValue, dict[UpdateOp, str]] = {}
    for op in walk(grid, Access):
        buffer = given.get(op)
        if not gathered(op) and (buffer is None or buffer.kind not in VALUES):
            continue
        if isinstance(op, LoadOp):
            among = sources_of(grid, buffer) if buffer is not None and buffer.source is not None else None
            yield from _of_access(grid, op, buffer, choices(op, launch, chip, sums, among))
        else:
            yield from _of_access(grid, op, buffer, [Choice(kind) for kind in update_kinds(op, launch, chip)])
        if buffer is not None and isinstance(op, UpdateOp):
            updates.setdefault(op.memory, {})[op] = buffer.kind
    for kinds in updates.values():
        yield from _of_updates(grid, kinds)


def _of_access(grid: GridOp, op: Access, buffer: Buffer | None, found: Sequence[Choice]) -> Iterator[Problem]:
    name, kinds = op.memory.name_hint or "an array", [choice.kind for choice in found if choice.held is None]
    may = " or ".join(dict.fromkeys(map(_text, found))) or "it is at no computed place"
    if buffer is None:
        yield Problem(op, f"'{name}' has no buffer here", (f"it may be {may}",), id="plan")
    elif replace(buffer, source=None) != Buffer(buffer.name, buffer.operand, buffer.kind):
        yield Problem(op, f"no Pallas code is made of '{text_of(grid, buffer)}' yet: it has a kind alone", id="plan")
    elif buffer.source is not None and not (buffer.kind == "pick" and any(choice.held for choice in found)):
        message = f"'{name}' cannot be '{buffer.kind} from @{buffer.source}' here: {may}"
        yield Problem(
            op, message, (f"what 'pick' is from has all elements: not all of them are in @{buffer.source}",), id="plan"
        )
    elif buffer.source is None and buffer.kind not in kinds:
        yield Problem(op, f"'{name}' cannot stand in a buffer of kind '{buffer.kind}' here: {may}", id="plan")


def _text(choice: Choice) -> str:
    """A kind; of a pick from the block of another access, so."""
    return choice.kind if choice.held is None else f"{choice.kind} from another access"


def _of_updates(grid: GridOp, kinds: Mapping[UpdateOp, str]) -> Iterator[Problem]:
    """The updates of an array go together; blocks of one in HBM are all or none."""
    for op, reason in why_not_together(kinds):
        yield Problem(op, f"'{op.memory.name_hint or 'an array'}' has updates of several kinds: {reason}", id="plan")
    first = next(iter(kinds))
    others = [op for op in walk(grid, Access) if op.memory is first.memory and op not in kinds]
    if not gathered(first) and others:
        yield Problem(
            others[0], f"'{first.memory.name_hint or 'an array'}' is in HBM: all updates of its blocks are", id="plan"
        )
