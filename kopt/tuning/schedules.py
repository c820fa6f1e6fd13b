"""Schedules of loops and orders of a TPU's grid: the plans that a launch may have, and pins that ask for one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from kopt.ir.launch_model import LaunchModel
from kopt.planning.candidates import variants, with_unrolling
from kopt.planning.orders import reordered
from kopt.plans.plan import LoopSchedule, Plan
from kopt.plans.text import schedule_text


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
        yield from reordered(model, plan)


def unrolled(model: LaunchModel, plan: Plan) -> Iterator[Plan]:
    """A plan whose loops are not unrolled, and the same with loops unrolled by what divides their visits."""
    loops = {tag: replace(one, unroll=1) for tag, one in plan.loops.items()}
    return with_unrolling(model, replace(plan, loops=loops))
