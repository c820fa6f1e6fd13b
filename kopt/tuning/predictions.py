"""What candidates take by the cost model, with the plan that the lowering gave them; and plans that would take less."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from kopt.analysis.host_seconds import host_seconds
from kopt.config import Config
from kopt.ir.launch_model import LaunchModel
from kopt.ir.launch_sizes import with_sizes
from kopt.open_extents import NeedsConstant
from kopt.passes.pipelines import pipeline
from kopt.planning.assumed import assumed_lengths
from kopt.planning.block_sizes import fitting
from kopt.planning.cost import costing
from kopt.planning.orders import reordered
from kopt.plans.plan import Plan
from kopt.predictions import planned_modules, plans_between, written_plans
from kopt.targets.chips import Chip, GpuChip
from kopt.tuning.launches import Launches, launch_options, least
from kopt.tuning.schedules import Schedule, schedule_of, unrolled

if TYPE_CHECKING:
    from kopt.frontend import Imported
    from kopt.lowered import Lowered

#: A plan that takes less than this part of what the planner took is worth a try.
_CLEARLY = 0.97
#: Alternatives of one candidate that are tried, at most.
_MOST = 2


class Importer(Protocol):
    """What gives an import with its blocks open."""

    def opened(self, config: Config) -> Imported:
        """The import."""
        ...


class Predictions:
    """What the configurations of one kernel take on a chip."""

    def __init__(self, importer: Importer, chip: Chip):
        self._importer, self._chip = importer, chip
        self._launches: dict[Hashable, Launches] = {}

    def launches(self, config: Config) -> Launches:
        """The launches of an import: tunables and split reductions make others."""
        key = (config.split_k, tuple(sorted((name, repr(value)) for name, value in config.tunables.items())))
        if key not in self._launches:
            found = self._importer.opened(config)
            blocks = [(tuple(block.tags), block.size) for block in found.blocks]
            self._launches[key] = Launches(found.module, found.entry, blocks, self._chip, config)
        return self._launches[key]

    def of(self, low: Lowered, config: Config) -> float | None:
        """Milliseconds of a lowered candidate; None where the model cannot tell.

        They are those of the plans that its launches have. Where only a launch tells how many trips a loop has, lengths
        are assumed, and the schedule is what counts of a plan. Arrays that the host of a GPU fills and copies take
        launches of their own: a split that adds up in memory needs one that is filled.
        """
        modules = planned_modules(low.imported, pipeline(low.target, low.config))
        written = [] if modules is None else plans_between(*modules, self._chip)
        if written and not any(assumed_lengths(model) for model, _ in written):
            found = [self._seconds(model, plan) for model, plan in written]
        else:
            launches = self.launches(config)
            found = [self._launch(launches, *pair, config) for pair in self._pairs(launches, low, written)]
        total = sum(found) + (0 if modules is None else self._host(modules[1]))
        return 1e3 * total if np.isfinite(total) and found else None

    def _host(self, module: ModuleOp) -> float:
        """Seconds of what the host does around kernels; those of a TPU's are in their own costs."""
        if not isinstance(self._chip, GpuChip):
            return 0.0
        try:
            return host_seconds(module, self._chip)
        except NeedsConstant:  # only a call tells
            return 0.0

    def _seconds(self, model: LaunchModel, plan: Plan) -> float:
        """Seconds of a launch with a plan; infinite where they are not known."""
        seconds = costing(model, {}, self._chip, assumed_lengths(model))(plan).seconds
        return float("inf") if seconds is None else float(np.min(seconds))

    def _launch(self, launches: Launches, model: LaunchModel, plan: Plan | None, config: Config) -> float:
        """Seconds of one launch with the plan that it has, or else the cheapest."""
        if plan is not None:
            return self._seconds(model, plan)
        own = self._with_options(launches.plans(model), config)
        return float(least(model, {}, own, self._chip, 1)[0][0])

    def _with_options(self, plans: Sequence[Plan], config: Config) -> list[Plan]:
        options = launch_options(vars(config), self._chip)
        return [replace(plan, options=(*plan.options, *options)) for plan in plans]

    def _pairs(
        self, launches: Launches, low: Lowered, written: Sequence[tuple[LaunchModel, Plan]]
    ) -> list[tuple[LaunchModel, Plan | None]]:
        """The models of launches at a candidate's sizes, with the plans that are ``written`` in the model's words."""
        sizes = launches.sizes_of(low.config.block_sizes or ())
        models = [with_sizes(model, sizes) for model in launches.models]
        if len(written) != len(models):
            return [(model, None) for model in models]
        found = zip(models, (plan for _, plan in written), strict=True)
        return [(model, self._in_words(launches, model, plan)) for model, plan in found]

    def _in_words(self, launches: Launches, model: LaunchModel, written: Plan) -> Plan | None:
        """The plan of a model that runs as one that is ``written``; None where the model has none that does."""
        schedule = schedule_of(written)
        for plan in launches.plans(model):
            for one in (plan, *reordered(model, plan)):
                if schedule_of(one).is_like(schedule):
                    kept = {tag: replace(own, unroll=schedule.loops[tag].unroll) for tag, own in one.loops.items()}
                    return replace(one, loops=kept, options=written.options)
        return None

    def alternatives(self, low: Lowered | None, config: Config) -> Iterator[dict[str, Any]]:
        """Pins of schedules that take clearly less by the model than what the planner took, the best first.

        On a GPU pins of pointers for what comes by tensor descriptors, which the model cannot tell from these.
        """
        if low is None:
            return
        if isinstance(self._chip, GpuChip):
            if (pins := _pointers(low)) and not config.accesses:
                yield {"accesses": pins}
            return
        launches = self.launches(config)
        pairs = self._pairs(launches, low, _written(low))
        if len(pairs) != 1 or pairs[0][1] is None:
            return  # pins name axes of one grid
        ((model, plan),) = pairs
        assert plan is not None
        cost = costing(model, {}, self._chip, assumed_lengths(model))
        own = float(fitting(cost(plan), self._chip)[0].min())
        found: list[tuple[float, int, Schedule]] = []
        for each in self._with_options(launches.plans(model), config):
            for other in (each, *reordered(model, each)):
                for one in unrolled(model, other):
                    seconds = float(fitting(cost(one), self._chip)[0].min())
                    if seconds < _CLEARLY * own:
                        found.append((seconds, len(found), schedule_of(one)))
        seen: list[Schedule] = []
        for _, _, schedule in sorted(found, key=lambda item: item[:2]):
            if not any(schedule.is_like(other) for other in seen):
                seen.append(schedule)
        yield from (schedule.pins for schedule in seen[:_MOST])


def _pointers(low: Lowered) -> dict[str, str]:
    """A pin of a pointer for each access that goes by a tensor descriptor."""
    found: dict[str, str] = {}
    for _, plan in _written(low):
        kinds = {buffer.name: buffer.kind for buffer in plan.buffers}
        found |= {id: "pointer" for id, name in plan.via.items() if kinds[name] == "descriptor"}
    return found


def _written(low: Lowered) -> list[tuple[LaunchModel, Plan]]:
    """The models of a candidate's launches, and what the planner decided of each."""
    assert low.target.chip is not None
    return written_plans(low.imported, pipeline(low.target, low.config), low.target.chip)
