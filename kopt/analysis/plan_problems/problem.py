"""What the problems of plans have in common on every target."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from kopt.analysis.peeling import PEELED, peeling
from kopt.diagnostics import Problem
from kopt.dialects.tile import ForOp, GridOp
from kopt.dialects.tile.plan_directive import axis_names
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.ranges import binding, visits
from kopt.plans.kinds import LINKS
from kopt.plans.plan import Buffer, LoopSchedule, Plan
from kopt.plans.renaming import renamed_buffer
from kopt.plans.text import buffer_text, schedule_text


def schedule_of(loop: ForOp) -> LoopSchedule:
    """How a loop runs; one of which nothing is said is a loop of the kernel."""
    return LoopSchedule("resident") if loop.schedule is None else loop.schedule.data


def axes_text(grid: GridOp, axes: Collection[str]) -> str:
    """``(i, k)``: axes by the names that text has for them."""
    names = axis_names(grid.body)
    return f"({', '.join(names.get(axis, axis) for axis in axes)})"


def of_words(loop: ForOp, unrolls: bool = False, known: Collection[str] = ()) -> Iterator[Problem]:
    """What a schedule says beyond its kind that no code is made of: where loops may be unrolled, all but that.

    ``known`` are words that the target obeys.
    """
    schedule = schedule_of(loop)
    left = replace(schedule, unroll=1) if unrolls else schedule
    left = replace(left, options=tuple(option for option in left.options if option[0] not in known))
    if schedule.peel == PEELED and schedule.kind == "resident":
        left = replace(left, peel=())
    if words := schedule_text(left).removeprefix(schedule.kind).strip():
        message = f"the loop cannot do '{words}': no code is made of that yet"
        yield Problem(loop, message, (f"leave it at 'schedule {schedule.kind}'",), id="plan")
    elif schedule.peel and (reason := _why_not_peeled(loop, unrolls)) is not None:
        yield Problem(loop, f"the loop cannot be peeled: {reason}", id="plan")
    elif schedule.unroll > 1 and (reason := why_not_unrolled(loop, schedule)) is not None:
        yield Problem(loop, f"the loop cannot be unrolled by {schedule.unroll}: {reason}", id="plan")


def _why_not_peeled(loop: ForOp, is_aligned: bool) -> str | None:
    """Why a loop has no first visits without masks, if so; where blocks are aligned, so are those that follow."""
    found = peeling(loop, IndexAnalysis())
    if found is None:
        return "no comparison is known to hold in all lanes of its first visits"
    return "how many visits follow is known only when it runs" if is_aligned and found.rest is None else None


def why_not_unrolled(loop: ForOp, schedule: LoopSchedule) -> str | None:
    """Why the visits of a loop cannot be written out several in one, if so."""
    if schedule.kind != "resident":
        return f"its schedule is '{schedule.kind}', and only loops of schedule 'resident' can be"
    count = visits(loop.range)
    if count is None:
        return "how often it runs is known only when it does"
    return f"it has {count} visits" if count % schedule.unroll else None


def of_order(grid: GridOp, plan: Plan, hoisted: Sequence[ForOp]) -> Iterator[Problem]:
    """The order has the dimensions of the grid, loops that become some included, and keeps that of sums."""
    loops = [loop.range.type.tag for loop in hoisted]  # pyright: ignore[reportAttributeAccessIssue]
    names = axis_names(grid.body)
    for tag in plan.order:
        if tag not in grid.tags and tag not in loops:
            message = f"the order has '{names.get(tag, tag)}', which is no dimension of the grid"
            yield Problem(grid, message, ("a loop is one where its schedule is 'grid'",), id="plan")
    last = [grid.tags[number] for number in grid.reduction_dims] + loops
    kept = [tag for tag in plan.order if tag in last]
    if kept != [tag for tag in last if tag in kept]:
        yield Problem(
            grid, f"the dimensions {axes_text(grid, kept)} run in the order {axes_text(grid, last)}", id="plan"
        )
    behind = [tag for tag in plan.order if tag not in grid.tags or _turns(grid, tag)]
    if (found := [tag for tag in behind if tag in last]) != behind[len(behind) - len(found) :]:
        message = f"{axes_text(grid, found)} sums over visits: it is inside of all others in the order"
        yield Problem(
            grid,
            message,
            (f"as in order [{', '.join(names.get(tag, tag) for tag in _last(behind, found))}]",),
            id="plan",
        )


def _last(tags: Sequence[str], found: Sequence[str]) -> list[str]:
    return [*(tag for tag in tags if tag not in found), *found]


def _turns(grid: GridOp, tag: str) -> bool:
    """Whether a dimension has several cells."""
    return binding(grid.ranges[grid.tags.index(tag)]).trips != 1


def of_options(grid: GridOp, plan: Plan, known: Collection[str], what: str) -> Iterator[Problem]:
    """Options of launches and views that no lowering obeys yet, and walks that are still to be made."""
    for word, _ in plan.options:
        if word not in known:
            yield Problem(grid, f"no {what} has '{word}' yet", id="plan")
    if plan.walks:
        yield Problem(grid, "its walks are no loops yet: 'walk-dims' comes before", id="plan")
    if plan.views:
        yield Problem(grid, f"no {what} has 'views' yet: the host does what layouts need", id="plan")


def says_more(buffer: Buffer) -> bool:
    """Whether a buffer has words behind its kind, axes and depth."""
    return bool(buffer.options) or any(getattr(buffer, field) is not None for field in LINKS.values())


def text_of(grid: GridOp, buffer: Buffer) -> str:
    """``@x = %x window(i, k) x2``: a buffer by the names that text has."""
    names = axis_names(grid.body)
    array = grid.planned[int(buffer.operand)].name_hint or buffer.operand
    return buffer_text(renamed_buffer(buffer, lambda axis: names.get(axis, axis), lambda _: array))
