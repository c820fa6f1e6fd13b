"""Classes of steps: gone through one by one, they take what the closed form says."""

from __future__ import annotations

from itertools import pairwise, product

import pytest

from kopt.planning.at_sizes import AtSizes
from kopt.planning.items import Cost
from kopt.planning.timeline import StepClass, Timeline, timelines
from kopt.planning.tpu_cost import TpuLaunch
from kopt.plans.plan import Plan
from kopt.targets.chips import TPU_CHIPS

from .launches import elementwise, matmul, matmul_plan

V6E = TPU_CHIPS["v6e"]


def cost(model, plan: Plan, chip=V6E, **sizes: int) -> Cost:
    return TpuLaunch(AtSizes(model, sizes, chip, {}), plan).cost()


def one_by_one(found: Timeline) -> tuple[list[StepClass], list[float]]:
    """The class of each step in order, and what leaves beside it."""
    classes = {one.axis: one for one in found.classes}
    visits = list(product(*(range(int(trips)) for _, trips in found.axes)))
    tags = [tag for tag, _ in found.axes]
    turning = [next(tag for tag, a, b in zip(tags, now, then, strict=True) if a != b) for now, then in pairwise(visits)]
    steps = [classes[axis] for axis in [*turning, None]]
    return steps, [0.0, *(classes[axis].leaves for axis in turning)]


def test_steps_of_an_elementwise_kernel_take_its_time() -> None:
    model, plan = elementwise(8192, False)
    (grid,) = timelines(model, plan, V6E, {"b0": 1024})
    assert grid.axes == [("i", 8.0)] and [one.count for one in grid.classes] == [7.0, 1.0]
    steps, leaves = one_by_one(grid)
    took = sum(max(step.compute, step.comes + out) + grid.overhead for step, out in zip(steps, leaves, strict=True))
    assert took + grid.first + grid.last == pytest.approx(cost(model, plan, b0=1024).seconds)


@pytest.mark.parametrize("sizes", [(256, 256, 512), (1024, 128, 2048), (128, 512, 256)])
@pytest.mark.parametrize("chip", ["v6e", "v5e", "v4"])
def test_steps_of_a_product_take_its_time(sizes: tuple[int, int, int], chip: str) -> None:
    """Of one core, where a launch has two; so do both units and all that moves."""
    model, blocks = matmul(1024, 2048, 512), dict(zip(("b0", "b1", "b2"), sizes, strict=True))
    plan = matmul_plan("grid")
    grid = timelines(model, plan, TPU_CHIPS[chip], blocks)[0]
    found = cost(model, plan, TPU_CHIPS[chip], **blocks)
    steps, leaves = one_by_one(grid)
    assert len(steps) == found.steps == sum(one.count for one in grid.classes)
    took = sum(max(step.compute, step.comes + out) + grid.overhead for step, out in zip(steps, leaves, strict=True))
    assert took + grid.first + grid.last == pytest.approx(found.seconds)
    assert sum(step.mxu for step in steps) == pytest.approx(found.mxu_seconds)
    assert sum(step.vpu for step in steps) == pytest.approx(found.vpu_seconds)


@pytest.mark.parametrize("kind", ["prefetch", "emit_pipeline"])
def test_a_loop_that_copies_has_a_timeline(kind: str) -> None:
    model, sizes = matmul(1024, 2048, 512), {"b0": 256, "b1": 256, "b2": 512}
    grid, loop = timelines(model, matmul_plan(kind), V6E, sizes)
    assert (grid.loop, loop.loop, loop.axes) == (None, "k", [("k", 4.0)])
    assert [one.count for one in loop.classes] == [3.0, 1.0] and loop.first > 0 and loop.last == 0
    visits = sum(one.count * one.mxu for one in loop.classes)
    assert visits == pytest.approx(grid.classes[-1].mxu)


def test_without_trips_there_is_none() -> None:
    """As where only a launch tells how many blocks there are."""
    model, plan = elementwise(8192, False)
    assert timelines(model, plan, V6E) == []
