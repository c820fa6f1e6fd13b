"""In which orders the cells of a launch may run: which axes are parallel, and which pairs must not be exchanged.

| found | what follows |
|---|---|
| atomic updates whose order shows (`kopt.analysis.atomic_targets`), copies between ranks | all axes stay in order |
| cells that store other values into the same elements (`kopt.analysis.output_dependence`) | those axes stay in order |
| axes that the grid marks ``reduce`` or ``ordered`` | they stay in order |
| a loop that may be an axis of the grid, and carries values | it stays inside of the others |
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from kopt.analysis.atomic_targets import targets
from kopt.analysis.launch_models.launch import Launch
from kopt.analysis.output_dependence import overwriting
from kopt.ir.launch_model import Axis, Order


def orders(launch: Launch, axes: Sequence[Axis]) -> tuple[Order, ...]:
    """The source's order; then the one with a loop as the innermost axis."""
    tags = tuple(axis.tag for axis in axes if axis.form == "grid")
    reasons = _ordered(launch, tags)
    fixed = tuple(
        (first, second, reasons[second]) for first, second in combinations([t for t in tags if t in reasons], 2)
    )
    own = Order(tags, frozenset(tag for tag in tags if tag not in reasons), fixed)
    loops = [axis.tag for axis in axes if axis.form == "loop" and "grid" in axis.may]
    return (own, *(_with_loop(own, loop) for loop in loops))


def _with_loop(order: Order, loop: str) -> Order:
    kept = tuple((tag, loop, "the loop carries values from visit to visit") for tag in order.axes)
    return Order((*order.axes, loop), order.parallel, (*order.fixed, *kept))


def _ordered(launch: Launch, tags: Sequence[str]) -> dict[str, str]:
    """The axes whose cells run in order, and why."""
    grid = launch.grid
    turns = next((found.reason for target in targets(grid) if (found := target.turns) is not None), None)
    if any(place.op.name.startswith("symm.") for place in launch.places):
        turns = "its cells copy between ranks"
    if turns is not None:
        return dict.fromkeys(tags, turns)
    found = {tags[dim]: "its cells combine" for dim in grid.reduction_dims}
    found |= {tags[dim]: "its cells run in order" for dim in grid.ordered_dims}
    for dims in overwriting(grid).values():
        found |= {tags[dim]: "every cell stores into the same elements, and the last one's stay" for dim in dims}
    return {tag: found[tag] for tag in tags if tag in found}
