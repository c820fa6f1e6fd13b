"""The plan of a grid as data, and back: what the IR spreads over a grid, its loops and its accesses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation, SSAValue

from kopt.dialects.tile import ForOp, GridOp, PlanAttr, ScheduleAttr, tag_of
from kopt.dialects.tile.access_ids import access_ids, operand_names, unused
from kopt.dialects.tile.memory import Access
from kopt.dialects.tile.plan_directive import axes
from kopt.dialects.tile.planned import served
from kopt.plans.plan import Plan
from kopt.plans.renaming import confined, renamed
from kopt.walk import walk


@dataclass(frozen=True)
class GridNames:
    """What a grid's plan calls its arrays, and the ids of its accesses."""

    operands: Mapping[SSAValue, str]
    accesses: Mapping[Operation, str]

    @staticmethod
    def of(grid: GridOp) -> GridNames:
        """The names in the order of the program, and the ids that accesses have or get."""
        return GridNames(operand_names(grid), access_ids(grid))


def plan_of(grid: GridOp) -> Plan | None:
    """The plan that a grid has, whole: by the names of arrays and the ids of accesses that a `LaunchModel` has."""
    if grid.plan is None:
        return None
    known = GridNames.of(grid)
    names = [known.operands[value] for value in grid.planned]
    plan = renamed(grid.plan.data, operand=lambda number: names[int(number)])
    accesses = ((op, id) for op, id in known.accesses.items() if isinstance(op, Access))
    via = {id: op.via.data for op, id in accesses if op.via is not None}
    own = {tag_of(loop.range): loop.schedule.data for loop in walk(grid, ForOp) if loop.schedule is not None}
    return replace(plan, via=via, loops={**own, **plan.loops})


def set_plan(grid: GridOp, plan: Plan, known: GridNames | None = None) -> None:
    """Writes a plan down on a grid, its loops and its accesses, in place of what stood there.

    ``known`` are the grid's names, where somebody has asked for them.
    """
    known = known or GridNames.of(grid)
    arrays = {name: value for value, name in known.operands.items()}
    numbers: dict[str, str] = {}
    # Accesses keep the ids that the source gave, whatever their arrays are called by now.
    inner = renamed(replace(plan, via={}), operand=lambda name: numbers.setdefault(name, str(len(numbers))))
    for op, access in known.accesses.items():
        if access in plan.via:
            op.attributes["via"] = StringAttr(plan.via[access])
        else:
            op.attributes.pop("via", None)
    left = dict(plan.loops)
    for loop in walk(grid, ForOp):
        schedule = left.pop(tag_of(loop.range), None)
        loop.schedule = None if schedule is None else ScheduleAttr(schedule)
    grid.plan_by(PlanAttr(replace(inner, loops=left)), [arrays[name] for name in numbers])


def buffer_names(wanted: Iterable[str]) -> list[str]:
    """Unique names for buffers: what is wanted, as words of letters, digits and ``_`` that begin with a letter."""
    taken: set[str] = set()
    words = [re.sub(r"[^A-Za-z0-9_]", "_", name) for name in wanted]
    return [unused(word if word[:1].isalpha() else f"array{word}", taken, "_") for word in words]


def narrow(grid: GridOp, plan: Plan) -> None:
    """Gives a grid a plan that says less than its own, of the same arrays or fewer."""
    numbers: dict[str, str] = {}
    plan = renamed(plan, operand=lambda number: numbers.setdefault(number, str(len(numbers))))
    grid.plan_by(PlanAttr(plan), [grid.planned[int(number)] for number in numbers])


def forget_unserved(top: Operation) -> None:
    """Drops from plans the buffers that no access of their array names, and what they say of loops that are gone."""
    for grid in walk(top, GridOp):
        if grid.plan is not None:
            _forget_others(grid, grid.plan.data)
            plan, named = grid.plan.data, served(grid)
            known = {*axes(grid.body), *(walked.axis for walked in plan.walks)}
            buffers = tuple(buffer for buffer in plan.buffers if buffer.name in named)
            left = confined(replace(plan, buffers=buffers), known)
            if left != plan:
                narrow(grid, left)


def _forget_others(grid: GridOp, plan: Plan) -> None:
    """Accesses of other arrays than before name no buffer."""
    arrays = {buffer.name: grid.planned[int(buffer.operand)] for buffer in plan.buffers}
    for access in walk(grid, Access):
        if access.via is not None and arrays.get(access.via.data) is not access.memory:
            del access.attributes["via"]
