"""What holds of a grid with a plan, and of the accesses that name its buffers: structure, not whether it is right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import MemRefType, StringAttr
from xdsl.ir import Operation
from xdsl.traits import MemoryEffectKind, get_effects
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.tile.plan_directive import axes
from kopt.plans.checks import problem
from kopt.plans.kinds import KINDS
from kopt.plans.plan import Plan
from kopt.walk import walk

if TYPE_CHECKING:
    from kopt.dialects.tile.grid import GridOp
    from kopt.dialects.tile.memory import Access


def verify_plan(grid: GridOp) -> None:
    """The plan's names are those of the grid's arrays and ranges, and every buffer serves an access."""
    if grid.plan is None:
        if grid.planned:
            raise VerifyException("tile.grid has planned arrays, and no plan")
        return
    plan, known = grid.plan.data, axes(grid.body)
    _verify_operands(grid, plan)
    if (found := problem(plan, known)) is not None:
        raise VerifyException(f"plan: {found}")
    if missing := [tag for tag in grid.tags if tag not in plan.order]:
        raise VerifyException(f"plan: the order [{', '.join(plan.order)}] lacks the grid's axis '{missing[0]}'")
    if plan.via:
        raise VerifyException("plan: in a grid, each access names its buffer itself")
    if twice := [tag for tag in plan.loops if _is_bound_by_for(known[tag] if tag in known else None)]:
        raise VerifyException(f"plan: the schedule of '{twice[0]}' stands at its loop")
    _verify_served(grid, plan)


def _is_bound_by_for(range) -> bool:
    return range is not None and range.block.parent_op().name == "tile.for"


def _verify_operands(grid: GridOp, plan: Plan) -> None:
    count = len(grid.planned)
    named = [
        *(b.operand for b in plan.buffers),
        *(w.operand for w in plan.walks),
        *(a.operand for a in plan.assume),
        *plan.views,
    ]
    if wrong := [name for name in named if not name.isdecimal() or int(name) >= count]:
        raise VerifyException(f"plan: names operand %{wrong[0]} of {count}")
    if unnamed := {*map(str, range(count))} - {*named}:
        raise VerifyException(f"plan: says nothing of operand %{min(unnamed)}")
    for walked in plan.walks:
        type = grid.planned[int(walked.operand)].type
        assert isinstance(type, MemRefType)
        if walked.dim >= type.get_num_dims():
            raise VerifyException(f"plan: {type} has no dimension {walked.dim} to walk")


def _verify_served(grid: GridOp, plan: Plan) -> None:
    named = served(grid)
    for buffer in plan.buffers:
        if buffer.name not in named:
            array = grid.planned[int(buffer.operand)].name_hint or buffer.operand
            raise VerifyException(f"plan: @{buffer.name} serves no access of %{array}: none has 'via @{buffer.name}'")


def served(grid: GridOp) -> set[str]:
    """The buffers that a grid's accesses name."""
    return {via.data for op in walk(grid) if isinstance(via := op.attributes.get("via"), StringAttr)}


def verify_via(access: Access) -> None:
    """The buffer that an access names is one of the grid's plan, of the same array, and for what the access does."""
    if access.via is None:
        return
    name, grid = access.via.data, _grid_around(access)
    if grid is None or grid.plan is None:
        raise VerifyException(f"'via @{name}' names a buffer of a plan, and no grid around {access.name} has one")
    found = [buffer for buffer in grid.plan.data.buffers if buffer.name == name]
    if not found:
        names = ", ".join(f"@{buffer.name}" for buffer in grid.plan.data.buffers)
        raise VerifyException(f"'via @{name}' names no buffer of the plan; there are {names or 'none'}")
    number = found[0].operand
    if number.isdecimal() and int(number) < len(grid.planned) and grid.planned[int(number)] is not access.memory:
        array, own = grid.planned[int(number)].name_hint, access.memory.name_hint
        raise VerifyException(f"@{name} is a buffer of %{array}, and {access.name} is of %{own}")
    kind = KINDS.get(found[0].kind)
    if kind is not None and not (kind.writes if _writes(access) else kind.reads):
        does = "reads" if kind.reads else "writes"
        raise VerifyException(f"@{name} is a buffer of kind '{kind.name}', which only {does}: not for {access.name}")


def forget_plan(grid: GridOp) -> None:
    """Takes the plan off a grid and its accesses: what it says has become what is to be run."""
    grid.plan_by(None)
    for op in walk(grid):
        op.attributes.pop("via", None)


def _writes(access: Access) -> bool:
    return any(effect.kind is MemoryEffectKind.WRITE for effect in get_effects(access) or ())


def _grid_around(op: Operation) -> GridOp | None:
    while (op := op.parent_op()) is not None:  # pyright: ignore[reportAssignmentType]
        if op.name == "tile.grid":
            return op  # pyright: ignore[reportReturnType]
    return None
