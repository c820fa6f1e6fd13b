"""The block sizes with which a program's launches cost least: `cost` of `candidates`, over a space of sizes at once.

Pure: models, spaces and chips come in. Sizes of one launch decide those of another where they share a tag, so that the
sum over all launches is what counts. Each launch takes at each candidate the plan that it will have
(`kopt.planning.choice`): of those that fit the cheapest, or a usual one that is hardly dearer.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from math import prod
from typing import NamedTuple

import numpy as np

from kopt.ir.launch_model import LaunchModel
from kopt.planning.assumed import assumed_lengths
from kopt.planning.candidates import IN_KERNEL, gpu_candidate, variants, with_unrolling
from kopt.planning.choice import CLEARLY, copies_once
from kopt.planning.cost import costing
from kopt.planning.items import Cost
from kopt.planning.splits import best_split
from kopt.planning.trips import Number, all_trips
from kopt.targets.budget import Budget
from kopt.targets.chips import Chip, GpuChip, TpuChip

#: What loops in the kernel may do under each ``loop_type`` of a configuration, and whether one may be of the grid.
_LOOPS = {
    "auto": (IN_KERNEL, True),
    "grid": (IN_KERNEL, True),
    "resident": (("resident",), False),
    "fori": (("prefetch",), False),
    "pipeline": (("emit_pipeline",), False),
}
#: Sizes by tag, with one number for each candidate.
Candidates = Mapping[str, np.ndarray]
#: Costs that differ by less are equal, of TPUs and of GPUs. Errors of the model are larger: on TPUs most of them are
#: common to neighbours.
SAME_TPU, SAME_GPU = 1.005, 1.02
#: What large candidates may take of others' time: that of loops of few, long steps the model knows less well.
_LARGE = 0.98
#: No candidate is large.
_NONE = np.asarray(False)
#: Lanes of a row that are moved as well as those of longer ones: 16 KiB of a tile's eight rows of 32 bits.
_ROW = 512
#: The candidates that are looked at, at most.
_MOST = 4096
#: Shares of the time in which nothing hides copies: those between two multiples are alike.
_EXPOSED = 0.25
#: Seconds of a unit's work that differ by less are alike.
_COMPUTED = 1.03


class Evaluated(NamedTuple):
    """Of each candidate its seconds, infinite where it does not fit or nothing tells; the bytes of its cell.

    ``exposed`` are the seconds of copies that nothing hides, ``busy`` those in which a TPU's busiest unit computes.
    """

    seconds: np.ndarray
    memory: np.ndarray
    exposed: np.ndarray
    busy: np.ndarray


def space(choices: Mapping[str, Sequence[int]]) -> Candidates:
    """All combinations of sizes, by tag. Where these are too many, every other choice of the longest list goes."""
    kept = {tag: sorted({*sizes}) for tag, sizes in choices.items()}
    while prod(len(sizes) for sizes in kept.values()) > _MOST:
        longest = max(kept, key=lambda tag: len(kept[tag]))
        kept[longest] = kept[longest][::-1][::2][::-1]
    columns = np.meshgrid(*kept.values(), indexing="ij")
    return {tag: column.reshape(-1) for tag, column in zip(kept, columns, strict=True)}


def cheapest(
    models: Sequence[LaunchModel],
    sizes: Candidates,
    chip: Chip,
    loop_type: str = "auto",
    lanes: Collection[str] = (),
    room: float = np.inf,
    large: np.ndarray = _NONE,
) -> Iterator[dict[str, int]]:
    """The candidates that fit, the cheapest first.

    Of those that cost the same on a TPU, first those in which less of the time goes to copies that nothing hides, of
    these those with fewer loops, and of these those that compute less, beside copies or not. Then those with the
    longest rows: these are what is moved in one piece, of blocks whose ``lanes`` are the tags. Of these the one that
    takes the least VMEM, or shared memory. ``loop_type`` is that of the configuration, ``room`` the most bytes that a
    cell may take. Candidates that are ``large`` have to take clearly less. Nothing comes where no plan tells what it
    costs.
    """
    seconds, memory, exposed, busy = evaluated(models, sizes, chip, loop_type)
    seconds = np.where(memory <= room, np.where(large, seconds / _LARGE, seconds), np.inf)
    rows = -sum((np.minimum(sizes[tag], _ROW) for tag in lanes), np.zeros(1))
    if not np.isfinite(least := seconds.min()):
        return
    same = SAME_TPU if isinstance(chip, TpuChip) else SAME_GPU
    loops = _loops(models, sizes) if isinstance(chip, TpuChip) else np.zeros(1)
    classes = np.floor(np.log(np.maximum(seconds, 1e-12) / max(least, 1e-12)) / np.log(same))
    shares = np.floor(exposed / max(least, 1e-12) / _EXPOSED)
    busy = np.broadcast_to(np.maximum(busy, 1e-12), seconds.shape)
    computed = np.floor(np.log(busy / busy[classes == 0].min()) / np.log(_COMPUTED))
    for number in np.lexsort(np.broadcast_arrays(seconds, memory, rows, computed, loops, shares, classes)):
        if not np.isfinite(seconds[number]):
            return
        yield {tag: int(column[number]) for tag, column in sizes.items()}


def _loops(models: Sequence[LaunchModel], sizes: Candidates) -> np.ndarray:
    """How many loops have several visits, or may have: those whose bounds only a launch tells."""
    count = np.zeros(1)
    for model in models:
        trips = all_trips(model, {**model.sizes, **sizes}, {})
        count = sum((trips.moves(axis.tag) for axis in model.axes if axis.form == "loop"), count)
    return count


def evaluated(models: Sequence[LaunchModel], sizes: Candidates, chip: Chip, loop_type: str = "auto") -> Evaluated:
    """What the candidates take, each with the plans that it will have. Of no sizes there is one candidate."""
    seconds, memory, exposed, busy = zip(*(_least(model, sizes, chip, loop_type) for model in models), strict=True)
    none = np.zeros(1)
    largest = np.max(np.broadcast_arrays(*memory), axis=0)
    return Evaluated(sum(seconds, none), largest, sum(exposed, none), sum(busy, none))


def rooms(chip: Chip) -> list[int]:
    """Bytes of VMEM, or shared memory, that a cell may take of which no plan tells; then what it may at most.

    That is so where a cell holds whole rows, whatever its block sizes are.
    """
    budget = Budget(chip)
    return [budget.cell_bytes(), budget.window_bytes()] if isinstance(chip, TpuChip) else [budget.shared]


def _least(model: LaunchModel, sizes: Candidates, chip: Chip, loop_type: str) -> Evaluated:
    """Of each candidate what the plan takes that it will have.

    On a TPU that is the cheapest, but for loops that may be dimensions of the grid: these are, unless others cost
    clearly less. On a GPU it has the best split.
    """
    if isinstance(chip, GpuChip):
        cost_of_split = best_split(model, {**sizes}, gpu_candidate(model), chip, assumed_lengths(model)).cost
        return Evaluated(*fitting(cost_of_split, chip), np.zeros(1), np.zeros(1))
    count = max(map(len, sizes.values()), default=1)
    none = Evaluated(np.full(count, np.inf), np.full(count, np.inf), np.zeros(count), np.zeros(count))
    least = dict.fromkeys((True, False), none)
    cost = costing(model, {**sizes}, chip, assumed_lengths(model))
    trips = all_trips(model, {**model.sizes, **sizes}, assumed_lengths(model))
    for variant in variants(model, *_LOOPS[loop_type]):
        if not sizes:  # it is known what divides visits
            variant += [plan for plan in with_unrolling(model, variant[0]) if plan not in variant]
        for plan in reversed(variant):
            own, taken = fitting(found := cost(plan), chip)
            if "resident" in _LOOPS[loop_type][0]:
                own = np.where(copies_once(plan, trips), np.inf, own)
            hoisted = any(loop.kind == "grid" for loop in plan.loops.values())
            exposed, *units = map(_or_zero, (found.exposed_seconds, found.mxu_seconds, found.vpu_seconds))
            better = Evaluated(own, taken, exposed, np.maximum(*units))
            least[hoisted] = _chosen(own < least[hoisted].seconds, better, least[hoisted])
            if sizes and np.isfinite(own).all() and np.all(own <= found.seconds):
                break  # what is unrolled takes no longer than the same that is not, unless its code is long
    usual, other = least[True], least[False]
    return _chosen(other.seconds < CLEARLY * usual.seconds, other, usual)


def _or_zero(seconds: Number | None) -> np.ndarray:
    return np.zeros(1) if seconds is None else np.asarray(seconds)


def _chosen(which: np.ndarray, one: Evaluated, other: Evaluated) -> Evaluated:
    """Of each candidate the one or the other."""
    return Evaluated(*(np.where(which, *pair) for pair in zip(one, other, strict=True)))


def fitting(found: Cost, chip: Chip) -> tuple[np.ndarray, np.ndarray]:
    """Of each candidate the seconds that it counts, infinite where it does not fit, and the bytes that it takes."""
    if isinstance(chip, TpuChip):
        memory = found.cell_bytes
        fits = None if memory is None else memory <= Budget(chip).window_bytes()
    else:
        memory, fits = found.shared_bytes, found.fits
    seconds = found.counted_seconds
    if seconds is None or memory is None or fits is None:
        return np.full(1, np.inf), np.full(1, np.inf)
    return np.where(fits, seconds, np.inf), np.asarray(memory)


def least_memory(
    model: LaunchModel, sizes: Mapping[str, int], chip: TpuChip, loop_type: str = "auto", buffers: bool = False
) -> int:
    """Bytes of VMEM of a cell, or of its ``buffers``, with the plan that takes the least; 0 where nothing tells."""
    cost = costing(model, {**sizes}, chip, assumed_lengths(model))
    costs = [cost(plan) for plan, *_ in variants(model, *_LOOPS[loop_type])]
    found = [one.vmem_bytes if buffers else one.cell_bytes for one in costs]
    return min((int(taken) for taken in found if taken is not None), default=0)
