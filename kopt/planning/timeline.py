"""A launch on a TPU as a timeline of steps: what each class of steps computes, brings and sends.

The numbers are those of `kopt.planning.tpu_cost`, class by class instead of summed up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kopt.ir.launch_model import LaunchModel
from kopt.planning.at_sizes import AtSizes
from kopt.planning.steps import Pipeline
from kopt.planning.tpu_cost import TpuLaunch
from kopt.planning.trips import Sizes, UnknownError
from kopt.plans.plan import Plan
from kopt.targets.chips import TpuChip


@dataclass(frozen=True)
class StepClass:
    """Steps after which one axis turns, and those inside of it begin anew; the last step of all has none.

    Seconds of one step: ``compute`` in all, ``mxu`` and ``vpu`` of the two units as if each were alone, ``comes`` of
    the copies for the next step, ``leaves`` of those of what is finished then.
    """

    axis: str | None
    count: float
    compute: float
    mxu: float
    vpu: float
    comes: float
    leaves: float


@dataclass(frozen=True)
class Timeline:
    """The steps of a grid, or the visits of a loop in the kernel (``loop``), over ``axes`` with their trips.

    ``first`` and ``last`` are seconds of the copies before the first step and after the last, ``overhead`` of a step.
    """

    loop: str | None
    axes: Sequence[tuple[str, float]]
    classes: Sequence[StepClass]
    first: float
    last: float
    overhead: float


def timelines(model: LaunchModel, plan: Plan, chip: TpuChip, sizes: Sizes | None = None) -> list[Timeline]:
    """The grid's timeline, and one of each loop that moves blocks; none where only a launch tells trips.

    ``sizes`` are those of blocks, where the model's own are not meant.
    """
    try:
        return _Timed(AtSizes(model, sizes or {}, chip, {}), plan).all()
    except UnknownError:
        return []


class _Timed(TpuLaunch):
    """A launch whose steps are kept apart."""

    def all(self) -> list[Timeline]:
        """All timelines."""
        self._divide()
        self._bandwidth = self.costs.hbm_share * self.costs.bytes_per_second / self.cores
        grid = self._grid()
        depths = [*range(len(grid.order)), -1]
        found = [self._timeline(None, grid, [self._class(grid, depth) for depth in depths])]
        return [*found, *(self._of_loop(tag) for tag in self._all_loops if self._blocks_of(tag))]

    def _class(self, grid: Pipeline, depth: int) -> StepClass:
        paths = [(path, work) for path, work in self._all_work.items() if self._depth_of(path) >= depth]
        work = [(work.mxu * self._times(path), work.vpu * self._times(path)) for path, work in paths]
        mxu, vpu = (sum((one[n] for one in work), 0.0) for n in (0, 1))
        comes, leaves = (0.0, 0.0) if depth < 0 else (grid.bytes_in()[depth], grid.bytes_out()[depth])
        axis, count = (None, 1.0) if depth < 0 else (grid.order[depth], _number(grid.turns[depth]))
        return StepClass(
            axis,
            count,
            _number(self._step(depth)),
            _number(mxu / self.costs.mxu_share / self.costs.clock_hz),
            _number(vpu / self.costs.clock_hz),
            _number(comes / self._bandwidth),
            _number(leaves / self._bandwidth),
        )

    def _times(self, path: Sequence[str]) -> Any:
        """How often a step comes to a place in loops of the kernel."""
        times: Any = 1
        for tag in path:
            times = times * (1 if tag in self._depth else self.trips[tag].mean)
        return times

    def _timeline(self, loop: str | None, pipeline: Pipeline, classes: Sequence[StepClass]) -> Timeline:
        axes = [(tag, _number(pipeline.trips[tag].mean)) for tag in pipeline.order]
        sizes = [sum((one.size for one in pipeline.moved if one.leaves == leaves), 0) for leaves in (False, True)]
        first, last = (_number(size / self._bandwidth) for size in sizes)
        return Timeline(loop, axes, classes, first, last, self.costs.step_seconds)

    def _blocks_of(self, tag: str) -> Sequence[Any]:
        return self._moved([one for one in self.plan.buffers if tag in self._loops_of(one)])

    def _of_loop(self, tag: str) -> Timeline:
        """The visits of a loop whose blocks copies of its own bring."""
        pipeline = Pipeline([tag], self.trips, self._blocks_of(tag))
        paths = [(path, work) for path, work in self._all_work.items() if tag in path]
        inner = [(path[path.index(tag) + 1 :], work) for path, work in paths]
        mxu, vpu = (
            sum((getattr(work, unit) * self._times(path) for path, work in inner), 0.0) for unit in ("mxu", "vpu")
        )
        units = _number(mxu / self.costs.mxu_share / self.costs.clock_hz), _number(vpu / self.costs.clock_hz)
        comes, leaves = (_number(moved()[0] / self._bandwidth) for moved in (pipeline.bytes_in, pipeline.bytes_out))
        visit = StepClass(tag, _number(pipeline.turns[0]), max(units), *units, comes, leaves)
        return self._timeline(tag, pipeline, [visit, StepClass(None, 1.0, max(units), *units, 0.0, 0.0)])


def _number(value: Any) -> float:
    return float(np.min(value))
