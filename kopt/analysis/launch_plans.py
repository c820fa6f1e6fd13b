"""The plan of a launch on a TPU: schedules of loops, buffers, the order of the grid. Pure: nothing is rewritten."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from xdsl.ir import Operation, SSAValue

from kopt.analysis.address_choice import addressed_windows
from kopt.analysis.buffer_kinds import MOVED_BY_GRID, PlacedArray, accesses, is_aligned
from kopt.analysis.grid_orders import grid_order
from kopt.analysis.launch_buffers import moving_axes, usual_depth, usual_kind
from kopt.analysis.launch_loops import LaunchLoops
from kopt.analysis.loop_schedules import Decisions, Remarks, Wanted, candidates, decide
from kopt.analysis.pinned import GridPins
from kopt.analysis.pinned_loops import pinned_loops
from kopt.analysis.plans import GridNames, buffer_names
from kopt.analysis.windows import Window
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import GridOp, tag_of
from kopt.ir.from_ssa import IndexAnalysis
from kopt.plans.pins import Pin
from kopt.plans.plan import Buffer, LoopSchedule, Plan
from kopt.targets.chips import TpuChip

#: Nothing is pinned.
_OPEN = GridPins()
#: The pin by which an array may be the numbers that tell where blocks are.
_WHOLE = Pin("smem", options=(("whole", ()),))
#: An array, what is pinned of it, and the accesses of which that is pinned.
_Served = tuple[PlacedArray, Pin | None, list[Operation]]


def launch_plans(
    launch: LaunchOp, grid: GridOp, known: GridNames, chip: TpuChip, wanted: Wanted = "auto", pins: GridPins = _OPEN
) -> list[tuple[Plan, Remarks]]:
    """The plans that a launch may have, the usual one first, and what is to be said of each.

    What is pinned is decided so, whether it can be or not (`kopt.analysis.plan_problems`), and the rest is the usual.
    """
    loops = LaunchLoops(launch, grid)
    if pins:
        schedules = [decide(loops, chip, wanted, pinned_loops(grid, pins))]
    else:
        schedules = [*candidates(loops, chip, wanted)]
    windows = loops.memory.unordered
    usual, *others = [(found, _places(launch, grid, windows, found)) for found in schedules]
    kept = [usual, *((found, places) for found, places in others if _are_aligned(places, found.analysis))]
    return [(_plan(grid, known, places, found, pins), found.remarks) for found, places in kept]


def _are_aligned(places: Sequence[PlacedArray], analysis: IndexAnalysis) -> bool:
    """Whether the parts that loops take of blocks on the chip begin where Mosaic lets them."""
    return all(is_aligned(place, analysis) for place in places if place.usual == "resident")


def _plan(grid: GridOp, known: GridNames, places: Sequence[PlacedArray], schedules: Decisions, pins: GridPins) -> Plan:
    """The plan for schedules of the loops: of each array the first kind of buffer that applies, or the pinned one."""
    written = [place.window for place in places if place.writes]
    axes = _axes(grid, written, _moved_by_grid(places, schedules), schedules, pins)
    order = [*pins.order, *(tag for tag in map(tag_of, axes) if tag not in pins.order)]
    served = [(place, pin, ops) for place in places for pin, ops in _served(place, pins)]
    operands = [known.operands[place.window.memory] for place, _, _ in served]
    named = zip(served, buffer_names(operands), operands, strict=True)
    buffers = [_buffer(name, operand, place, pin, order, schedules.asked) for (place, pin, _), name, operand in named]
    if schedules.asked != "fori":
        buffers = _addressed(buffers, served, axes)
    return Plan(
        tuple(order),
        _parallel(grid, order, written),
        tuple(buffers),
        {known.accesses[op]: buffer.name for (_, _, ops), buffer in zip(served, buffers, strict=True) for op in ops},
        {tag_of(loop.range): pins.loops.get(loop, LoopSchedule(kind)) for loop, kind in schedules.kinds.items()},
    )


def _moved_by_grid(places: Sequence[PlacedArray], schedules: Decisions) -> list[Window]:
    """The windows of what is only read, where nothing but the grid moves them."""
    if schedules.hoisted:
        return []
    return [place.window for place in places if not place.writes and place.usual in MOVED_BY_GRID]


def _axes(
    grid: GridOp, written: Sequence[Window], read: Sequence[Window], schedules: Decisions, pins: GridPins
) -> list[SSAValue]:
    """The axes of the grid, outermost first: those that are pinned, then what is left."""
    usual = [*(grid.ranges[number] for number in grid_order(grid, written, read)), *schedules.hoisted]
    pinned = [axis for tag in pins.order for axis in usual if tag_of(axis) == tag]
    return [*pinned, *(axis for axis in usual if axis not in pinned)]


def _served(place: PlacedArray, pins: GridPins) -> list[tuple[Pin | None, list[Operation]]]:
    """The buffers of an array: one for each thing that is pinned of its accesses; the others share the first."""
    ops = accesses(place.window)
    asked = list(dict.fromkeys(pins.accesses[op] for op in ops if op in pins.accesses)) or [None]
    return [(pin, [op for op in ops if pins.accesses.get(op, asked[0]) == pin]) for pin in asked]


def _buffer(
    name: str, operand: str, place: PlacedArray, pin: Pin | None, order: Sequence[str], wanted: Wanted
) -> Buffer:
    """A buffer of an array as it is pinned, or else of its usual kind."""
    if pin is None:
        kind = usual_kind(place, wanted)
        axes = moving_axes(place, kind, order)
        return Buffer(name, operand, kind, axes, usual_depth(kind, axes))
    axes = moving_axes(place, pin.kind, order) if pin.axes is None else pin.axes
    return Buffer(name, operand, pin.kind, axes, pin.depth or usual_depth(pin.kind, axes), options=pin.options)


def _addressed(buffers: Sequence[Buffer], served: Sequence[_Served], axes: Sequence[SSAValue]) -> list[Buffer]:
    """The buffers where windows at loaded numbers replace others, and the arrays of those numbers are there first.

    Of an array that is pinned as ``window``, with the same axes if any, it is open whether numbers tell its blocks.
    """
    pins = {place.window.memory: pin for place, pin, _ in served if pin is not None}
    movable = [place for place, pin, _ in served if pin is None or pin == Pin("window", pin.axes, pin.depth)]
    found = addressed_windows(movable, axes, {memory for memory, pin in pins.items() if pin != _WHOLE})
    moves = {
        memory: moving_axes(place, "window", [*map(tag_of, axes)], found[memory])
        for place in movable
        if (memory := place.window.memory) in found
    }
    kept = {memory for memory in found if memory not in pins or pins[memory].axes in (None, moves[memory])}
    given = {array for memory in kept for array in found[memory].addresses}
    names = {place.window.memory: buffer.name for (place, _, _), buffer in zip(served, buffers, strict=True)}
    made = list(buffers)
    for number, ((place, pin, _), buffer) in enumerate(zip(served, buffers, strict=True)):
        if (memory := place.window.memory) in kept:
            depth = pin.depth if pin is not None and pin.depth else usual_depth("window", moves[memory])
            address = names[found[memory].addresses[-1]]
            made[number] = replace(buffer, kind="window", axes=moves[memory], depth=depth, address=address)
        elif memory in given:
            made[number] = replace(buffer, kind="smem", axes=(), depth=1, options=_WHOLE.options)
    return made


def _places(
    launch: LaunchOp, grid: GridOp, windows: Mapping[SSAValue, Window], schedules: Decisions
) -> list[PlacedArray]:
    args = launch.body.block.args
    return [PlacedArray(launch, grid, n, windows[arg], schedules) for n, arg in enumerate(args) if arg in windows]


def _parallel(grid: GridOp, order: Sequence[str], written: Sequence[Window]) -> frozenset[str]:
    """The axes whose cells may run in any order: those that every output's block moves with, one to one.

    Cores share the outermost ones, so what is inside of an axis that runs in order does too.
    """
    number_of = {tag: number for number, tag in enumerate(grid.tags)}
    in_order = {*grid.reduction_dims, *grid.ordered_dims}
    found: list[str] = []
    for tag in order:
        number = number_of.get(tag)
        if number is None or number in in_order or not all(window.moves_with(number) for window in written):
            break
        found.append(tag)
    return frozenset(found)
