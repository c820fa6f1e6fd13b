"""Into how many parts the loops of a grid's cells are dealt out on a GPU: what the cost model prefers. Pure."""

from __future__ import annotations

import numpy as np

from kopt.analysis.combiners import NotAReduction
from kopt.analysis.dealt_loops import dealt_loop
from kopt.analysis.launch_models import fixed_model
from kopt.analysis.plans import GridNames
from kopt.dialects.tile import GridOp, tag_of
from kopt.ir.launch_model import LaunchModel
from kopt.ir.trip_counts import cells
from kopt.open_extents import NeedsConstant
from kopt.planning import splits
from kopt.planning.assumed import assumed_lengths
from kopt.planning.candidates import gpu_candidate
from kopt.targets.chips import GpuChip
from kopt.targets.costs import gpu_costs


def most_parts(grid: GridOp) -> float | str:
    """The most parts that a grid's cells may be dealt out in, infinite where any, or why they cannot be."""
    try:
        loop = dealt_loop(grid)
    except NotAReduction as reason:
        return str(reason)
    model = _model(grid)
    return splits.most_parts(model, {**model.sizes}, {}, model.axis(tag_of(loop.range)))


def chosen_split(grid: GridOp, chip: GpuChip) -> int:
    """Into how many parts a grid's cells are best dealt out; 1 where they stay as they are."""
    known = cells(grid)
    if known is not None and known >= gpu_costs(chip).multiprocessors:
        return 1  # nothing is idle: no model has to say so
    model = _model(grid)
    try:
        found = splits.best_split(model, {}, gpu_candidate(model), chip, assumed_lengths(model))
    except NeedsConstant:  # extents that differ from call to call, of which workspaces would be
        return 1
    return int(found.parts)


def chosen_sizes(grid: GridOp, chip: GpuChip) -> dict[str, int]:
    """The best sizes of the blocks of a grid that are chosen for all others (`Axis.sizes`), by their tags.

    Nothing where no size fits, or the model cannot tell what they take.
    """
    model = _model(grid)
    try:
        found = splits.best_split(model, {}, gpu_candidate(model), chip, assumed_lengths(model))
    except NeedsConstant:
        return {}
    if found.cost.seconds is None or not np.all(found.cost.fits):
        return {}
    return {axis.tag: splits.nearest(int(np.max(found.size)), axis.sizes) for axis in model.axes if axis.sizes}


def _model(grid: GridOp) -> LaunchModel:
    return fixed_model(grid, GridNames.of(grid))
