"""What a lowered kernel is predicted to take, why, and what else it might do: kopt's own model, without a compiler.

The plans are those that the pipeline wrote; the others are those that it chose from, and what differs from them in one
decision. So are the block sizes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from kopt.analysis.block_sizes import searches
from kopt.analysis.launch_models import launch_model
from kopt.analysis.plans import GridNames, plan_of
from kopt.clone import cloned
from kopt.config import Config
from kopt.context import make_context
from kopt.diagnostics import collect
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import GridOp, OpenBlock
from kopt.dialects.tile.plan_directive import axis_names
from kopt.errors import KoptError
from kopt.ir.launch_model import LaunchModel
from kopt.pass_manager import Instrumentation, run
from kopt.passes.block_forms import BlockForms
from kopt.passes.launches import grid_of
from kopt.passes.plan_accesses import PlanAccessesPass, choices, move_out
from kopt.passes.retyping import tag_sizes
from kopt.passes.set_blocks import loop_tags, substitute_sizes
from kopt.planning.assumed import assumed_lengths
from kopt.planning.candidates import gpu_candidate
from kopt.planning.changes import Names, OtherChoice, plan_change, size_change, sized, with_options
from kopt.planning.choice import fits
from kopt.planning.cost import costs
from kopt.planning.items import Cost
from kopt.planning.least_cost import Lengths, least_cost
from kopt.planning.orders import reordered
from kopt.planning.splits import best_split
from kopt.plans.plan import Plan
from kopt.targets.chips import TPU_CHIPS, Chip, TpuChip
from kopt.walk import walk

#: Other block sizes that are looked at more closely, at most: each is lowered.
_VERIFIED = 4


@dataclass(frozen=True)
class PlannedLaunch:
    """A launch: its model, the plan that was written, and others that it may have; ``names`` are those of its axes.

    ``searched`` are those of the others that the written one was chosen from.
    """

    model: LaunchModel
    plan: Plan
    others: Sequence[Plan]
    searched: Sequence[Plan]
    names: Names


class PlanRecorder(Instrumentation):
    """Keeps what `plan-accesses` decided, and what it decided between."""

    def __init__(self) -> None:
        self.launches: list[PlannedLaunch] = []
        self._before = ModuleOp([])

    def before(self, pass_: ModulePass, module: ModuleOp) -> None:
        if isinstance(pass_, PlanAccessesPass):
            self._before = cloned(module)

    def after(self, pass_: ModulePass, module: ModuleOp) -> None:
        if isinstance(pass_, PlanAccessesPass):
            pairs = _pairs(self._before, module, pass_.chip in TPU_CHIPS)
            self.launches = [self._launch(pass_, *pair) for pair in pairs]

    def _launch(self, pass_: PlanAccessesPass, before: GridOp | LaunchOp, after: GridOp | LaunchOp) -> PlannedLaunch:
        grid, model, plan = _written(before, after)
        names = axis_names(grid.body)
        searched: list[Plan] = []
        if isinstance(before, LaunchOp):
            pairs, _ = choices(before, grid, GridNames.of(grid), TPU_CHIPS[pass_.chip], pass_.loop_type)
            searched = [each for each, _ in pairs if each != plan]
        others = [*searched, *reordered(model, plan), *with_options(plan)]
        return PlannedLaunch(model, plan, others, searched, names)


def _written(before: GridOp | LaunchOp, after: GridOp | LaunchOp) -> tuple[GridOp, LaunchModel, Plan]:
    """The grid of a launch before `plan-accesses`, its model, and the plan that it has after it."""
    grid, planned = (grid_of(top) if isinstance(top, LaunchOp) else top for top in (before, after))
    move_out(grid)
    found = plan_of(planned)
    assert found is not None  # plan-accesses has planned every launch
    plan = replace(found, loops={tag: replace(one, peel=()) for tag, one in found.loops.items()})
    return grid, launch_model(grid), plan


def _pairs(before: ModuleOp, after: ModuleOp, tpu: bool) -> Iterator[tuple[GridOp | LaunchOp, GridOp | LaunchOp]]:
    """What a plan is written for, before and after that."""
    kind = LaunchOp if tpu else GridOp
    return zip(walk(before, kind), walk(after, kind), strict=True)


def written_plans(module: ModuleOp, passes: Sequence[ModulePass], chip: Chip) -> list[tuple[LaunchModel, Plan]]:
    """The models of the launches of a module, and the plans that a pipeline gives them; it goes no further."""
    modules = planned_modules(module, passes)
    return [] if modules is None else plans_between(*modules, chip)


def planned_modules(module: ModuleOp, passes: Sequence[ModulePass]) -> tuple[ModuleOp, ModuleOp] | None:
    """A module as a pipeline has it before launches are planned, and after; None where it plans none."""
    before = cloned(module)
    count = next((number for number, one in enumerate(passes) if isinstance(one, PlanAccessesPass)), None)
    if count is None:
        return None
    with collect():  # it has been said where the kernel was lowered
        run(before, make_context(), passes[:count])
        after = cloned(before)
        run(after, make_context(), passes[count : count + 1])
    return before, after


def plans_between(before: ModuleOp, after: ModuleOp, chip: Chip) -> list[tuple[LaunchModel, Plan]]:
    """The models of the launches of the first module, and their plans in the second."""
    pairs = _pairs(before, after, isinstance(chip, TpuChip))
    return [(model, plan) for _, model, plan in (_written(*pair) for pair in pairs)]


def recorded(module: ModuleOp, passes: Sequence[ModulePass]) -> list[PlannedLaunch]:
    """The plans that a pipeline makes of the launches of a module, which stays as it is."""
    recorder = PlanRecorder()
    with collect():  # it has been said where the kernel was lowered
        run(cloned(module), make_context(), passes, instrumentation=[recorder])
    return recorder.launches


@dataclass(frozen=True)
class Prediction:
    """What all launches take, one after the other. ``costs`` are those of their plans, ``changes`` what might be else.

    ``seconds`` is None where one of them is not known. ``assumes`` are the elements that items are taken to have, by
    axis, where nothing tells.
    """

    launches: Sequence[PlannedLaunch]
    costs: Sequence[Cost]
    changes: Sequence[OtherChoice]
    seconds: float | None
    assumes: Mapping[str, int]


@dataclass(frozen=True)
class Opens:
    """The blocks of a module whose sizes may be others: tags by block, those that were open or those of all loops.

    ``module`` is the one in which they are open, ``bounds`` the least and largest sizes by tag, ``listed`` whether a
    configuration can give them.
    """

    module: ModuleOp
    groups: Sequence[Sequence[str]]
    sized: frozenset[str]
    bounds: Mapping[str, tuple[int, int]]
    listed: bool = True

    @staticmethod
    def of(module: ModuleOp, imported: ModuleOp, blocks: Sequence[OpenBlock], config: Config) -> Opens:
        """Of a kernel the blocks that its configuration lists; of other IR all loops.

        Blocks that results depend on keep their sizes, and those of one element, which may be the kernel's own.
        """
        listed, now = config.block_sizes or (), tag_sizes(module)
        if blocks and len(blocks) == len(listed):
            sized = {tag for block in blocks if block.sized for tag in block.tags}
            bounds = {tag: _bounds(block, now[tag]) for block in blocks for tag in block.tags if tag in now}
            return Opens(imported, [block.tags for block in blocks], frozenset(sized), bounds)
        tags = loop_tags(module)
        bounds = {tag: (1, 1) for tag in tags if now[tag] == 1}
        groups = [(tag,) for tag in tags]
        return Opens(module, groups, frozenset(tags), bounds, not listed or len(listed) == len(tags))

    def config(self, sizes: Mapping[str, int], now: Mapping[str, int]) -> dict[str, Any]:
        """The configuration with some sizes."""
        if not self.listed:
            return {}
        return {"block_sizes": [{**now, **sizes}[group[0]] if group else 1 for group in self.groups]}


def _bounds(block: OpenBlock, now: int) -> tuple[int, int]:
    return (now, now) if block.observed else (block.least, block.most or sys.maxsize)


@dataclass(frozen=True)
class Predictor:
    """Predicts launches of a module with its block sizes.

    ``lengths`` are those of items, as far as they are known; ``assumed`` those of the others. They are of the loops of
    ``source``, models of the launches as their author wrote them: loops that the pipeline made of those say nothing.
    """

    module: ModuleOp
    passes: Sequence[ModulePass]
    config: Config
    chip: Chip
    source: Sequence[LaunchModel]
    lengths: Lengths
    assumed: Lengths

    def predict(self, launches: Sequence[PlannedLaunch], opens: Opens) -> Prediction:
        """The costs of planned launches, and of what they might do instead."""
        told = [not self._untold(one.model) for one in launches]
        found = [self._costs(number, one) for number, one in enumerate(launches)]
        own = [each[0] for each in found]
        total = _sum(own)
        changes: list[OtherChoice] = []
        if total is not None:
            for one, each in zip(launches, found, strict=True):
                changes += _plan_changes(one, each, self.chip, total) if len(each) > 1 else ()
            sizes = self._size_changes(opens, total)
            changes += self._verified(sizes) if all(told) else sizes
        names, assumes = _all_names(self.module), {}
        for model in () if total is None or all(told) else self.source:
            needed = {tag: self.assumed.get(tag) for tag in self._untold(model) if tag not in self.lengths}
            assumes |= {names.get(tag, tag): length[0] for tag, length in needed.items() if length}
        return Prediction(launches, own, changes, total, assumes)

    def _costs(self, number: int, launch: PlannedLaunch) -> list[Cost]:
        """Of the plan of a launch, and of its others.

        Where that cannot be told, the seconds of the best plan of its source: all else is the pipeline's to say.
        """
        if not self._untold(launch.model):
            return [*costs(launch.model, {}, [launch.plan, *launch.others], self.chip)]
        if number >= len(self.source):
            return [Cost()]
        model, lengths = self.source[number], {**self.assumed, **self.lengths}
        if isinstance(self.chip, TpuChip):
            found = least_cost(model, self.chip, lengths) or Cost()
        else:
            # A split that is asked for is part of the source.
            plan = gpu_candidate(model, whole=self.config.split_k is not None)
            found = best_split(model, {}, plan, self.chip, lengths).cost
        return [Cost(found.seconds, fitted=found.fitted)]

    def _untold(self, model: LaunchModel) -> list[str]:
        """The axes whose extents only a launch tells."""
        return [*assumed_lengths(model)]

    def _size_changes(self, opens: Opens, total: float) -> list[OtherChoice]:
        """The best other block sizes, and the best of which one differs, of each search of `choose-block-sizes`."""
        now = tag_sizes(self.module)
        groups = [[tag for tag in group if tag in now] for group in opens.groups]
        groups = [group for group in groups if group]
        forms = BlockForms(opens.module, self.chip, self.config)
        before = tag_sizes(opens.module)
        given = [before[group[0]] for group in groups]
        names = _all_names(self.module)
        changes = []
        for search in searches(forms.scheduled, groups, given, self.chip, opens.sized, None, not forms.gathers):
            kind = self.config.loop_type
            found = sized(search.models, search.groups, search.sizes, now, self.chip, kind, opens.bounds)
            for sizes in () if found is None else (found.best(single=True), found.best(single=False)):
                if found is not None and sizes is not None:
                    change = size_change(found, sizes, names, total)
                    changes.append(replace(change, config=opens.config(sizes, now)))
        return list({one.text: one for one in changes}.values())

    def _verified(self, changes: Sequence[OtherChoice]) -> list[OtherChoice]:
        """Changes of sizes with what their own plans cost: the best ones, for each is lowered."""
        best = sorted(changes, key=lambda one: one.seconds or 0.0)[:_VERIFIED]
        return [self._with_sizes(one) for one in best]

    def _with_sizes(self, change: OtherChoice) -> OtherChoice:
        now = tag_sizes(copy := cloned(self.module))
        try:
            substitute_sizes(copy, {tag: size for tag, size in change.sizes.items() if now[tag] != size})
            launches = recorded(copy, self.passes)
        except KoptError as error:
            return replace(change, seconds=None, reason=error.message)
        found = [self._costs(number, replace(one, others=())) for number, one in enumerate(launches)]
        return replace(change, seconds=_sum([each[0] for each in found]))


def _all_names(module: ModuleOp) -> dict[str, str]:
    return {tag: name for grid in walk(module, GridOp) for tag, name in axis_names(grid.body).items()}


def _sum(costs: Sequence[Cost]) -> float | None:
    """Seconds of launches one after the other."""
    seconds = [_number(one.seconds) for one in costs]
    return None if not seconds or None in seconds else sum(filter(None, seconds))


def _number(value: Any) -> float | None:
    return None if value is None else float(np.min(value))


def _plan_changes(launch: PlannedLaunch, found: Sequence[Cost], chip: Chip, total: float) -> list[OtherChoice]:
    """The other plans of a launch. Those that no words tell from its own are left out."""
    first, changes = _number(found[0].seconds), {}
    for plan, other in zip(launch.others, found[1:], strict=True):
        text, config = plan_change(launch.plan, plan, launch.names)
        seconds = _number(other.seconds)
        if text and seconds is not None and first is not None:
            searched = any(plan is one for one in launch.searched)
            after, alone = total - first + seconds, ";" not in text
            changes[text] = OtherChoice(text, config, after, _why_not(other, chip), alone, searched)
    return [*changes.values()]


def _why_not(other: Cost, chip: Chip) -> str | None:
    """Why a plan cannot be, None where it can."""
    if not isinstance(chip, TpuChip):
        return None if other.fits is None or bool(np.all(other.fits)) else "registers would spill, or shared memory end"
    if fits(other, chip):
        return None
    if other.vmem_bytes is None or other.live_bytes is None:
        return "nothing tells what it takes of VMEM"
    taken = int(other.vmem_bytes + other.live_bytes)
    return f"it takes {taken / 2**20:.1f} MiB of VMEM; {chip.name} has {chip.vmem_bytes / 2**20:.0f} MiB"
