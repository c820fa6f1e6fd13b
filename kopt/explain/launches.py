"""The plan of each launch as data to draw: arrays and buffers, costs, a timeline, memory, a roofline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from kopt.analysis.launch_models import fixed_model
from kopt.analysis.plans import GridNames, plan_of
from kopt.analysis.revisit_order import grid_of
from kopt.analysis.spills import spills
from kopt.analysis.vmem import vmem_buffers
from kopt.dialects.pallas import CallOp
from kopt.dialects.tile import GridOp
from kopt.dialects.tile.plan_directive import axis_names
from kopt.explain.places import SourcePlaces
from kopt.ir.launch_model import LaunchModel, ModelAccess
from kopt.planning.blocks import Blocks
from kopt.planning.cost import cost
from kopt.planning.gpu_cost import GpuLaunch
from kopt.planning.items import Cost
from kopt.planning.timeline import Timeline, timelines
from kopt.planning.trips import Sizes, UnknownError, all_trips, value
from kopt.plans.plan import Buffer, Plan
from kopt.plans.text import buffer_text, plan_text, schedule_text
from kopt.targets.chips import Chip, GpuChip, TpuChip
from kopt.targets.costs import GPU_COSTS, tpu_costs
from kopt.walk import walk


def planned_launches(module: ModuleOp, chip: Chip, places: SourcePlaces) -> list[dict[str, Any]]:
    """The launches of a module that have plans."""
    found = []
    for grid in walk(module, GridOp):
        known = GridNames.of(grid)
        if (plan := plan_of(grid)) is not None:
            found.append(_launch(fixed_model(grid, known), plan, axis_names(grid.body), chip, known, places))
    return found


def _launch(
    model: LaunchModel, plan: Plan, names: Mapping[str, str], chip: Chip, known: GridNames, places: SourcePlaces
) -> dict[str, Any]:
    sizes: Sizes = {**model.sizes}
    trips = all_trips(model, sizes, {})
    sources = {id: op for op, id in known.accesses.items()}
    found = cost(model, {}, plan, chip)
    return {
        "name": model.name,
        "order": list(plan.order),
        "parallel": sorted(plan.parallel),
        "axes": [
            {
                "tag": axis.tag,
                "name": names.get(axis.tag, axis.tag),
                "size": _known(lambda axis=axis: value(axis.size, sizes)),
                "extent": str(axis.extent),
                "trips": _known(lambda axis=axis: trips[axis.tag].mean),
                "form": axis.form,
                "schedule": schedule_text(plan.loops[axis.tag]) if axis.tag in plan.loops else None,
            }
            for axis in model.axes
        ],
        "operands": [
            {
                "name": operand.name,
                "shape": [str(extent) for extent in operand.shape],
                "dtype": operand.dtype,
                "read": operand.read,
                "written": operand.written,
                "bytes": _known(lambda operand=operand: value(operand.elements, sizes) * operand.bits // 8),
            }
            for operand in model.operands
        ],
        "buffers": [_buffer(buffer, model, plan) for buffer in plan.buffers],
        "accesses": [_access(one, plan, places, sources.get(one.id)) for one in model.accesses],
        "plan": plan_text(plan),
        "cost": {name: _plain(one) for name, one in asdict(found).items()},
        "timelines": [_timeline(one) for one in timelines(model, plan, chip)] if isinstance(chip, TpuChip) else [],
        "roofline": _roofline(model, found, chip),
        "memory": _shared(model, plan, chip) if isinstance(chip, GpuChip) else None,
    }


def _buffer(buffer: Buffer, model: LaunchModel, plan: Plan) -> dict[str, Any]:
    sizes: Sizes = {**model.sizes}
    blocks = Blocks(model, plan, sizes, all_trips(model, sizes, {}))
    served = blocks.accesses(buffer)
    return {
        "name": buffer.name,
        "operand": buffer.operand,
        "kind": buffer.kind,
        "axes": list(buffer.axes),
        "depth": buffer.depth,
        "text": buffer_text(buffer),
        "reads": blocks.reads(buffer),
        "writes": blocks.writes(buffer),
        "links": [one for one in (buffer.source, buffer.target, buffer.address) if one is not None],
        "block": _known(lambda: [int(np.min(n)) for n in blocks.shape(buffer)]) if served else None,
        "bytes": _known(lambda: blocks.size(buffer)) if served else None,
    }


def _access(access: ModelAccess, plan: Plan, places: SourcePlaces, op: Operation | None) -> dict[str, Any]:
    return {
        "id": access.id,
        "operand": access.operand,
        "mode": access.mode,
        "buffer": plan.via.get(access.id),
        "origin": places.origin([] if op is None else [op]),
    }


def _known(asked: Any) -> Any:
    """What is asked for as plain data; None where only a launch tells it."""
    try:
        return _plain(asked())
    except UnknownError:
        return None


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | str | list):
        return value
    found = float(np.min(value))
    return int(found) if found == int(found) and abs(found) < 1 << 53 else found


def _timeline(found: Timeline) -> dict[str, Any]:
    return {**asdict(found), "axes": [list(axis) for axis in found.axes]}


# The roofline.


def _roofline(model: LaunchModel, found: Cost, chip: Chip) -> dict[str, Any]:
    """What a launch multiplies, moves and takes, and the chip's peaks; products by their dtype's rate."""
    costs = tpu_costs(chip) if isinstance(chip, TpuChip) else (chip.costs or GPU_COSTS[chip.name])
    dtypes = [work.dtype for work in model.work if work.unit == "product"]
    dtype = max(dtypes, key=dtypes.count, default=None)
    if isinstance(chip, TpuChip):
        tpu = tpu_costs(chip)
        peak = tpu.flops_per_cycle * tpu.clock_hz * (found.cores or 1) / tpu.passes.get(dtype or "bf16", 1.0)
        bandwidth = tpu.bytes_per_second
    else:
        gpu = chip.costs or GPU_COSTS[chip.name]
        peak, bandwidth = gpu.multiplied(dtype or "bf16"), chip.hbm_bytes_per_second
    moved = None if found.bytes_in is None else _plain(found.bytes_in + found.bytes_out)
    return {
        "dtype": dtype,
        "peak": peak,
        "bandwidth": bandwidth,
        "flops": _known(lambda: _flops(model)),
        "bytes": moved,
        "seconds": _plain(found.seconds),
        "fitted": costs.fitted,
    }


def _flops(model: LaunchModel) -> Any:
    """Operations of products, twice the lanes that are multiplied; where there are none, of the vector unit's lanes."""
    sizes: Sizes = {**model.sizes}
    trips = all_trips(model, sizes, {})
    products = [work for work in model.work if work.unit == "product"]
    counted = products or [work for work in model.work if work.unit not in ("carry", "layout", "relayout")]
    times = [prod(trips[tag].mean for tag in work.path) * work.count for work in counted]
    lanes = [prod(value(size, sizes) for _, size in work.dims) for work in counted]
    return sum((n * each for n, each in zip(times, lanes, strict=True)), 0) * (2 if products else 1)


# Memory.


def _shared(model: LaunchModel, plan: Plan, chip: GpuChip) -> dict[str, Any]:
    """Shared memory and registers of a program, and the chip's limits."""
    launch = GpuLaunch(model, {}, plan, chip, {})
    program = launch.program
    return {
        "kind": "shared",
        "limit": chip.shared_bytes,
        "shared_bytes": _known(lambda: program.shared_bytes),
        "registers": _known(lambda: program.registers),
        "warps": _known(lambda: program.warps),
        "stages": _known(lambda: program.stages),
        "occupancy": _known(launch.occupancy),
    }


def vmem_of(module: ModuleOp, chip: Chip) -> list[dict[str, Any]]:
    """What each call of a lowered module takes of VMEM, buffer by buffer, and what waits beyond registers over time."""
    if not isinstance(chip, TpuChip):
        return []
    return [_vmem(call, chip) for call in walk(module, CallOp)]


def _vmem(call: CallOp, chip: TpuChip) -> dict[str, Any]:
    asked = call.vmem_limit
    return {
        "kind": "vmem",
        "name": call.sym_name.data,
        "limit": chip.scoped_vmem_bytes if asked is None else asked.value.data,
        "physical": chip.vmem_bytes,
        "buffers": [
            {"name": one.name, "use": one.use, "count": one.count, "bytes": one.total, "text": str(one)}
            for one in vmem_buffers(call)
        ],
        "spills": [list(pair) for pair in spills(grid_of(call), chip)],
    }
