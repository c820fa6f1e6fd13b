"""The launches of one import, with block sizes open: which points there are, and what each takes by the cost model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from kopt.analysis.block_sizes import block_space, used_roles
from kopt.analysis.entry import entry_function
from kopt.analysis.launch_models import launch_models
from kopt.analysis.persistence import may_wait
from kopt.cached_property import cached_property
from kopt.clone import cloned
from kopt.config import Config
from kopt.diagnostics import collect
from kopt.dialects.tile import open_blocks
from kopt.ir.launch_model import LaunchModel
from kopt.passes.applying import apply_pass
from kopt.passes.block_forms import BlockForms
from kopt.passes.gpu.block_numbers import GROUP
from kopt.passes.pipelines import scheduling
from kopt.passes.retyping import tag_sizes
from kopt.planning.assumed import assumed_lengths
from kopt.planning.block_sizes import fitting
from kopt.planning.candidates import gpu_candidate
from kopt.planning.cost import costing
from kopt.planning.splits import best_split
from kopt.plans.plan import Options, Plan
from kopt.targets.chips import Chip, GpuChip, TpuChip
from kopt.targets.costs import gpu_costs
from kopt.tuning.knobs import Knob, Points, Space, count
from kopt.tuning.schedules import plans

#: Warps and stages that are looked at, rows of cells that run side by side, and whether programs walk the cells.
_WARPS, _STAGES, _GROUPS, _PERSISTENT = (1, 2, 4, 8, 16), (1, 2, 3, 4, 5), (1, GROUP, 32), ("off", "interleaved")
#: The knobs of a GPU's launch whose numbers are options of plans.
_OPTIONS = {"num_warps": "warps", "num_stages": "stages", "group": "group"}
#: All knobs of a GPU's launch.
_LAUNCH = (*_OPTIONS, "persistent")


@dataclass(frozen=True)
class Ranked:
    """What points take: ``seconds`` by the model, ``counted`` what they are ranked by, infinite where they do not fit.

    ``memory`` are bytes of VMEM or shared memory; ``possible`` says which points the chip has at all.
    """

    seconds: np.ndarray
    counted: np.ndarray
    memory: np.ndarray
    possible: np.ndarray


class Launches:
    """The launches of an imported module whose blocks are open.

    ``blocks`` are the tags and provisional sizes of the entries of ``block_sizes``. ``config`` says how the module is
    rewritten before (``split_k``), and which loops may run how.
    """

    def __init__(
        self, module: ModuleOp, entry: str, blocks: Sequence[tuple[Sequence[str], int]], chip: Chip, config: Config
    ):
        self.chip, self._blocks = chip, blocks
        self._whole = config.split_k is not None  # what is asked for is done before
        split = cloned(module)
        with collect():
            for pass_ in scheduling(config):
                apply_pass(pass_, split)
        forms = BlockForms(split, chip, replace(config, block_sizes=None))
        self._scheduled, self._divides = forms.scheduled, not forms.gathers
        opened = open_blocks(entry_function(split, entry))
        found = tag_sizes(self._scheduled)
        self._open = [replace(block, tags=tuple(tag for tag in block.tags if tag in found)) for block in opened]
        self._open = [block for block in self._open if block.tags]
        self._sizes = {tag: found[tag] for block in self._open for tag in block.tags}

    @cached_property
    def models(self) -> list[LaunchModel]:
        """The models of all launches."""
        return launch_models(self._scheduled, list(self._sizes))

    @cached_property
    def _space(self) -> Any:
        groups = [block.tags for block in self._open]
        sized = {tag for block in self._open if block.sized for tag in block.tags}
        roles = used_roles(self._scheduled, groups, [self._sizes[group[0]] for group in groups], sized)
        return block_space(self._scheduled, groups, roles, self.chip, self._divides)

    @cached_property
    def sizes(self) -> dict[int, tuple[int, ...]]:
        """The sizes that each entry of ``block_sizes`` may have, where there are several."""
        if not self._open:
            return {}
        choices = self._space.choices()
        found = {}
        for number, (tags, _) in enumerate(self._blocks):
            block = next((block for block in self._open if not {*tags}.isdisjoint(block.tags)), None)
            if block is not None and not block.pinned:
                found[number] = tuple(sorted({block.bounded(size) for size in choices[block.tags[0]]}))
        return found

    def space(self, knobs: Sequence[Knob] = ()) -> Space:
        """The space of block sizes, the knobs of a GPU's launch, and further ones."""
        own = [Knob(f"block_sizes[{number}]", sizes) for number, sizes in self.sizes.items()]
        return Space((*own, *self._gpu_knobs(), *knobs))

    def _gpu_knobs(self) -> list[Knob]:
        if isinstance(self.chip, TpuChip) or len(self.models) != 1:
            return []
        (model,) = self.models
        loops = {axis.tag for axis in model.axes if axis.form == "loop"}
        fed = any(work.unit == "product" and loops.intersection(work.path) for work in model.work)
        knobs = [Knob("num_warps", _WARPS), *([Knob("num_stages", _STAGES)] if fed else [])]
        if fed and _crosses(model):
            knobs.append(Knob("group", _GROUPS, GROUP))
        return knobs if may_wait(self._scheduled) else [*knobs, Knob("persistent", _PERSISTENT, "off")]

    def point_sizes(self, space: Space, points: Points) -> dict[str, np.ndarray]:
        """The sizes of all tags at points."""
        n = count(points)
        sizes = {tag: np.full(n, size) for tag, size in self._sizes.items()}
        for number in self.sizes:
            column = space.values(points, f"block_sizes[{number}]")
            sizes |= {tag: column for tag in self._blocks[number][0] if tag in sizes}
        return sizes

    def sizes_of(self, block_sizes: Sequence[int]) -> dict[str, int]:
        """The sizes of all tags under a configuration's ``block_sizes``."""
        pairs = zip(self._blocks, block_sizes, strict=False)
        given = {tag: size for (tags, _), size in pairs for tag in tags if tag in self._sizes}
        return {**self._sizes, **given}

    def given_sizes(self, default: Sequence[int] | None) -> list[int]:
        """The entries of ``block_sizes`` where no point says others: those of the default."""
        own = [size for _, size in self._blocks]
        return [*default] if default is not None and len(default) == len(own) else own

    def rank(self, space: Space, points: Points) -> Ranked:
        """What points take, each by the cheapest of its plans that fit."""
        sizes, n = self.point_sizes(space, points), count(points)
        possible = self._space.possible(sizes) if self._open else np.ones(n, bool)
        total = Ranked(np.zeros(n), np.where(possible, 0.0, np.inf), np.zeros(n), possible)
        names = [knob.name for knob in space.knobs if knob.name in _LAUNCH]
        columns = {name: space.values(points, name) for name in names}
        for values in product(*({*columns[name].tolist()} for name in names)):
            chosen = np.ones(n, bool)
            for name, value in zip(names, values, strict=True):
                chosen &= columns[name] == value
            options = launch_options(dict(zip(names, values, strict=True)), self.chip)
            part = {tag: column[chosen] for tag, column in sizes.items()}
            for model in self.models if chosen.any() else ():
                self._add(total, chosen, model, part, options)
        return total

    def _add(
        self, total: Ranked, chosen: np.ndarray, model: LaunchModel, sizes: Mapping[str, Any], options: Any
    ) -> None:
        """Adds what a launch takes at the points that are ``chosen``."""
        own = self.plans(model)
        if options:
            own = [replace(plan, options=(*plan.options, *options)) for plan in own]
        seconds, counted, memory = least(model, sizes, own, self.chip, int(chosen.sum()))
        total.seconds[chosen] += seconds
        total.counted[chosen] += counted
        total.memory[chosen] = np.maximum(total.memory[chosen], memory)

    def plans(self, model: LaunchModel) -> list[Plan]:
        """The plans of a launch that the model compares."""
        if isinstance(self.chip, TpuChip):
            return list(plans(model))
        return [gpu_candidate(model, self._whole)]


def _crosses(model: LaunchModel) -> bool:
    """Whether cells beside each other share some blocks, and cells below each other share others."""
    axes = [axis.tag for axis in model.axes if axis.form == "grid"][-2:]
    moves = [{*axes} & {*access.moves} for access in model.accesses if access.mode == "load"]
    return len(axes) == 2 and all({axis} in moves for axis in axes)


def launch_options(chosen: Mapping[str, Any], chip: Chip) -> Options:
    """The options of a plan that the keys of a configuration are; those without a value are left out."""
    options = [(word, chosen[key]) for key, word in _OPTIONS.items() if chosen.get(key) is not None]
    if isinstance(chip, GpuChip) and chosen.get("persistent") not in (None, "off"):
        threads = chip.warp_size * (chosen.get("num_warps") or 4)
        options.append(("programs", gpu_costs(chip).persistent_programs(threads, chosen.get("sm_programs"))))
    return tuple(options)


def least(
    model: LaunchModel, sizes: Mapping[str, Any], own: Sequence[Plan], chip: Chip, n: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of each candidate the seconds of its cheapest plan that fits, what these count, and the bytes that it takes."""
    seconds, counted, memory = np.full(n, np.inf), np.full(n, np.inf), np.full(n, np.inf)
    lengths = assumed_lengths(model)
    cost = costing(model, {**sizes}, chip, lengths)
    for plan in own:
        found = best_split(model, {**sizes}, plan, chip, lengths).cost if isinstance(chip, GpuChip) else cost(plan)
        count, taken = fitting(found, chip)
        plain = np.inf if found.seconds is None else found.seconds
        memory = np.minimum(memory, taken)
        better = count < counted
        seconds, counted = np.where(better, plain, seconds), np.where(better, count, counted)
    return seconds, counted, memory
