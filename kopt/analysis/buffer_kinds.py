"""Where the blocks of a launch's array may stand while its cells use them, by kinds of `kopt.plans.kinds`.

Pure. An array has the first kind that it may have, unless a plan says another that it may have:

| kind | when | the call's operand |
|---|---|---|
| ``scratch`` | only the cells themselves see the array | none: scratch memory as large as its window |
| ``emit_pipeline`` | loops of that schedule walk it, and nothing else | the array in HBM |
| ``row_dma`` | written, by DMAs of rows or blocks at computed places | the array in HBM |
| ``dma`` | blocks at computed places are read by DMAs | the array in HBM, padded to whole blocks |
| ``prefetch`` | loops of that schedule read whole blocks | the array in HBM, padded to whole blocks |
| ``writeback`` | such loops with computed bounds write whole blocks | the array in HBM, padded to whole blocks |
| ``rows`` | rows are gathered by DMAs | the array in HBM |
| ``smem`` | single 32-bit elements of a small array are loaded, or numbers of rows | the array in scalar memory |
| ``smem_chunk`` | single elements of one row, the same for many cells | a row in scalar memory |
| ``resident`` | anything else that moves with loops of the kernel | a block that holds all that they walk |
| ``window`` | anything else | a block that moves with the grid |

The blocks of a ``window`` may be at loaded numbers, which another array has: see `kopt.analysis.addressed`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind

from kopt.analysis.addressed import addressed
from kopt.analysis.alignment import multiple
from kopt.analysis.lane_scalars import gives_row_numbers
from kopt.analysis.launch_temporaries import is_temporary
from kopt.analysis.layouts import loads_scalars, stands_in_scalar_memory
from kopt.analysis.pipelining import pipelined
from kopt.analysis.storage import stored_element
from kopt.analysis.streaming import (
    Schedules,
    fetches,
    loops_around,
    sends,
    stays_in_hbm,
    streams,
    walks,
    written_schedule,
)
from kopt.analysis.windows import Dim, Window
from kopt.cached_property import cached_property
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import Access, ForOp, GridOp, is_gather
from kopt.dialects.tile.index_list import is_range
from kopt.ir.from_ssa import IndexAnalysis
from kopt.walk import walk


@dataclass(frozen=True)
class PlacedArray:
    """One array of a launch, by its number, and the schedules that loops have or would have.

    What is asked of it is remembered: the launch stays as it is meanwhile.
    """

    launch: LaunchOp
    grid: GridOp
    number: int
    window: Window
    schedules: Schedules = written_schedule

    @property
    def name(self) -> str:
        """The array's name, for messages."""
        return self.window.memory.name_hint or "an array"

    @cached_property
    def usual(self) -> str:
        """The kind that the array has where no plan says another: the first that it may have."""
        return next(kind for kind, may in _MAY.items() if may(self))

    @cached_property
    def writes(self) -> bool:
        """Whether the launch gives a new version of the array."""
        return self.number in self.launch.written

    @cached_property
    def is_own(self) -> bool:
        """Whether only the cells themselves see the array; the host casts the elements of none that it does not see."""
        type = self.window.type
        as_it_is = stored_element(type) == type.element_type
        return as_it_is and is_temporary(self.launch, self.number, self.window, self.grid)

    @property
    def gathers(self) -> bool:
        """Whether rows or elements are read by computed numbers."""
        return any(is_gather(entry) for load in self.window.loads for entry in load.entries)

    @cached_property
    def axes(self) -> tuple[SSAValue, ...]:
        """The ranges of the grid, and of the loops that are to be dimensions of it."""
        loops = (op for op in walk(self.grid, ForOp) if self.schedules(op) == "grid")
        return (*self.grid.ranges, *(loop.range for loop in loops))

    @property
    def addressed(self) -> Window | None:
        """The window whose blocks loaded numbers tell, where the array may have it in place of its own."""
        return addressed(self.window, self.launch, self.axes) if self.usual in MOVED_BY_GRID else None

    @cached_property
    def walked(self) -> bool:
        """Whether loops of the kernel walk blocks of the array."""
        return any(
            self.schedules(loop) != "grid" and any(walks(entry, loop) for entry in access.entries)
            for access in accesses(self.window)
            for loop in loops_around(access)
        )


#: Kinds whose blocks Pallas moves with the grid.
MOVED_BY_GRID = ("window", "resident")


def accesses(window: Window) -> tuple[Access, ...]:
    """The operations that a window serves."""
    return (*window.loads, *window.stores, *window.atomics)


def is_aligned(at: PlacedArray, analysis: IndexAnalysis) -> bool:
    """Whether what loops of the kernel take of an array begins at multiples of its tiles of memory."""
    type = at.window.type
    for access in accesses(at.window):
        loops = [loop for loop in loops_around(access) if at.schedules(loop) != "grid"]
        for dim, entry in enumerate(access.entries):
            if isinstance(entry, SSAValue) and any(walks(entry, loop) for loop in loops):
                start = analysis.begin(entry) if is_range(entry) else analysis.expr(entry)
                if start.divisor % multiple(type, dim):
                    return False
    return True


def _is_chunk_of_scalars(window: Window) -> bool:
    """Whether single elements are loaded of one row of an array, the same for many cells (see ``chunk-scalars``)."""
    if not loads_scalars(window) or len(window.dims) != 2:
        return False
    row, column = window.dims
    return row.kind == "point" and (column.kind == "whole" or _comes_again(column))


def _comes_again(dim: Dim) -> bool:
    """Whether cells take one element after the other, again and again: ``x[%i mod 1024]``."""
    return isinstance(dim.index, AffineBinaryOpExpr) and dim.index.kind == AffineBinaryOpKind.Mod


#: Whether an array may have a kind; the first that it may have is the one that it has.
_MAY: dict[str, Callable[[PlacedArray], bool]] = {
    "scratch": lambda at: at.is_own,
    "emit_pipeline": lambda at: pipelined(at.window, at.schedules) is not None,
    "row_dma": lambda at: at.writes and stays_in_hbm(at.window),
    "dma": lambda at: stays_in_hbm(at.window),
    "prefetch": lambda at: streams(at.window, at.schedules),
    "writeback": lambda at: sends(at.window, at.schedules),
    "rows": lambda at: not at.writes and at.gathers,
    "smem": lambda at: not at.writes and (stands_in_scalar_memory(at.window) or gives_row_numbers(at.window)),
    "smem_chunk": lambda at: not at.writes and _is_chunk_of_scalars(at.window),
    "resident": lambda at: at.walked,
    "window": lambda at: True,
}
#: Kinds that an array may have besides, where a plan says so: DMAs in place of windows.
_MAY_INSTEAD: dict[str, Callable[[PlacedArray], bool]] = {
    "dma": lambda at: not at.writes and fetches(at.window, at.schedules),
}
#: Kinds that leave no other: what accesses are made of by now, nothing else moves.
_FORCED = ("emit_pipeline", "row_dma", "dma", "rows")


def may_have(at: PlacedArray, kind: str) -> bool:
    """Whether an array may have a kind."""
    if kind == at.usual or at.usual in _FORCED:
        return kind == at.usual
    return any(kind in table and table[kind](at) for table in (_MAY, _MAY_INSTEAD))


def buffer_kinds(at: PlacedArray) -> tuple[str, ...]:
    """All kinds that an array may have, the usual one first."""
    return (at.usual, *(kind for kind in _MAY if kind != at.usual and may_have(at, kind)))
