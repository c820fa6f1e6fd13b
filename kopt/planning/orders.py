"""Orders of a launch's grid other than that of a plan. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, permutations

from kopt.ir.launch_model import LaunchModel
from kopt.plans.plan import Plan

#: Orders of one launch that are looked at, at most.
_MOST = 6


def orders(model: LaunchModel, plan: Plan) -> Iterator[tuple[str, ...]]:
    """The other orders that a plan's grid may have: parallel axes change places. Pairs that the launch fixes do not."""
    free = [place for place, tag in enumerate(plan.order) if tag in plan.parallel and tag not in plan.loops]
    fixed = {(first, second) for order in model.orders for first, second, _ in order.fixed}
    for places in islice(permutations(free), 1, _MOST):
        order = [*plan.order]
        for place, source in zip(free, places, strict=True):
            order[place] = plan.order[source]
        if all(order.index(a) < order.index(b) for a, b in fixed if a in order and b in order):
            yield tuple(order)


def ordered(plan: Plan, order: Sequence[str]) -> Plan:
    """The plan with its grid in another order."""
    places = {tag: number for number, tag in enumerate(order)}
    last = len(places)
    buffers = tuple(
        replace(one, axes=tuple(sorted(one.axes, key=lambda tag: places.get(tag, last)))) for one in plan.buffers
    )
    return replace(plan, order=tuple(order), buffers=buffers)


def reordered(model: LaunchModel, plan: Plan) -> Iterator[Plan]:
    """The plan with its grid in each of the other orders."""
    for order in orders(model, plan):
        yield ordered(plan, order)
