"""Fits a chip's constants to measured times, by least squares of the logarithms of predicted over measured.

    found = fitted(samples, chip)            # samples: a launch's cost on a chip, and its measured seconds
    found.costs, found.before, found.after   # constants; errors with those of the chip, and with these

What few measurements say nothing of stays near what it was: each constant is held by a weak spring.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kopt.planning.items import Cost
from kopt.targets.chips import Chip, TpuChip
from kopt.targets.costs import gpu_costs, tpu_costs

#: What is fitted, with the least and the most that it may be.
_TPU: Mapping[str, tuple[float, float]] = {
    "mxu_share": (0.3, 1.1),
    "hbm_share": (0.3, 1.0),
    "vector_share": (0.25, 3.0),
    "host_share": (0.2, 1.0),
    "step_seconds": (0.0, 2e-6),
    "store_cycles": (0.0, 4.0),
}
_GPU: Mapping[str, tuple[float, float]] = {
    "mma_share": (0.1, 1.0),
    "hbm_share": (0.3, 1.0),
    "issue_share": (0.1, 1.5),
    "l2_share": (0.1, 1.5),
    "program_seconds": (0.0, 5e-6),
    "dispatch_seconds": (1e-8, 1e-6),
    "launch_seconds": (1e-6, 2e-5),
}
#: Errors beyond are weighed less: single measurements may be of something else.
_USUAL = 0.05
#: How strongly a constant is held where it was, of one measurement's weight, over its whole range.
_SPRING = 0.05
#: Steps of the search.
_STEPS = 25


@dataclass(frozen=True)
class Sample:
    """A measured launch, or several one after the other: what they cost on a chip, and the seconds they took."""

    costs: Callable[[Chip], Sequence[Cost]]
    seconds: float

    def predicted(self, chip: Chip) -> Any:
        """Seconds by the model; where constants are arrays, one number for each."""
        found = [cost.seconds for cost in self.costs(chip)]
        return sum((np.nan if each is None else each for each in found), 0.0)


@dataclass(frozen=True)
class Fit:
    """Constants that were fitted by their names, all constants with them, and relative errors before and after."""

    fitted: Mapping[str, float]
    costs: Any
    before: np.ndarray
    after: np.ndarray


def with_costs(chip: Chip, costs: Any) -> Chip:
    """The chip with other constants."""
    return replace(chip, costs=costs)


def costs_of(chip: Chip) -> Any:
    """The constants of a TPU or of a GPU."""
    return tpu_costs(chip) if isinstance(chip, TpuChip) else gpu_costs(chip)


def errors(samples: Sequence[Sample], chip: Chip) -> np.ndarray:
    """Predicted over measured, less 1."""
    return np.array([float(each.predicted(chip)) / each.seconds - 1 for each in samples])


def fitted(samples: Sequence[Sample], chip: Chip, held: Sequence[str] = ()) -> Fit:
    """The constants with which the model is nearest to the samples; those that are ``held`` stay as they are."""
    from scipy.optimize import least_squares

    base, ranges = costs_of(chip), _TPU if isinstance(chip, TpuChip) else _GPU
    ranges = {name: ends for name, ends in ranges.items() if name not in held}
    low, high = np.array([*ranges.values()]).T
    start = np.clip([getattr(base, name) for name in ranges], low, high)
    measured = np.log([each.seconds for each in samples])

    def scaled(points: np.ndarray) -> Chip:
        """The chip with constants at points between the ends of their ranges: a column a constant."""
        values = low + points * (high - low)
        return with_costs(chip, replace(base, **dict(zip(ranges, values.T, strict=True))))

    def residuals(points: np.ndarray) -> np.ndarray:
        """A row a point."""
        trial = scaled(points)
        rows = [np.broadcast_to(each.predicted(trial), len(points)) for each in samples]
        return (np.log(np.array(rows)) - measured[:, None]).T

    begin = (start - low) / (high - low)
    nudge = np.where(begin < 0.5, 1e-3, -1e-3)

    def jacobian(point: np.ndarray) -> np.ndarray:
        at, *others = residuals(np.vstack([point, point + np.diag(nudge)]))
        return np.vstack([(np.array(others) - at).T / nudge, _SPRING * np.eye(len(point))])

    found = least_squares(
        lambda point: np.concatenate([residuals(point[None])[0], _SPRING * (point - begin)]),
        np.clip(begin, 1e-6, 1 - 1e-6),
        jacobian,  # pyright: ignore[reportArgumentType]
        bounds=(0, 1),
        loss="soft_l1",
        f_scale=_USUAL,
        max_nfev=_STEPS,
    )
    values = dict(zip(ranges, map(float, low + found.x * (high - low)), strict=True))
    costs = replace(base, **values, fitted=True)
    return Fit(values, costs, errors(samples, chip), errors(samples, with_costs(chip, costs)))
