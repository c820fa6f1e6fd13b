"""The launches of a lowered kernel with the plans that they have: what a chip's model says that they take."""

from __future__ import annotations

from collections.abc import Sequence

from kopt.analysis.launch_models import launch_model
from kopt.analysis.plans import plan_of
from kopt.clone import cloned
from kopt.context import make_context
from kopt.diagnostics import collect
from kopt.dialects.tile import GridOp
from kopt.ir.launch_model import LaunchModel
from kopt.lowered import Lowered
from kopt.pass_manager import run
from kopt.passes.pipelines import pipeline
from kopt.plans.plan import Plan
from kopt.walk import walk

_PLANS = "plan-accesses"


def planned_launches(low: Lowered) -> Sequence[tuple[LaunchModel, Plan]]:
    """The model and the plan of each launch, in the order of the program."""
    passes = pipeline(low.target, low.config)
    place = [each.name for each in passes].index(_PLANS)
    module = cloned(low.module)
    with collect():  # it has been said where the kernel was lowered
        run(module, make_context(), passes[: place + 1])
    pairs = [(launch_model(grid), plan_of(grid)) for grid in walk(module, GridOp)]
    return [(model, plan) for model, plan in pairs if plan is not None]
