"""What launches take by the best of the plans that they may have, at the block sizes of their models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from kopt.ir.launch_model import LaunchModel
from kopt.planning.candidates import candidates
from kopt.planning.cost import costs
from kopt.planning.items import Cost
from kopt.targets.chips import Chip, TpuChip

Lengths = Mapping[str, Sequence[int]]


def least_seconds(models: Iterable[LaunchModel], chip: Chip | None, lengths: Lengths | None = None) -> float | None:
    """Seconds of all launches, one after the other; ``lengths`` are those of `kopt.planning.cost`.

    None on GPUs, on chips whose costs are not fitted, and where trip counts are known to a launch alone.
    """
    if not isinstance(chip, TpuChip):
        return None
    found = [least_cost(model, chip, lengths) for model in models]
    seconds = [float(np.min(one.seconds)) for one in found if one is not None and one.fitted]  # pyright: ignore
    return sum(seconds) if len(seconds) == len(found) else None


def least_cost(model: LaunchModel, chip: TpuChip, lengths: Lengths | None = None) -> Cost | None:
    """The cost of the best plan; None where trip counts are known to a launch alone."""
    found = costs(model, {}, candidates(model), chip, lengths)
    known = [one for one in found if one.seconds is not None]
    return min(known, key=lambda one: float(np.min(one.seconds)), default=None)  # pyright: ignore
