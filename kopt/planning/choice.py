"""Which of the plans that a launch may have is taken: the usual one, unless another that fits is clearly cheaper.

Plans that differ by what they unroll move the same and err alike: of these the cheapest is taken, clear or not.

Pure: models, plans and chips come in. Of equal costs the first stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kopt.ir.launch_model import LaunchModel
from kopt.planning.assumed import assumed_lengths
from kopt.planning.cost import costs
from kopt.planning.items import Cost
from kopt.planning.trips import AllTrips, all_trips
from kopt.plans.plan import Plan
from kopt.targets.budget import Budget
from kopt.targets.chips import TpuChip

#: A plan costs clearly less than another by this: most of the model's error (`kopt.targets.costs`) is common to all
#: plans of a kernel.
CLEARLY = 0.95


def cheapest(model: LaunchModel, plans: Sequence[Plan], chip: TpuChip) -> int:
    """The number of the plan to take. The first is the usual one, also where nothing tells what it costs."""
    if len(plans) == 1:
        return 0
    left = costs(model, {}, plans, chip)
    if (first := next(left)).seconds is None:
        return 0
    found = [first, *left]
    known = {n: float(one.counted_seconds) for n, one in enumerate(found) if one.counted_seconds is not None}
    fitting = [n for n in known if fits(found[n], chip)]
    if not fitting:
        return 0
    trips = all_trips(model, {**model.sizes}, assumed_lengths(model))
    fitting = [n for n in fitting if not copies_once(plans[n], trips)] or fitting
    best = min(fitting, key=known.__getitem__)
    usual = min((n for n in fitting if _rolled(plans[n]) == _rolled(plans[0])), key=known.__getitem__, default=None)
    return best if usual is None or known[best] < CLEARLY * known[usual] else usual


def _rolled(plan: Plan) -> Plan:
    """A plan with no loop unrolled."""
    return replace(plan, loops={tag: replace(loop, unroll=1) for tag, loop in plan.loops.items()})


def fits(found: Cost, chip: TpuChip) -> bool:
    """Whether a kernel has the memory for a plan; it does not where nothing tells how much that is."""
    return found.cell_bytes is not None and Budget(chip).holds_windows(int(found.cell_bytes))


def copies_once(plan: Plan, trips: AllTrips) -> np.ndarray:
    """Where a loop whose copies run beside its visits has a single one: that is straight code, as `resident` has it."""
    beside = (tag for tag, loop in plan.loops.items() if loop.kind in ("prefetch", "emit_pipeline"))
    return np.any(np.broadcast_arrays(False, *(~trips.moves(tag) for tag in beside)), axis=0)
