"""The plan of a launch on a GPU: buffers of pointers, updates by atomics, warps and stages. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from kopt.analysis.persistence import with_persistence
from kopt.analysis.pinned import GridPins
from kopt.analysis.plans import GridNames, buffer_names
from kopt.analysis.tensor_descriptors import takes_descriptor
from kopt.analysis.warps_and_stages import (
    cheapest_num_warps,
    default_max_registers,
    default_num_stages,
    default_num_warps,
)
from kopt.dialects.atomic import CasOp, RmwOp
from kopt.dialects.tile import Access, ForOp, GridOp, tag_of
from kopt.plans.pins import Pin
from kopt.plans.plan import Buffer, LoopSchedule, Plan
from kopt.targets.budget import Budget
from kopt.targets.chips import GpuChip
from kopt.walk import walk


@dataclass(frozen=True)
class LaunchWishes:
    """What a configuration decides of a launch; None where it is open."""

    warps: int | None = None
    stages: int | None = None
    persistent: str | None = None
    per_multiprocessor: int | None = None
    group: int | None = None
    registers: int | None = None


#: Nothing is asked for.
_ANYTHING = LaunchWishes()
#: Nothing is pinned.
_OPEN = GridPins()


def gpu_plan(
    grid: GridOp,
    known: GridNames,
    chip: GpuChip,
    asked: LaunchWishes = _ANYTHING,
    pins: GridPins = _OPEN,
) -> Plan:
    """What is decided of a grid: its programs run in any order; blocks of products go by descriptors, where a chip has
    them, and every other access by pointers.

    Loops run as they are; those of walks say so. What is pinned is decided so, whether it can be or not
    (`kopt.analysis.plan_problems`).
    """
    served = {
        id: (known.operands[op.memory], pins.accesses.get(op) or Pin(usual_kind(op, chip)))
        for op, id in known.accesses.items()
        if isinstance(op, Access)
    }
    keys = list(dict.fromkeys(served.values()))
    words = buffer_names(operand if pin.kind == "pointer" else f"{operand}_{pin.kind}" for operand, pin in keys)
    buffers = {key: _buffer(name, *key) for key, name in zip(keys, words, strict=True)}
    warps = asked.warps or cheapest_num_warps(grid, known, chip, default_num_warps(grid, Budget(chip)))
    numbers = (
        ("warps", warps),
        ("stages", asked.stages or default_num_stages(grid, chip, warps, known)),
        ("group", asked.group),
        ("registers", asked.registers or default_max_registers(grid, chip, warps)),
    )
    options = tuple((word, number) for word, number in numbers if number is not None)
    plan = Plan(
        (*pins.order, *(tag for tag in grid.tags if tag not in pins.order)),
        frozenset(grid.tags),
        tuple(buffers.values()),
        {id: buffers[key].name for id, key in served.items()},
        _schedules(grid, pins),
        options,
    )
    return with_persistence(grid, known, plan, chip, asked.persistent, asked.per_multiprocessor)


def usual_kind(access: Access, chip: GpuChip) -> str:
    """The kind of buffer that Triton code is made of, for an access."""
    if isinstance(access, RmwOp | CasOp):
        return "atomic"
    return "descriptor" if takes_descriptor(access, chip) else "pointer"


def _schedules(grid: GridOp, pins: GridPins) -> dict[str, LoopSchedule]:
    written = {loop: loop.schedule.data for loop in walk(grid, ForOp) if loop.schedule is not None}
    return {tag_of(loop.range): schedule for loop, schedule in {**written, **pins.loops}.items()}


def _buffer(name: str, operand: str, pin: Pin) -> Buffer:
    return Buffer(name, operand, pin.kind, pin.axes or (), pin.depth or 1, options=pin.options)
