"""The problems of the plan of a launch on a TPU."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from xdsl.ir import SSAValue

from kopt.analysis.atomic_targets import targets
from kopt.analysis.buffer_kinds import PlacedArray, accesses, buffer_kinds, may_have
from kopt.analysis.hoisting import NotHoistable, plan_hoist
from kopt.analysis.launch_buffers import is_moving, moves_with, moving_axes, usual_depth
from kopt.analysis.loop_schedules import why_not_pipelined
from kopt.analysis.plan_problems.problem import (
    axes_text,
    of_options,
    of_order,
    of_words,
    says_more,
    schedule_of,
    text_of,
)
from kopt.analysis.plan_problems.tpu_memory import of_memory
from kopt.analysis.planned_buffers import is_prefetched, planned_buffers, why_not_addressed
from kopt.analysis.windows import unordered_windows
from kopt.diagnostics import Problem
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import ForOp, GridOp
from kopt.plans.plan import Buffer, Plan
from kopt.targets.chips import TpuChip
from kopt.walk import walk


def tpu_problems(launch: LaunchOp, grid: GridOp, chip: TpuChip) -> Iterator[Problem]:
    """What keeps the plan of a launch from being obeyed."""
    for loop in walk(grid, ForOp):
        yield from _of_loop(launch, grid, loop)
    if grid.plan is not None:
        yield from _of_plan(launch, grid, grid.plan.data, chip)


def _of_plan(launch: LaunchOp, grid: GridOp, plan: Plan, chip: TpuChip) -> Iterator[Problem]:
    yield from of_options(grid, plan, (), "Pallas call")
    hoisted = [loop for loop in walk(grid, ForOp) if schedule_of(loop).kind == "grid"]
    yield from of_order(grid, plan, hoisted)
    yield from _of_turns(grid, plan)
    args = launch.body.block.args
    found = unordered_windows(grid, args)
    places = [PlacedArray(launch, grid, number, found[arg]) for number, arg in enumerate(args) if arg in found]
    given = planned_buffers(places)
    for place in places:
        yield from _of_array(place, plan, given)
    if not hoisted and [tag for tag in plan.order if tag in grid.tags] == [*grid.tags]:
        yield from of_memory(launch, grid, chip)


def _of_loop(launch: LaunchOp, grid: GridOp, loop: ForOp) -> Iterator[Problem]:
    yield from of_words(loop, unrolls=True)
    kind = schedule_of(loop).kind
    if kind == "grid":
        yield from of_dimension(grid, loop)
    elif kind == "emit_pipeline" and (reason := why_not_pipelined(launch, grid, loop)) is not None:
        yield Problem(loop, f"the loop cannot be a pipeline: {reason}", ("its schedule may be 'resident'",), id="plan")


def of_dimension(grid: GridOp, loop: ForOp) -> Iterator[Problem]:
    """A loop of schedule ``grid`` can be a dimension of the grid."""
    try:
        plan = plan_hoist(grid)
    except NotHoistable as reason:
        note = "its schedule may be 'resident' or 'prefetch'"
        yield Problem(loop, f"the loop cannot be a dimension of the grid: {reason}", (note,), id="plan")
        return
    if plan.loop is not loop:
        yield Problem(loop, "only the loop of the grid's own body can be one of its dimensions", id="plan")


def _of_turns(grid: GridOp, plan: Plan) -> Iterator[Problem]:
    """Cells whose updates can be told apart run in the order that the grid is written in."""
    if [tag for tag in plan.order if tag in grid.tags] == [*grid.tags]:
        return
    turns = next((found for target in targets(grid) if (found := target.turns) is not None), None)
    if turns is not None:
        yield Problem(grid, f"the grid runs in the order {axes_text(grid, grid.tags)}: {turns.reason}", id="plan")


def _of_array(place: PlacedArray, plan: Plan, given: Mapping[SSAValue, Buffer]) -> Iterator[Problem]:
    """The buffer of an array serves all of its accesses, as its kind can."""
    buffers = {buffer.name: buffer for buffer in plan.buffers}
    ops = accesses(place.window)
    served = {op: buffers.get(op.via.data) for op in ops if op.via is not None}
    kinds = dict.fromkeys(buffer.kind for buffer in served.values() if buffer is not None)
    if len(kinds) > 1:
        other = next(op for op, buffer in served.items() if buffer is not None and buffer.kind != next(iter(kinds)))
        message = f"'{place.name}' has buffers of several kinds: one serves all accesses of an array"
        yield Problem(other, message, (f"they may all be {_choices(place)}",), id="plan")
        return
    for op, buffer in served.items():
        if buffer is None:
            yield Problem(op, f"'{place.name}' has no buffer here", (f"it may be {_choices(place)}",), id="plan")
        elif not may_have(place, buffer.kind):
            message = f"'{place.name}' cannot stand in a buffer of kind '{buffer.kind}' here: {_choices(place)}"
            yield Problem(op, message, id="plan")
        else:
            for message in _of_buffer(place, buffer, plan, given):
                yield Problem(op, message, id="plan")


def _choices(place: PlacedArray) -> str:
    return " or ".join(buffer_kinds(place))


def _of_buffer(place: PlacedArray, buffer: Buffer, plan: Plan, given: Mapping[SSAValue, Buffer]) -> Iterator[str]:
    """What a buffer says of its axes, its depth and more."""
    is_addressed = buffer.kind == "window" and buffer.address is not None
    window = place.addressed if is_addressed else None
    if is_addressed and (reason := why_not_addressed(place, buffer, window, given)) is not None:
        yield reason
        return
    axes = moving_axes(place, buffer.kind, plan.order, window)
    if is_moving(buffer.kind) and not moves_with(place, buffer.kind, plan.order, buffer.axes, window):
        moves = f"with {axes_text(place.grid, axes)}" if axes else "with no axis"
        said = axes_text(place.grid, buffer.axes) if buffer.axes else "none"
        yield f"the blocks of '{place.name}' move {moves} as '{buffer.kind}' here, not with {said}"
    elif is_moving(buffer.kind) and buffer.depth != (usual := usual_depth(buffer.kind, buffer.axes)):
        yield f"'{place.name}' has x{usual} as '{buffer.kind}' here: no Pallas code is made of x{buffer.depth} yet"
    if says_more(_without_words(buffer)):
        text = text_of(place.grid, buffer)
        yield f"no Pallas code is made of '{text}' yet: a buffer has a kind, axes and a depth"


def _without_words(buffer: Buffer) -> Buffer:
    """The buffer without the words that Pallas code is made of: windows at numbers, and arrays that are there first."""
    if buffer.kind == "window":
        return replace(buffer, address=None)
    return replace(buffer, options=()) if is_prefetched(buffer) and len(buffer.options) == 1 else buffer
