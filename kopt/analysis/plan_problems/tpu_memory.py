"""Whether the blocks of a launch fit the memory of a TPU, by the least that they take: values are not counted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kopt.analysis.buffer_kinds import PlacedArray, accesses
from kopt.analysis.layouts import LayoutProblem, layout
from kopt.analysis.planned_buffers import addressed_window, planned_buffers
from kopt.analysis.streaming import array_bytes, block_of
from kopt.analysis.windows import windows
from kopt.diagnostics import Problem
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import GridOp, LoadOp, StoreOp
from kopt.ir.ranges import binding
from kopt.targets.budget import Budget
from kopt.targets.chips import TpuChip
from kopt.targets.tiling import window_bytes

#: Kinds whose blocks stand twice in VMEM while loops of the kernel move them.
_MOVED_BY_LOOPS = ("prefetch", "writeback", "emit_pipeline")


def of_memory(launch: LaunchOp, grid: GridOp, chip: TpuChip) -> Iterator[Problem]:
    """The windows of a grid, whose dimensions stand in their order, fit VMEM, and its scalars scalar memory."""
    args = launch.body.block.args
    found = windows(grid, args)
    places = [PlacedArray(launch, grid, number, found[arg]) for number, arg in enumerate(args) if arg in found]
    buffers = planned_buffers(places)
    kinds = [buffers[place.window.memory].kind for place in places]
    places = [replace(place, window=addressed_window(place, buffers) or place.window) for place in places]
    for space, limit, taken in (
        ("VMEM", Budget(chip).vmem, [_vmem(place, kind) for place, kind in zip(places, kinds, strict=True)]),
        ("SMEM", Budget(chip).smem, [_smem(place, kind) for place, kind in zip(places, kinds, strict=True)]),
    ):
        if sum(taken) > limit:
            yield _overflow(space, limit, places, kinds, taken, chip)


def _overflow(
    space: str, limit: int, places: list[PlacedArray], kinds: list[str], taken: list[int], chip: TpuChip
) -> Problem:
    """Memory that is too small, at an access of what takes the most."""
    largest = max(range(len(places)), key=taken.__getitem__)
    parts = [
        f"'{place.name}' takes {_amount(size)} as '{kind}'"
        for place, kind, size in zip(places, kinds, taken, strict=True)
        if size
    ]
    message = f"the buffers of this launch take {_amount(sum(taken))} of {space}: {chip.name} has {_amount(limit)}"
    note = "choose smaller block_sizes, or schedules by which loops bring smaller blocks"
    return Problem(accesses(places[largest].window)[0], message, ("; ".join(parts), note))


def _amount(size: int) -> str:
    return f"{size / 2**20:,.1f} MiB" if size >= 2**20 else f"{size:,} bytes"


def _vmem(place: PlacedArray, kind: str) -> int:
    """The least bytes of VMEM that the blocks of an array take."""
    window = place.window
    if kind in _MOVED_BY_LOOPS:
        ops = [op for op in accesses(window) if isinstance(op, LoadOp | StoreOp)]
        return 2 * sum(window_bytes(block_of(op).shape, window.bits) for op in ops)
    if kind not in ("window", "resident", "scratch"):
        return 0
    try:
        size = window_bytes(layout(window).blocks, window.bits)
    except LayoutProblem:  # refused where layouts are made
        return 0
    moves = any(binding(place.grid.ranges[number]).trips != 1 for number in window.grid_dims)
    return size * (2 if moves and kind != "scratch" else 1)


def _smem(place: PlacedArray, kind: str) -> int:
    return array_bytes(place.window.type) if kind == "smem" else 0
