"""Into how many parts the loops of a launch's cells are best dealt out on a GPU: a ``split``, and what it takes.

More parts give more multiprocessors a program. But reductions need one more launch, and partial results go through
memory. Pure: sizes are numbers, or arrays with one number for each candidate.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import prod

import numpy as np

from kopt.ir.launch_model import Axis, LaunchModel, Work
from kopt.planning.cost import costing
from kopt.planning.items import Cost, chosen
from kopt.planning.trips import Number, Sizes, all_trips, max_of, value
from kopt.plans.plan import Plan
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
class Split:
    """Into how many ``parts`` a loop is dealt out, 1 where it stays as it is; ``cost`` has the seconds of these.

    ``size`` is that of the blocks which are chosen for all others (`Axis.sizes`), at the most; 0 without such ones.
    """

    parts: Number
    cost: Cost
    size: Number = 0


def best_split(
    model: LaunchModel, sizes: Sizes, plan: Plan, chip: GpuChip, lengths: Mapping[str, Sequence[int]]
) -> Split:
    """The split that costs the least, or that of the plan; of equal costs the one with the fewest parts.

    A loop whose bounds are numbers of outer blocks stays whole: parts of it have no visits that need no masks. Where
    blocks are chosen for all others, it is that of the best ones; of equal costs that of the largest.
    """
    own = {axis.tag: axis.sizes for axis in model.axes if axis.sizes}
    if not own:
        return _best_split(model, sizes, plan, chip, lengths)
    found = []
    for size in sorted({size for some in own.values() for size in some}, reverse=True):
        parts = {tag: _as_candidates(nearest(size, some), sizes) for tag, some in own.items()}
        found.append(replace(_best_split(model, {**sizes, **parts}, plan, chip, lengths), size=size))
    return reduce(_cheaper, found)


def nearest(size: int, sizes: Sequence[int]) -> int:
    """The nearest of some sizes that is no larger than one, or the least of them."""
    return max((one for one in sizes if one <= size), default=min(sizes))


def _as_candidates(size: int, sizes: Sizes) -> np.ndarray:
    """A size for each candidate, of which there is at least one."""
    return np.full(np.broadcast_shapes((1,), *map(np.shape, sizes.values())), size)


def _cheaper(one: Split, other: Split) -> Split:
    """Of each candidate the first split, or the other where that clearly costs less."""
    before, after = map(_counted, (one.cost, other.cost))
    better = after * _SAME < before
    parts, size = (np.where(better, *pair) for pair in ((other.parts, one.parts), (other.size, one.size)))
    return Split(parts, chosen(better, other.cost, one.cost), size)


def _counted(cost: Cost) -> np.ndarray:
    """Seconds, infinite where programs do not fit or nothing tells."""
    known = cost.seconds is not None and cost.fits is not None
    return np.where(cost.fits, cost.seconds, np.inf) if known else np.asarray(np.inf)  # pyright: ignore


def _best_split(
    model: LaunchModel, sizes: Sizes, plan: Plan, chip: GpuChip, lengths: Mapping[str, Sequence[int]]
) -> Split:
    """The best split at given sizes of all blocks."""
    sizes = {**model.sizes, **sizes}
    usual = costing(model, sizes, chip, lengths)(plan)
    loops = [axis for axis in model.axes if "split" in axis.may]
    loop = next((axis for axis in loops if axis.extent.is_constant or axis.tag in lengths), None)
    if loop is None or "split" in dict(plan.options) or usual.seconds is None or usual.steps is None:
        return Split(dict(plan.options).get("split", 1), usual)
    gain = _GAIN if _sums(model, loop) else 1.0
    before, cells = np.broadcast_arrays(np.asarray(usual.seconds, float), usual.steps)
    idle = cells < gain * gpu_costs(chip).multiprocessors  # else no split can gain as much
    parts, seconds = np.ones(before.shape, int), before.copy()
    if idle.any():
        some = {name: np.broadcast_to(size, idle.shape)[idle] for name, size in sizes.items()}
        counts, least = _cheapest(model, some, plan, chip, lengths, loop)
        gains = least < gain * before[idle]
        parts[idle], seconds[idle] = np.where(gains, counts, 1), np.where(gains, least, before[idle])
    return Split(parts, replace(usual, seconds=seconds))


def most_parts(model: LaunchModel, sizes: Sizes, lengths: Mapping[str, Sequence[int]], loop: Axis) -> Number:
    """The most parts of a loop: its visits, and as many partial results as registers hold."""
    trips = all_trips(model, sizes, lengths)
    visits = trips[loop.tag].mean if loop.tag in trips else np.inf
    lanes = [prod(value(size, sizes) for _, size in work.dims) for work in _sums(model, loop)]
    return np.minimum(visits, np.maximum(1, Budget.HELD_LANES // max_of(lanes))) if lanes else visits


def possible_parts(visits: Number, most: Number) -> Iterator[tuple[Number, Number]]:
    """Numbers of parts, fewest first, and where each is possible: of a power of two of visits, so that none is odd."""
    for power in reversed(range(int(np.max(visits)).bit_length())):
        parts = -(-visits // (1 << power))
        yield parts, (parts > 1) & (parts <= most) & (-(-visits // np.maximum(1, parts)) == 1 << power)


def possible_powers(most: Number) -> Iterator[tuple[Number, Number]]:
    """As `possible_parts` where only a launch counts the visits: powers of two."""
    for power in range(1, int(np.max(np.minimum(most, _MOST))).bit_length()):
        yield 1 << power, most >= 1 << power


def _cheapest(
    model: LaunchModel, sizes: Sizes, plan: Plan, chip: GpuChip, lengths: Mapping[str, Sequence[int]], loop: Axis
) -> tuple[Number, Number]:
    """The parts of the best split, and their seconds: without end where there is none."""
    most, visits = most_parts(model, sizes, lengths, loop), all_trips(model, sizes, lengths)
    counted = loop.extent.is_constant
    found = [*(possible_parts(visits[loop.tag].mean, most) if counted else possible_powers(most))]
    cost = costing(model, sizes, chip, lengths)
    shape = np.broadcast_shapes(*map(np.shape, sizes.values()))
    best, least = np.ones(shape, int), np.full(shape, np.inf)
    for parts, where in found:
        seconds = cost(replace(plan, options=(*plan.options, ("split", parts)))).seconds
        own = np.full(shape, np.inf) if seconds is None else np.where(where, seconds, np.inf)
        better = own * _SAME < least
        best, least = np.where(better, parts, best), np.where(better, own, least)
    return best, least


def _sums(model: LaunchModel, loop: Axis) -> list[Work]:
    """What a loop carries from visit to visit."""
    return [work for work in model.work if work.unit == "carry" and work.path[-1:] == (loop.tag,)]
