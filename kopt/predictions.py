"""What a lowered kernel is predicted to take, why, and what else it might do: kopt's own model, without a compiler.

The plans are those that the pipeline wrote; the others are those that it chose from, and what differs from them in one
decision. So are the block sizes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import GridOp, OpenBlock
from kopt.dialects.tile.plan_directive import axis_names
from kopt.ir.launch_model import LaunchModel
from kopt.pass_manager import Instrumentation
from kopt.passes.block_forms import BlockForms
from kopt.passes.launches import grid_of
from kopt.passes.plan_accesses import PlanAccessesPass, choices, move_out
from kopt.passes.retyping import tag_sizes
from kopt.passes.set_blocks import loop_tags
from kopt.planning.block_sizes import rooms
from kopt.planning.changes import Change, Names, plan_change, reordered, size_change, sized, with_options
from kopt.planning.choice import fits
from kopt.planning.cost import costs
from kopt.planning.items import Cost
from kopt.planning.least_cost import Lengths
from kopt.plans.plan import Plan
from kopt.targets.chips import TPU_CHIPS, Chip, TpuChip
from kopt.walk import walk

#: A plan costs as much as another where it differs by less.
_SAME = 0.005


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
            tpu = pass_.chip in TPU_CHIPS
            tops = [_tops(one, tpu) for one in (self._before, module)]
            self.launches = [self._launch(pass_, *pair) for pair in zip(*tops, strict=True)]

    def _launch(self, pass_: PlanAccessesPass, before: GridOp | LaunchOp, after: GridOp | LaunchOp) -> PlannedLaunch:
        grid, planned = (grid_of(top) if isinstance(top, LaunchOp) else top for top in (before, after))
        move_out(grid)
        found, names = plan_of(planned), axis_names(grid.body)
        assert found is not None  # plan-accesses has planned every launch
        plan = replace(found, loops={tag: replace(one, peel=()) for tag, one in found.loops.items()})
        model = launch_model(grid)
        searched: list[Plan] = []
        if isinstance(before, LaunchOp):
            pairs, _ = choices(before, grid, GridNames.of(grid), TPU_CHIPS[pass_.chip], pass_.loop_type)
            searched = [each for each, _ in pairs if each != plan]
        others = [*searched, *reordered(plan, model), *with_options(plan)]
        return PlannedLaunch(model, plan, others, searched, names)


def _tops(module: ModuleOp, tpu: bool) -> list[GridOp] | list[LaunchOp]:
    return walk(module, LaunchOp) if tpu else walk(module, GridOp)


@dataclass(frozen=True)
class Prediction:
    """What all launches take, one after the other. ``costs`` are those of their plans, ``changes`` what might be else.

    ``seconds`` is None where one of them is not known.
    """

    launches: Sequence[PlannedLaunch]
    costs: Sequence[Cost]
    changes: Sequence[Change]
    seconds: float | None


def predict(
    launches: Sequence[PlannedLaunch], module: ModuleOp, config: Config, chip: Chip, lengths: Lengths, open: Opens
) -> Prediction:
    """The costs of planned launches, and of what they might do instead.

    Args: ``module`` is the imported one with its block sizes, ``open`` the blocks whose sizes were chosen.
    """
    found = [[*costs(one.model, {}, [one.plan, *one.others], chip, lengths)] for one in launches]
    own = [each[0] for each in found]
    seconds = [_number(one.seconds) for one in own]
    total = None if not seconds or None in seconds else sum(filter(None, seconds))
    changes: list[Change] = []
    if total is not None:
        for one, each in zip(launches, found, strict=True):
            changes += _plan_changes(one, each, chip, total)
        changes += _size_changes(module, config, chip, open, total)
    return Prediction(launches, own, changes, total)


def _number(value: Any) -> float | None:
    return None if value is None else float(np.min(value))


def _plan_changes(launch: PlannedLaunch, found: Sequence[Cost], chip: Chip, total: float) -> list[Change]:
    """The other plans of a launch. Those that no words tell from its own are left out."""
    first, changes = _number(found[0].seconds), {}
    for plan, cost in zip(launch.others, found[1:], strict=True):
        text, config = plan_change(launch.plan, plan, launch.names)
        seconds = _number(cost.seconds)
        if text and seconds is not None and first is not None:
            searched = any(plan is one for one in launch.searched)
            changes[text] = Change(
                text, config, total - first + seconds, _why_not(cost, chip), ";" not in text, searched
            )
    return [*changes.values()]


def _why_not(cost: Cost, chip: Chip) -> str | None:
    """Why a plan cannot be, None where it can."""
    if not isinstance(chip, TpuChip):
        return None if cost.fits is None or bool(np.all(cost.fits)) else "registers would spill, or shared memory end"
    if fits(cost, chip):
        return None
    if cost.vmem_bytes is None or cost.live_bytes is None:
        return "nothing tells what it takes of VMEM"
    taken = int(cost.vmem_bytes + cost.live_bytes)
    return f"it takes {taken / 2**20:.1f} MiB of VMEM; {chip.name} has {chip.vmem_bytes / 2**20:.0f} MiB"


@dataclass(frozen=True)
class Opens:
    """The blocks of a module whose sizes may be others: tags by block, those that were open or those of all loops."""

    groups: Sequence[Sequence[str]]
    sized: frozenset[str]
    listed: bool = True

    @staticmethod
    def of(module: ModuleOp, blocks: Sequence[OpenBlock], config: Config) -> Opens:
        """Of a kernel the blocks that its configuration lists; of other IR all loops."""
        listed = config.block_sizes or ()
        if blocks and len(blocks) == len(listed):
            sized = {tag for block in blocks if block.sized for tag in block.tags}
            return Opens([block.tags for block in blocks], frozenset(sized))
        tags = loop_tags(module)
        return Opens([(tag,) for tag in tags], frozenset(tags), not listed or len(listed) == len(tags))

    def config(self, sizes: Mapping[str, int], now: Mapping[str, int]) -> dict[str, Any]:
        """The configuration with some sizes."""
        if not self.listed:
            return {}
        return {"block_sizes": [{**now, **sizes}[group[0]] if group else 1 for group in self.groups]}


def _size_changes(module: ModuleOp, config: Config, chip: Chip, open: Opens, total: float) -> list[Change]:
    """The best other block sizes, and the best of which one differs, of each search; as `choose-block-sizes` finds."""
    now = tag_sizes(module)
    groups = [[tag for tag in group if tag in now] for group in open.groups]
    groups = [group for group in groups if group]
    forms = BlockForms(module, chip, config)
    names = _all_names(module)
    given = [now[group[0]] for group in groups]
    changes = []
    for search in searches(forms.scheduled, groups, given, chip, open.sized, None, not forms.gathers):
        found = sized(search.models, search.groups, search.sizes, now, chip, rooms(chip), config.loop_type)
        for sizes in () if found is None else (found.best(single=True), found.best(single=False)):
            if found is not None and sizes is not None:
                change = size_change(found, sizes, names, total)
                changes.append(replace(change, config=open.config(sizes, now)))
    return list({one.text: one for one in changes}.values())


def _all_names(module: ModuleOp) -> dict[str, str]:
    return {tag: name for grid in walk(module, GridOp) for tag, name in axis_names(grid.body).items()}
