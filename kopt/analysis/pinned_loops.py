"""The schedules that pins leave to loops: their own, else one by which the buffers that are pinned can be. Pure.

| an access of a loop's blocks has | the loop has |
|---|---|
| ``emit_pipeline`` | ``emit_pipeline`` |
| ``prefetch``, ``writeback`` | ``prefetch`` |
| ``resident``, or a ``window`` that is said not to move with the loop | ``resident`` |
| ``window`` | ``grid`` where it can be a dimension; any, unless the window is said to move with the loop |

The first line that applies counts where accesses differ.
"""

from __future__ import annotations

from kopt.analysis.hoisting import NotHoistable, plan_hoist
from kopt.analysis.pinned import GridPins
from kopt.analysis.streaming import loops_around, walks
from kopt.dialects.tile import Access, ForOp, GridOp, tag_of
from kopt.plans.pins import Pin

#: The schedule that each kind of buffer needs of the loops that walk its blocks, strongest first.
_NEEDS = {
    "emit_pipeline": "emit_pipeline",
    "prefetch": "prefetch",
    "writeback": "prefetch",
    "resident": "resident",
    "window": "grid",
}


def pinned_loops(grid: GridOp, pins: GridPins) -> dict[ForOp, str]:
    """The loops of a grid whose schedules are pinned, or follow from accesses that are."""
    found = {loop: schedule.kind for loop, schedule in pins.loops.items()}
    needed: dict[ForOp, set[str]] = {}
    for access, pin in pins.accesses.items():
        assert isinstance(access, Access)
        for loop in loops_around(access):
            if any(walks(entry, loop) for entry in access.entries) and (need := _needed(grid, loop, pin)):
                needed.setdefault(loop, set()).add(need)
    strongest = {loop: next(need for need in _NEEDS.values() if need in asked) for loop, asked in needed.items()}
    return {**strongest, **found}


def _needed(grid: GridOp, loop: ForOp, pin: Pin) -> str | None:
    need = _NEEDS.get(pin.kind)
    if need != "grid":
        return need
    if pin.axes is not None:
        return "grid" if tag_of(loop.range) in pin.axes else "resident"
    return "grid" if _is_hoistable(grid, loop) else None


def _is_hoistable(grid: GridOp, loop: ForOp) -> bool:
    try:
        return plan_hoist(grid).loop is loop
    except NotHoistable:
        return False
