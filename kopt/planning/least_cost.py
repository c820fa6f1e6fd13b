"""What launches take by the best of the plans that they may have, at the block sizes of their models."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from kopt.ir.launch_model import LaunchModel
from kopt.planning.candidates import candidates
from kopt.planning.cost import costs
from kopt.targets.chips import Chip, TpuChip


def least_seconds(models: Iterable[LaunchModel], chip: Chip | None) -> float | None:
    """Seconds of all launches, one after the other.

    None where they are not known: of GPUs and chips whose costs are not fitted to measurements, and where trip counts
    are known to a launch alone.
    """
    if not isinstance(chip, TpuChip):
        return None
    found = [_least(model, chip) for model in models]
    return None if None in found else float(sum(filter(None, found)))


def _least(model: LaunchModel, chip: TpuChip) -> float | None:
    found = costs(model, {}, candidates(model), chip)
    known = [float(np.min(one.seconds)) for one in found if one.seconds is not None and one.fitted]
    return min(known, default=None)
