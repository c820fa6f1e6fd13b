"""Whether the arrays of a launch that are in scalar memory fit that of a TPU. VMEM is counted by ``plan-vmem``."""

from __future__ import annotations

from collections.abc import Iterator

from kopt.analysis.buffer_kinds import PlacedArray, accesses
from kopt.analysis.planned_buffers import planned_buffers
from kopt.analysis.streaming import array_bytes
from kopt.analysis.vmem import amount
from kopt.analysis.windows import windows
from kopt.diagnostics import Problem
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import GridOp
from kopt.targets.budget import Budget
from kopt.targets.chips import TpuChip


def of_memory(launch: LaunchOp, grid: GridOp, chip: TpuChip) -> Iterator[Problem]:
    """The scalars of a grid, whose dimensions stand in their order, fit scalar memory."""
    args = launch.body.block.args
    found = windows(grid, args)
    places = [PlacedArray(launch, grid, number, found[arg]) for number, arg in enumerate(args) if arg in found]
    buffers = planned_buffers(places)
    scalars = [place for place in places if buffers[place.window.memory].kind == "smem"]
    taken = sum(map(_size, scalars))
    if taken > (limit := Budget(chip).smem):
        parts = [f"'{place.name}' takes {amount(_size(place))}" for place in scalars]
        message = f"the buffers of this launch take {amount(taken)} of SMEM: {chip.name} has {amount(limit)}"
        note = "choose smaller block_sizes, or schedules by which loops bring smaller blocks"
        yield Problem(accesses(max(scalars, key=_size).window)[0], message, ("; ".join(parts), note), id="plan")


def _size(place: PlacedArray) -> int:
    return array_bytes(place.window.type)
