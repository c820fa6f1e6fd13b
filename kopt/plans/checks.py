"""What holds of every plan, whatever its kernel: names that exist, words that their kinds take, one family of targets.

Whether a plan is right for its kernel and its chip is another question.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from kopt.plans.kinds import (
    BOTH,
    KINDS,
    LAUNCH_WORDS,
    LINKS,
    LOOP_WORDS,
    LOOPS,
    PARTS,
    VIEWS,
    WALKS,
    WORDS,
    Word,
    takes,
)
from kopt.plans.plan import Buffer, LoopSchedule, Options, Plan
from kopt.plans.text import buffer_text, schedule_text
from kopt.registry import did_you_mean


def problem(plan: Plan, axes: Collection[str] | None = None) -> str | None:
    """The first thing that is wrong with a plan, or None. ``axes`` are the tags that its kernel binds, where known."""
    return next(_problems(plan, axes), None)


def _problems(plan: Plan, axes: Collection[str] | None) -> Iterator[str]:
    yield from _unspeakable(plan)
    yield from _repeated(plan)
    for buffer in plan.buffers:
        yield from (f"@{buffer.name}: {text}" for text in _of_buffer(buffer, plan))
    for axis, schedule in plan.loops.items():
        yield from (f"loop {axis}: {text}" for text in of_schedule(schedule))
    yield from _of_launch(plan)
    yield from _families(plan)
    if axes is not None:
        yield from _unknown_axes(plan, axes)


def _unspeakable(plan: Plan) -> Iterator[str]:
    """Names that text cannot have."""
    for name in (*(f"@{buffer.name}" for buffer in plan.buffers), *(axis for _, axis in named_axes(plan))):
        if not re.fullmatch(r"@?[A-Za-z_][\w$.]*", name, re.ASCII):
            yield f"'{name}' is no name: take letters, digits and '_', a letter first"


def _repeated(plan: Plan) -> Iterator[str]:
    for what, names in (
        ("the axis '{}' stands twice in the order", plan.order),
        ("two buffers are named @{}", [buffer.name for buffer in plan.buffers]),
        ("two walks are named '{}'", [walk.axis for walk in plan.walks]),
    ):
        yield from (what.format(name) for number, name in enumerate(names) if name in names[:number])
    if plan.parallel - {*plan.order}:
        yield f"'{min(plan.parallel - {*plan.order})}' is parallel and not in the order [{', '.join(plan.order)}]"


def _of_buffer(buffer: Buffer, plan: Plan) -> Iterator[str]:
    kind = KINDS.get(buffer.kind)
    if kind is None:
        yield f"unknown kind of buffer: '{buffer.kind}'{did_you_mean(buffer.kind, KINDS)}; there are {', '.join(KINDS)}"
        return
    if buffer.depth < 1:
        yield f"a buffer is at least one deep, found x{buffer.depth}"
    names = {other.name for other in plan.buffers}
    for word, field in LINKS.items():
        linked = getattr(buffer, field)
        if linked is not None and word not in kind.links:
            yield f"'{kind.name}' takes no '{word} @{linked}'"
        elif linked == buffer.name or linked is not None and linked not in names:
            yield f"'{word} @{linked}' names no other buffer of the plan"
    yield from _options(buffer.options, {word: WORDS[word] for word in kind.words}, f"'{kind.name}'")


def of_schedule(schedule: LoopSchedule) -> Iterator[str]:
    """What is wrong with a schedule."""
    if schedule.kind not in LOOPS:
        yield f"unknown schedule of loops: '{schedule.kind}'; there are {', '.join(LOOPS)}"
    if schedule.unroll < 1:
        yield f"a loop is unrolled by 1 at least, found {schedule.unroll}"
    if schedule.peel and (len({*schedule.peel}) != len(schedule.peel) or len(schedule.peel) < 2):
        yield f"'{schedule_text(schedule)}' peels no two different parts"
    if unknown := [part for part in schedule.peel if part not in PARTS]:
        yield f"unknown part of a loop: '{unknown[0]}'; there are {', '.join(PARTS)}"
    words = {name: word for name, word in LOOP_WORDS.items() if name not in ("peel", "unroll")}
    yield from _options(schedule.options, words, "a loop")


def _options(options: Options, known: dict[str, Word], what: str) -> Iterator[str]:
    words = [word for word, _ in options]
    for number, (word, value) in enumerate(options):
        if word not in known:
            yield f"{what} takes no '{word}'; it takes {', '.join(known) or 'no words'}"
        elif not takes(known[word], value):
            yield f"'{word}' cannot be {value!r}"
        elif word in words[:number]:
            yield f"'{word}' stands twice"


def _of_launch(plan: Plan) -> Iterator[str]:
    yield from _options(plan.options, LAUNCH_WORDS, "a launch")
    names = {buffer.name for buffer in plan.buffers}
    for access, buffer in plan.via.items():
        if buffer not in names:
            yield f"%{access} goes via @{buffer}, which is no buffer of the plan"
    for some in plan.assume:
        if some.low >= some.high:
            yield f"no number of %{some.operand} is from {some.low} to below {some.high}"
    for operand, views in plan.views.items():
        yield from (
            f"%{operand} has no view '{view}'; there are {', '.join(VIEWS)}" for view in views if view not in VIEWS
        )
    for walk in plan.walks:
        if walk.size < 1 or walk.dim < 0 or walk.how not in WALKS:
            yield f"dimension {walk.dim} of %{walk.operand} cannot be walked by {walk.size}, {walk.how}"


def _families(plan: Plan) -> Iterator[str]:
    """A plan is of one family of targets."""
    left, last = {*BOTH}, None
    for what, families in _families_named(plan):
        if not left & {*families}:
            yield f"'{what}' is of {families[0]} alone, and '{last}' is not"
            return
        if len(families) < len(BOTH):
            left, last = left & {*families}, what


def _families_named(plan: Plan) -> Iterator[tuple[str, tuple[str, ...]]]:
    for buffer in plan.buffers:
        if buffer.kind in KINDS:
            yield buffer_text(buffer), KINDS[buffer.kind].families
    for axis, schedule in plan.loops.items():
        if schedule.kind in LOOPS:
            yield f"loop {axis} {schedule_text(schedule)}", LOOPS[schedule.kind].families


def _unknown_axes(plan: Plan, axes: Collection[str]) -> Iterator[str]:
    walked = [walk.axis for walk in plan.walks]
    yield from (f"the walk '{axis}' has the tag of a range of the grid" for axis in walked if axis in axes)
    known = [*axes, *walked]
    for where, axis in named_axes(plan):
        if axis not in known:
            yield f"{where} names no axis of the grid: '{axis}'; there are {', '.join(known)}"


def named_axes(plan: Plan) -> Iterator[tuple[str, str]]:
    """Every axis that a plan names, and where."""
    yield from (("the order", axis) for axis in plan.order)
    for buffer in plan.buffers:
        yield from ((f"@{buffer.name}", axis) for axis in buffer.axes)
        for word, value in buffer.options:
            if isinstance(value, tuple):
                yield from ((f"'{word}' of @{buffer.name}", axis) for axis in value if isinstance(axis, str))
    yield from (("a loop", axis) for axis in plan.loops)
