"""The plan of a grid as data, and back: what the IR spreads over a grid, its loops and its accesses."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from xdsl.dialects.builtin import StringAttr

from kopt.dialects.tile import ForOp, GridOp, PlanAttr, RangeType, ScheduleAttr
from kopt.dialects.tile.access_ids import access_ids, operand_names, unused
from kopt.dialects.tile.memory import Access
from kopt.planning.plan import Plan
from kopt.planning.renaming import renamed
from kopt.walk import walk


def plan_of(grid: GridOp) -> Plan | None:
    """The plan that a grid has, whole: by the names of arrays and the ids of accesses that a `LaunchModel` has."""
    if grid.plan is None:
        return None
    operands, accesses = operand_names(grid), access_ids(grid)
    names = [operands[value] for value in grid.planned]
    plan = renamed(grid.plan.data, operand=lambda number: names[int(number)])
    via = {access: op.via.data for op, access in accesses.items() if isinstance(op, Access) and op.via is not None}
    own = {_tag(loop): loop.schedule.data for loop in _loops(grid) if loop.schedule is not None}
    return replace(plan, via=via, loops={**own, **plan.loops})


def set_plan(grid: GridOp, plan: Plan) -> None:
    """Writes a plan down on a grid, its loops and its accesses, in place of what stood there."""
    arrays = {name: value for value, name in operand_names(grid).items()}
    numbers: dict[str, str] = {}
    # Accesses keep the ids that the source gave, whatever their arrays are called by now.
    inner = renamed(replace(plan, via={}), operand=lambda name: numbers.setdefault(name, str(len(numbers))))
    for op, access in access_ids(grid).items():
        if access in plan.via:
            op.attributes["via"] = StringAttr(plan.via[access])
        else:
            op.attributes.pop("via", None)
    left = dict(plan.loops)
    for loop in _loops(grid):
        schedule = left.pop(_tag(loop), None)
        loop.schedule = None if schedule is None else ScheduleAttr(schedule)
    grid.plan = PlanAttr(replace(inner, loops=left))
    grid.operands = [arrays[name] for name in numbers]


def buffer_names(wanted: Iterable[str]) -> list[str]:
    """Unique names for buffers: what is wanted, as words of letters, digits and ``_`` that begin with a letter."""
    taken: set[str] = set()
    words = [re.sub(r"[^A-Za-z0-9_]", "_", name) for name in wanted]
    return [unused(word if word[:1].isalpha() else f"array{word}", taken, "_") for word in words]


def _loops(grid: GridOp) -> list[ForOp]:
    return walk(grid, ForOp)


def _tag(loop: ForOp) -> str:
    assert isinstance(loop.range.type, RangeType)
    return loop.range.type.tag
