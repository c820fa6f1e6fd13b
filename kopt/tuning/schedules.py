"""Schedules of loops and orders of a TPU's grid: the plans that a launch may have, and pins that ask for one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, permutations

from kopt.ir.launch_model import LaunchModel, Order
from kopt.planning.candidates import UNROLLED, unrollable, variants
from kopt.plans.plan import LoopSchedule, Plan
from kopt.plans.text import schedule_text

#: Orders of one launch that are looked at, at most.
_MOST_ORDERS = 6


@dataclass(frozen=True)
class Schedule:
    """How the loops of one launch run, and the order of its grid; what a configuration pins of a plan."""

    loops: Mapping[str, LoopSchedule]
    order: tuple[str, ...]

    @property
    def pins(self) -> dict[str, object]:
        """The keys of a configuration."""
        loops = {tag: schedule_text(one) for tag, one in self.loops.items()}
        return {**({"loops": loops} if loops else {}), **({"order": list(self.order)} if len(self.order) > 1 else {})}

    def is_like(self, other: Schedule) -> bool:
        """Whether both run alike, but for what they unroll and peel."""
        kinds = [{tag: one.kind for tag, one in each.loops.items()} for each in (self, other)]
        return kinds[0] == kinds[1] and self.order == other.order


def schedule_of(plan: Plan) -> Schedule:
    """What a plan says of loops and of the order."""
    return Schedule(dict(plan.loops), plan.order)


def plans(model: LaunchModel) -> Iterator[Plan]:
    """The plans of a launch on a TPU in all orders, those of the source first."""
    found = [plan for variant in variants(model) for plan in variant]
    yield from found
    for plan in found:
        for order in orders(model, plan):
            yield ordered(plan, order)


def orders(model: LaunchModel, plan: Plan) -> Iterator[tuple[str, ...]]:
    """The other orders that a plan's grid may have. Axes that carry values stay where they are."""
    free = [tag for tag in plan.order if tag in plan.parallel]
    hoisted = [tag for tag in plan.order if tag in plan.loops]
    kept = [tag for tag in plan.order if tag not in free and tag not in hoisted]
    fixed = model.orders[0] if model.orders else Order((), frozenset())
    if kept or len(free) < 2 or fixed.fixed:
        return
    for order in islice(permutations(free), 1, _MOST_ORDERS):
        yield (*order, *hoisted)


def ordered(plan: Plan, order: Sequence[str]) -> Plan:
    """The plan with its grid in another order."""
    places = {tag: number for number, tag in enumerate(order)}
    last = len(places)
    buffers = tuple(
        replace(one, axes=tuple(sorted(one.axes, key=lambda tag: places.get(tag, last)))) for one in plan.buffers
    )
    return replace(plan, order=tuple(order), buffers=buffers)


def unrolled(model: LaunchModel, plan: Plan) -> Iterator[Plan]:
    """A plan whose loops are not unrolled, and the same with loops unrolled by what divides their visits."""
    plan = replace(plan, loops={tag: replace(one, unroll=1) for tag, one in plan.loops.items()})
    yield plan
    trips = {
        tag: model.axis(tag).trips.number
        for tag in unrollable(model, {tag: one.kind for tag, one in plan.loops.items()})
    }
    for factor in UNROLLED:
        found = {tag for tag, number in trips.items() if isinstance(number, int) and number % factor == 0 < number}
        if found:
            loops = {tag: replace(one, unroll=factor if tag in found else 1) for tag, one in plan.loops.items()}
            yield replace(plan, loops=loops)
