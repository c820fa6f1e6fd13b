"""How each loop of a launch is to run on a TPU: a dimension of the grid, or a loop whose blocks arrive in some way.

Pure: schedules are decided before anything is rewritten. The usual ones are the first that apply; what a launch may
have instead are those that it gets where one kind is asked for, or pipelines of the loops that write alone
(`candidates`). Of these cost decides (`kopt.planning.choice`).

| schedule | the blocks that the loop reads | usual when |
|---|---|---|
| ``grid`` | are windows of one more grid dimension | one reduction loop over numbers, cheap ops around it |
| ``resident`` | are parts of windows that hold whole dimensions | they fit half of the chip's VMEM |
| ``emit_pipeline`` | and writes move by a pipeline in the kernel | asked for, or loops write too; blocks are whole |
| ``prefetch`` | are copied by double-buffered DMAs, one visit ahead | large arrays and computed bounds, or otherwise |

Where a loop of schedule ``prefetch`` has computed bounds, so are the blocks that it writes, one visit behind.
A loop that is pinned has the schedule that was asked for, whether it can or not (`kopt.analysis.plan_problems`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue

from kopt.analysis.addressed import addressed
from kopt.analysis.bottom_up import bottom_up, operands_of
from kopt.analysis.carried_in_scratch import is_held
from kopt.analysis.cell_footprint import GridMemory
from kopt.analysis.hoisting import NotHoistable
from kopt.analysis.launch_loops import LaunchLoops
from kopt.analysis.pipelining import NotPipelined, pipelined, plan_pipelined
from kopt.analysis.streaming import is_at_computed, is_computed, is_large, walks, written_schedule
from kopt.analysis.windows import Window
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import BeginOp, EndOp, ForOp, GridOp, IdOp, LoadOp, StoreOp
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.ranges import binding
from kopt.targets.budget import Budget
from kopt.targets.chips import TpuChip
from kopt.walk import walk

Wanted = Literal["auto", "resident", "grid", "fori", "pipeline"]
#: What is to be said at which operation.
Remarks = list[tuple[Operation, str]]
#: No loop is pinned.
_OPEN: Mapping[ForOp, str] = {}


@dataclass
class Decisions:
    """What each loop does, what was asked for, and why a loop does not do that; ``analysis`` knows the indices."""

    analysis: IndexAnalysis
    kinds: dict[ForOp, str] = field(default_factory=dict)
    asked: Wanted = "auto"
    remarks: Remarks = field(default_factory=list)

    def __call__(self, loop: ForOp) -> str | None:
        return self.kinds.get(loop)

    @property
    def hoisted(self) -> tuple[SSAValue, ...]:
        """The ranges of the loops that are to be dimensions of the grid."""
        return tuple(loop.range for loop, kind in self.kinds.items() if kind == "grid")


def candidates(loops: LaunchLoops, chip: TpuChip, wanted: Wanted = "auto") -> Iterator[Decisions]:
    """The schedules that a launch's loops may have together, the usual ones first; one where they are asked for."""
    yield (usual := decide(loops, chip, wanted))
    if wanted != "auto" or not loops.walking:
        return
    reading = {loop: "resident" for loop in loops.all if not _writes([loop])}
    found = [decide(loops, chip, asked) for asked in ("resident", "grid", "fori", "pipeline")]
    seen = [usual.kinds]
    for other in (*found, decide(loops, chip, "pipeline", reading)):
        if other.kinds not in seen:
            seen.append(other.kinds)
            yield Decisions(loops.memory.analysis, other.kinds, other.asked)


def decide(
    loops: LaunchLoops, chip: TpuChip, wanted: Wanted = "auto", pinned: Mapping[ForOp, str] = _OPEN
) -> Decisions:
    """A schedule for every loop of a launch; ``auto`` takes the first that applies. What is ``pinned`` stays."""
    memory, found = loops.memory, Decisions(loops.memory.analysis, dict(pinned), wanted)
    left = [loop for loop in loops.all if loop not in pinned]
    if wanted in ("auto", "grid") and (hoisted := _hoisted(loops, wanted, found)) is not None:
        found.kinds[hoisted] = "grid"
        left.remove(hoisted)
    if not left:
        return found
    kind = _in_kernel(memory, chip, wanted, found)
    too_large = wanted == "auto" and kind == "prefetch"
    if wanted == "pipeline" or too_large and _writes(left) and not _fits_by_blocks(loops, left, chip):
        _pipeline(loops.streamable, left, found)
    for loop in left:
        if found.kinds.get(loop) != "emit_pipeline":
            streamed = wanted == "auto" and _streams_part(loop)
            found.kinds[loop] = "resident" if loop not in loops.walking else "prefetch" if streamed else kind
    return found


def _hoisted(loops: LaunchLoops, wanted: Wanted, found: Decisions) -> ForOp | None:
    """The loop that is to be a dimension of the grid, where one can be and pays."""
    loop = loops.hoistable
    if isinstance(loop, NotHoistable):
        if wanted == "grid" and loops.all:
            found.remarks.append((loops.grid, f"the loop stays inside the kernel: {loop}"))
        return None
    if loop in found.kinds:  # pinned
        return None
    if wanted == "auto" and (loop not in loops.walking or _walks_from_computed(loops, loop)):
        return None
    return loop


def _in_kernel(memory: GridMemory, chip: TpuChip, wanted: Wanted, found: Decisions) -> str:
    """What loops do that stay in the kernel and walk blocks of arrays."""
    if wanted in ("resident", "fori"):
        return "resident" if wanted == "resident" else "prefetch"
    return "resident" if Budget(chip).holds_windows(memory.of_windows(found.hoisted)) else "prefetch"


def _fits_by_blocks(loops: LaunchLoops, left: Sequence[ForOp], chip: TpuChip) -> bool:
    """Whether a grid fits the chip's memory where all of its loops copy their blocks by DMAs."""
    kinds = {loop: "prefetch" if loop in loops.walking else "resident" for loop in left}
    return Budget(chip).holds_windows(loops.memory.scheduled(kinds.get))


def _streams_part(loop: ForOp) -> bool:
    """Whether a loop that visits some part of its arrays, which memory or arguments tell, has large ones.

    Where the grid alone tells it, all cells together visit most of an array, and costs are known.
    """
    if all(isinstance(bound, int) or _is_of_grid(bound) for bound in loop.bounds):
        return False
    accesses = walk(loop, LoadOp, StoreOp)
    walking = [op for op in accesses if any(walks(entry, loop) for entry in op.entries)]
    return is_computed(loop) and any(is_large(op.memory.type) for op in walking)


@bottom_up()
def _is_of_grid(value: SSAValue) -> bool:
    """Whether a number is made of the numbers of blocks and of constants."""
    op = value.owner
    if isinstance(op, BeginOp | EndOp | IdOp):
        return True
    is_number = isinstance(op, Operation) and op.dialect_name() == arith.Arith.name
    return is_number and all(map(_is_of_grid, operands_of(value)))


def _walks_from_computed(loops: LaunchLoops, loop: ForOp) -> bool:
    """Whether a loop walks blocks of a large array at numbers which memory tells, and no window could move so."""
    read = {op.memory for op in walk(loop, LoadOp) if is_large(op.memory.type)}
    loads = [(load, window) for memory in read for window in [loops.memory.windows[memory]] for load in window.loads]
    walking = [pair for pair in loads if any(walks(entry, loop) for entry in pair[0].entries)]
    computed = [window for load, window in walking if is_at_computed(load, window)]
    return any(addressed(window, loops.launch, [*loops.grid.ranges, loop.range]) is None for window in computed)


def _writes(loops: Sequence[ForOp]) -> bool:
    """Whether a loop of the grid's cells writes an array."""
    return any(isinstance(op, StoreOp) for loop in loops for op in walk(loop))


# Pipelines.


def _pipeline(arrays: Sequence[Window], loops: Sequence[ForOp], found: Decisions) -> None:
    """Pipelines the loops that can be pipelines and walk something that can be streamed; remarks on the others."""
    for loop in loops:
        if reason := _unfit(loop):
            found.remarks.append((loop, f"the loop is not pipelined: {reason}"))
        else:
            found.kinds[loop] = "emit_pipeline"
    while idle := _idle(loops, arrays, found):
        found.remarks.append((idle, f"the loop is not pipelined: {_reason(idle, arrays, found)}"))
        del found.kinds[idle]


def why_not_pipelined(launch: LaunchOp, grid: GridOp, loop: ForOp) -> str | None:
    """Why a loop cannot have the schedule ``emit_pipeline`` that it has; None where it can."""
    loops = LaunchLoops(launch, grid)
    kinds = {inner: kind for inner in loops.all if (kind := written_schedule(inner))}
    written, arrays = Decisions(loops.memory.analysis, kinds), loops.streamable
    return _unfit(loop) or (_reason(loop, arrays, written) if _idle([loop], arrays, written) else None)


def _unfit(loop: ForOp) -> str | None:
    """Why a loop's own form keeps it from being pipelined."""
    trips = binding(loop.range).trips
    if trips is not None and trips < 2:
        return "it has one visit only"
    unheld = [value.type for value in loop.inits if not is_held(value.type)]
    return f"it carries a value of type {unheld[0]}" if unheld else None


def _idle(loops: Sequence[ForOp], arrays: Sequence[Window], found: Decisions) -> ForOp | None:
    """The innermost, last loop that is to be pipelined but walks nothing that can be streamed."""
    streamed = [plan for window in arrays if (plan := pipelined(window, found)) is not None]
    served = {walk.loop for plan in streamed for walk in plan.walks}
    return next((loop for loop in reversed(loops) if found(loop) == "emit_pipeline" and loop not in served), None)


def _reason(loop: ForOp, arrays: Sequence[Window], found: Decisions) -> str:
    reasons = []
    for window in arrays:
        if any(loop.is_ancestor(access) for access in (*window.loads, *window.stores)):
            try:
                plan_pipelined(window, found)
            except NotPipelined as reason:
                reasons.append(f"'{window.memory.name_hint}' {reason}")
    return "; ".join(reasons) or "all that it walks is streamed by loops inside it"
