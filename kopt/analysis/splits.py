"""Into how many parts the loops of a grid's cells are dealt out on a GPU: what the cost model prefers. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from kopt.analysis.combiners import NotAReduction
from kopt.analysis.independent_loops import independent_loop
from kopt.analysis.launch_models import fixed_model
from kopt.analysis.plans import GridNames
from kopt.analysis.reduction_loops import reduction_loop
from kopt.dialects.tile import ForOp, GridOp, tag_of, tile_type
from kopt.ir.ranges import binding
from kopt.open_extents import NeedsConstant
from kopt.planning.assumed import assumed_lengths
from kopt.planning.candidates import gpu_candidate
from kopt.planning.cost import costs
from kopt.targets.budget import Budget
from kopt.targets.chips import GpuChip
from kopt.targets.costs import gpu_costs

#: What a split reduction has to gain: the model is no better than that, and a launch more is a launch more.
_GAIN = 0.8
#: Costs that differ by less are equal.
_SAME = 1.02
#: Parts of visits that only a launch counts, at most: others would mostly find none.
_MOST = 16


@dataclass(frozen=True)
class _Dealt:
    """The loop of a grid's cells that may be dealt out, its visits, None where computed, and the most parts of it.

    ``gain`` is what parts have to take less than: of reductions there is a launch more to combine them.
    """

    loop: ForOp
    trips: int | None
    most: int
    gain: float = _GAIN


def most_parts(grid: GridOp) -> int | str:
    """The most parts that a grid's cells may be dealt out in, or the reason why they cannot be."""
    try:
        return _dealt(grid).most
    except NotAReduction as reason:
        return str(reason)


def _dealt(grid: GridOp) -> _Dealt:
    """Raises `NotAReduction`."""
    try:
        found = reduction_loop(grid)
    except NotAReduction as reason:
        try:
            loop, trips = independent_loop(grid)
        except NotAReduction:
            raise reason from None
        return _Dealt(loop, trips, _MOST if trips is None else trips, 1.0)
    lanes = max(prod(tile_type(init).shape) for init in found.loop.inits)
    held = max(1, Budget.HELD_LANES // lanes)
    return _Dealt(found.loop, found.trips, held if found.trips is None else min(found.trips, held))


def chosen_split(grid: GridOp, chip: GpuChip) -> int:
    """Into how many parts a grid's cells are best dealt out; 1 where they stay as they are."""
    cells = prod(binding(range).trips or 1 for range in grid.ranges)
    if cells >= gpu_costs(chip).multiprocessors:
        return 1
    try:
        found = _dealt(grid)
    except NotAReduction:
        return 1
    if cells >= found.gain * gpu_costs(chip).multiprocessors:
        return 1  # what is idle is less than a split has to gain
    model = fixed_model(grid, GridNames.of(grid))
    lengths = assumed_lengths(model)
    if len(parts := _parts(found, lengths)) < 2:
        return 1
    plan = gpu_candidate(model)
    plans = [replace(plan, options=(("split", count),)) for count in parts]
    try:
        costed = [*costs(model, {}, plans, chip, lengths)]
    except NeedsConstant:  # extents that differ from call to call, of which workspaces would be
        return 1
    if any(one.seconds is None for one in costed):
        return 1
    seconds = np.array([float(np.min(one.seconds)) for one in costed if one.seconds is not None])
    best = int(np.argmax(seconds <= seconds.min() * _SAME))
    return parts[best] if seconds[best] < found.gain * seconds[0] else 1


def _parts(found: _Dealt, lengths: Mapping[str, Sequence[int]]) -> list[int]:
    """How many parts there may be, fewest first: each of a power of two of visits, which no odd block comes of.

    Where visits are computed, powers of two of parts, no more than the visits that are assumed.
    """
    if found.trips is None:
        walked = found.loop.range
        trips = max(lengths.get(tag_of(walked), [1])) // binding(walked).size
        return [1 << power for power in range(max(1, min(found.most, trips)).bit_length())]
    sizes = [1 << power for power in reversed(range(max(1, found.trips).bit_length()))]
    counts = [(-(-found.trips // size), size) for size in sizes]
    return [1, *(count for count, size in counts if 1 < count <= found.most and -(-found.trips // count) == size)]
