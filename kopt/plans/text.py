"""Plans as text: the inverse of `kopt.plans.parsing`.

Axes are bare names, operands ``%x``, buffers ``@x``. `lines` has the order, what is assumed and the launch's options in
the first line, then a buffer, a loop or the accesses a line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kopt.plans.kinds import LINKS
from kopt.plans.plan import Buffer, LoopSchedule, Options, Plan, Value, Walk


def plan_text(plan: Plan) -> str:
    """A plan on lines of its own, as `parse_plan` reads it."""
    return "\n".join(lines(plan))


def lines(plan: Plan) -> list[str]:
    """The lines of a plan."""
    found = [" ".join(_head(plan)), *map(buffer_text, plan.buffers)]
    found += [f"loop {axis} {schedule_text(schedule)}" for axis, schedule in plan.loops.items()]
    if plan.via:
        found.append(f"via [{', '.join(f'%{access} = @{buffer}' for access, buffer in plan.via.items())}]")
    return found


def _head(plan: Plan) -> Iterator[str]:
    yield f"order {_list(plan.order)}"
    if plan.order:
        parallel = [axis for axis in plan.order if axis in plan.parallel]
        yield f"parallel {_list(parallel)}" if parallel else f"ordered {_list(plan.order)}"
    if plan.assume:
        yield f"assume {_list(f'%{some.operand} in {some.low} to {some.high}' for some in plan.assume)}"
    yield from _options(plan.options)
    yield from map(_walk, plan.walks)
    if plan.views:
        yield f"views {_list(' '.join((f'%{operand}', *views)) for operand, views in plan.views.items())}"


def _walk(walk: Walk) -> str:
    return f"walk(dim {walk.dim} of %{walk.operand}: {walk.axis}={walk.size}, {walk.how})"


def buffer_text(buffer: Buffer) -> str:
    """``@x = %x window(i, k) x2``."""
    axes = f"({', '.join(buffer.axes)})" if buffer.axes else ""
    links = [f"{word} @{found}" for word, field in LINKS.items() if (found := getattr(buffer, field)) is not None]
    depth = [f"x{buffer.depth}"] if buffer.depth != 1 else []
    return " ".join(
        [f"@{buffer.name} = %{buffer.operand} {buffer.kind}{axes}", *links, *depth, *_options(buffer.options)]
    )


def schedule_text(schedule: LoopSchedule) -> str:
    """``resident peel(full | diagonal) unroll 2``."""
    peel = [f"peel({' | '.join(schedule.peel)})"] if schedule.peel else []
    unroll = [f"unroll {schedule.unroll}"] if schedule.unroll != 1 else []
    return " ".join([schedule.kind, *peel, *unroll, *_options(schedule.options)])


def _options(options: Options) -> Iterator[str]:
    for word, value in options:
        yield f"{word}{_value(value)}"


def _value(value: Value) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(str, value))})" if value else ""
    return f" {value}"


def _list(items: Iterable[str]) -> str:
    return f"[{', '.join(items)}]"
