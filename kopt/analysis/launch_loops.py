"""What schedules of a launch's loops are decided by: what each may be, and what it walks. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kopt.analysis.cell_footprint import GridMemory
from kopt.analysis.hoisting import NotHoistable, plan_hoist
from kopt.analysis.launch_temporaries import is_temporary
from kopt.analysis.streaming import is_computed, walks
from kopt.analysis.windows import Window
from kopt.cached_property import cached_property
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import ForOp, GridOp, LoadOp, StoreOp
from kopt.walk import walk


@dataclass(frozen=True)
class LaunchLoops:
    """The loops of one launch. What is asked of them is remembered: the launch stays as it is meanwhile."""

    launch: LaunchOp
    grid: GridOp

    @cached_property
    def all(self) -> Sequence[ForOp]:
        """The loops, in the order of the program."""
        return walk(self.grid, ForOp)

    @cached_property
    def memory(self) -> GridMemory:
        """What the launch takes of VMEM, with the windows of its arrays."""
        return GridMemory(self.grid)

    @cached_property
    def hoistable(self) -> ForOp | NotHoistable:
        """The loop that may be a dimension of the grid, or why none may."""
        try:
            return plan_hoist(self.grid).loop
        except NotHoistable as reason:
            return reason

    @cached_property
    def walking(self) -> frozenset[ForOp]:
        """The loops that load blocks which move with them, or send such where their bounds are computed."""
        return frozenset(filter(_walks_memory, self.all))

    @cached_property
    def streamable(self) -> Sequence[Window]:
        """The windows of all arrays that are not the cells' own memory."""
        pairs = [(number, self.memory.windows.get(arg)) for number, arg in enumerate(self.launch.body.block.args)]
        known = [(number, window) for number, window in pairs if window is not None]
        return [window for number, window in known if not is_temporary(self.launch, number, window, self.grid)]


def _walks_memory(loop: ForOp) -> bool:
    kinds = (LoadOp, StoreOp) if is_computed(loop) else (LoadOp,)
    return any(walks(entry, loop) for access in walk(loop, *kinds) for entry in access.entries)
