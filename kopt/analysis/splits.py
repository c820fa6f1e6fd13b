"""Into how many parts the loops of a grid's cells are dealt out on a GPU: what the cost model prefers. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import prod

import numpy as np

from kopt.analysis.combiners import NotAReduction
from kopt.analysis.independent_loops import independent_loop
from kopt.analysis.launch_models import fixed_model
from kopt.analysis.plans import GridNames
from kopt.analysis.reduction_loops import reduction_loop
from kopt.dialects.tile import GridOp, tile_type
from kopt.ir.ranges import binding
from kopt.planning.assumed import assumed_lengths
from kopt.planning.candidates import gpu_candidate
from kopt.planning.cost import costs
from kopt.targets.budget import Budget
from kopt.targets.chips import GpuChip
from kopt.targets.costs import gpu_costs

#: What a split has to gain: the model is no better than that, and a launch more is a launch more.
_GAIN = 0.8
#: Costs that differ by less are equal.
_SAME = 1.02


def most_parts(grid: GridOp) -> int | str:
    """The most parts that a grid's cells may be dealt out in, or the reason why they cannot be."""
    try:
        found = reduction_loop(grid)
    except NotAReduction as reason:
        try:
            return independent_loop(grid)[1]
        except NotAReduction:
            return str(reason)
    lanes = max(prod(tile_type(init).shape) for init in found.loop.inits)
    return min(found.trips, max(1, Budget.HELD_LANES // lanes))


def chosen_split(grid: GridOp, chip: GpuChip) -> int:
    """Into how many parts a grid's cells are best dealt out; 1 where they stay as they are."""
    cells = [binding(range).trips for range in grid.ranges]
    if prod(one or 1 for one in cells) >= gpu_costs(chip).multiprocessors:
        return 1
    most = most_parts(grid)
    if isinstance(most, str) or most < 2:
        return 1
    model = fixed_model(grid, GridNames.of(grid))
    plan, parts = gpu_candidate(model), [*_powers(most)]
    plans = [replace(plan, options=(("split", count),)) for count in parts]
    found = [cost.seconds for cost in costs(model, {}, plans, chip, assumed_lengths(model))]
    if any(one is None for one in found):
        return 1
    seconds = np.array([float(np.min(one)) for one in found])
    best = int(np.argmax(seconds <= seconds.min() * _SAME))
    return parts[best] if seconds[best] < _GAIN * seconds[0] else 1


def _powers(most: int) -> Iterator[int]:
    """1, 2, 4, … and the most."""
    count = 1
    while count < most:
        yield count
        count *= 2
    yield most
