"""Figures of what libtpu compiled for a TPU, that can be compared: cycles, and how they are known.

libtpu's own estimate is taken where it counted all trips, and else its bundles times the trips that the caller knows;
neither knows the memory's bandwidth, so that no figure goes below the floor. What is not known is None.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kopt.analysis.launch_models import launch_models
from kopt.context import make_context
from kopt.lowered import Lowered
from kopt.pass_manager import run
from kopt.passes.pipelines import before_models
from kopt.planning.candidates import candidates
from kopt.planning.cost import costs
from kopt.targets.chips import TpuChip
from kopt.targets.costs import TpuCosts, tpu_costs

#: Operations around kernels that libtpu gives no cycles, though they take some.
_UNCOUNTED = {"while", "conditional", "custom-call", "call"}

#: The items of kopt's model, each with seconds of its own.
_ITEMS = ("mxu", "vpu", "overhead", "exposed", "host")


def floor(bytes: int, flops: int, chip: TpuCosts) -> dict[str, float]:
    """The cycles that the memory and the matrix unit take at the least."""
    return {
        "hbm": bytes / chip.bytes_per_second * chip.clock_hz,
        "mxu": flops / chip.flops_per_cycle / chip.cores,
    }


def bundle_cycles(loops: Sequence[Mapping[str, int]], steps: int, visits: Mapping[int, int]) -> int | None:
    """Bundles times trips: ``steps`` those of the grid, ``visits`` those of inner loops by depth, one loop each."""
    depths = [loop["depth"] for loop in loops]
    trips = {0: 1, 1: steps, **visits}
    if not loops or any(depth not in trips or depths.count(depth) > 1 for depth in depths):
        return None
    return sum(loop["bundles"] * trips[loop["depth"]] for loop in loops)


def cycles(
    facts: Mapping[str, Any], steps: int | None, visits: Mapping[int, int], least: float
) -> tuple[float | None, str]:
    """The figure of a compiled module, and what it is: ``libtpu``, ``bundles``, ``floor``, or why there is none."""
    if not facts["legal"]:
        return None, "refused" if facts["legal"] is False else "time limit"
    if _UNCOUNTED & set(facts["hlo_ops"]):
        return None, "uncounted HLO"
    kernels = facts["kernels"]
    known = [kernel.get("estimated_cycles") for kernel in kernels]
    by = "libtpu"
    if None in known:
        alone = len(kernels) == 1 and steps is not None
        known, by = [bundle_cycles(kernels[0]["loops"], steps or 0, visits) if alone else None], "bundles"
    if None in known:
        return None, "computed trips"
    found = sum(known) + facts["hlo_cycles"]
    return (least, "floor") if found <= least else (found, by)


def largest_item(low: Lowered, chip: TpuChip) -> str | None:
    """What takes most of a lowered kernel's time by kopt's own model: of `_ITEMS` or the memory's, in brackets."""
    prepared = low.module.clone()
    run(prepared, make_context(), before_models(low.config))
    totals = dict.fromkeys((*_ITEMS, "hbm"), 0.0)
    for model in launch_models(prepared):
        known = [one for one in costs(model, {}, candidates(model), chip) if one.seconds is not None]
        if not known:
            return None
        best = min(known, key=lambda one: _number(one.seconds))
        moved = _number(best.bytes_in) + _number(best.bytes_out)
        totals["hbm"] += moved / tpu_costs(chip).bytes_per_second
        for item in _ITEMS:
            totals[item] += _number(getattr(best, f"{item}_seconds"))
    return f"({max(totals, key=lambda item: totals[item])})"


def _number(found: Any) -> float:
    return 0.0 if found is None else float(np.min(found))
