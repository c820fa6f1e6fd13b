"""The cost of one plan of a launch on one chip: items, each in its own unit, not one sum.

    cost(model, {"b0": 512, "b1": 1024}, plan, chip).seconds
    cost(model, {"b0": np.array([256, 512]), "b1": 1024}, plan, chip).seconds     # two candidates at once

What cannot be told is None, never 0: with a trip count that only a launch tells there are no seconds, but VMEM is
known. Times of TPUs are those of `kopt.planning.steps`; those of GPUs a first model, which is not fitted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kopt.ir.launch_model import LaunchModel
from kopt.planning.plan import Plan
from kopt.planning.trips import Number, Sizes
from kopt.targets.chips import Chip, TpuChip


@dataclass(frozen=True)
class Cost:
    """What a launch takes; ``seconds`` in all. Of several candidates each item is an array.

    ``mxu_seconds`` and ``vpu_seconds`` are of one core, as if it did nothing else. ``overhead_seconds`` is the steps'
    own, ``exposed_seconds`` that of copies which nothing hides, ``host_seconds`` that of passes over arrays around the
    kernel. ``cores`` is how many of the chip's take part. ``live_bytes`` are values beyond registers, beside the
    buffers of ``vmem_bytes``; ``registers`` those of a thread. ``fitted``: the chip's constants are, to measurements.
    """

    seconds: Number | None = None
    mxu_seconds: Number | None = None
    vpu_seconds: Number | None = None
    bytes_in: Number | None = None
    bytes_out: Number | None = None
    steps: Number | None = None
    overhead_seconds: Number | None = None
    exposed_seconds: Number | None = None
    host_seconds: Number | None = None
    host_bytes: Number | None = None
    vmem_bytes: Number | None = None
    live_bytes: Number | None = None
    smem_bytes: Number | None = None
    shared_bytes: Number | None = None
    registers: Number | None = None
    waves: Number | None = None
    cores: int | None = None
    fitted: bool = False


def cost(
    model: LaunchModel, sizes: Sizes, plan: Plan, chip: Chip, lengths: Mapping[str, Sequence[int]] | None = None
) -> Cost:
    """The cost of a plan at some block sizes, which may be arrays, with one number for each candidate.

    Args: ``lengths`` are the extents of jagged axes by their tags, one an item, where these are known.
    """
    return next(costs(model, sizes, [plan], chip, lengths))


def costs(
    model: LaunchModel,
    sizes: Sizes,
    plans: Iterable[Plan],
    chip: Chip,
    lengths: Mapping[str, Sequence[int]] | None = None,
) -> Iterator[Cost]:
    """As `cost`, of several plans, each when it is asked for."""
    if isinstance(chip, TpuChip):
        from kopt.planning.at_sizes import AtSizes
        from kopt.planning.tpu_cost import TpuLaunch

        launch = AtSizes(model, sizes, chip, lengths or {})
        return (TpuLaunch(launch, plan).cost() for plan in plans)
    from kopt.planning.gpu_cost import GpuLaunch

    return (GpuLaunch(model, sizes, plan, chip, lengths or {}).cost() for plan in plans)
