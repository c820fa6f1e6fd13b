"""The cost of one plan of a launch on one chip: items, each in its own unit, not one sum.

    cost(model, {"b0": 512, "b1": 1024}, plan, chip).seconds
    cost(model, {"b0": np.array([256, 512]), "b1": 1024}, plan, chip).seconds     # two candidates at once

What cannot be told is None, never 0: with a trip count that only a launch tells there are no seconds, but VMEM is
known. Times of TPUs are those of `kopt.planning.steps`; those of GPUs of `kopt.planning.gpu_cost`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from kopt.ir.launch_model import LaunchModel
from kopt.planning.at_sizes import AtSizes
from kopt.planning.gpu_cost import GpuLaunch
from kopt.planning.items import Cost
from kopt.planning.loaded import Contents
from kopt.planning.tpu_cost import TpuLaunch
from kopt.planning.trips import Sizes
from kopt.plans.plan import Plan
from kopt.targets.chips import Chip, TpuChip


def cost(
    model: LaunchModel,
    sizes: Sizes,
    plan: Plan,
    chip: Chip,
    lengths: Mapping[str, Sequence[int]] | None = None,
    contents: Contents | None = None,
) -> Cost:
    """The cost of a plan at some block sizes, which may be arrays, with one number for each candidate.

    Args: ``lengths`` are the extents of jagged axes by their tags, one an item, and ``contents`` what arrays of
    numbers hold by which blocks are found, by their operands' names; where these are known.
    """
    return next(costs(model, sizes, [plan], chip, lengths, contents))


def costs(
    model: LaunchModel,
    sizes: Sizes,
    plans: Iterable[Plan],
    chip: Chip,
    lengths: Mapping[str, Sequence[int]] | None = None,
    contents: Contents | None = None,
) -> Iterator[Cost]:
    """As `cost`, of several plans, each when it is asked for."""
    return map(costing(model, sizes, chip, lengths, contents), plans)


def costing(
    model: LaunchModel,
    sizes: Sizes,
    chip: Chip,
    lengths: Mapping[str, Sequence[int]] | None = None,
    contents: Contents | None = None,
) -> Callable[[Plan], Cost]:
    """What gives `cost` for one plan after the other; what all have in common is found once."""
    if isinstance(chip, TpuChip):
        launch = AtSizes(model, sizes, chip, lengths or {}, contents)
        return lambda plan: TpuLaunch(launch, plan).cost()
    return lambda plan: GpuLaunch(model, sizes, plan, chip, lengths or {}, contents).cost()
