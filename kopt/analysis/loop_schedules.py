"""How each loop of a launch is to run on a TPU: a dimension of the grid, or a loop whose blocks arrive in some way.

Pure: schedules are decided before anything is rewritten. The usual ones are the first that apply; what a launch may
have instead are those that it gets where one kind is asked for (`candidates`), of which cost decides
(`kopt.planning.choice`).

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

from xdsl.ir import Operation, SSAValue

from kopt.analysis.addressed import addressed
from kopt.analysis.footprint import GridMemory
from kopt.analysis.held import is_held
from kopt.analysis.hoisting import NotHoistable, plan_hoist
from kopt.analysis.launch_temporaries import is_temporary
from kopt.analysis.pipelining import NotPipelined, pipelined, plan_pipelined
from kopt.analysis.streaming import is_at_computed, is_computed, is_large, walks, written_schedule
from kopt.analysis.windows import Window, windows
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import ForOp, GridOp, LoadOp, StoreOp
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


def candidates(launch: LaunchOp, grid: GridOp, chip: TpuChip, wanted: Wanted = "auto") -> Iterator[Decisions]:
    """The schedules that a launch's loops may have together, the usual ones first; one where they are asked for."""
    memory = GridMemory(grid)
    yield (usual := decide(launch, memory, chip, wanted))
    if wanted != "auto" or not any(map(_walks_memory, usual.kinds)):
        return
    seen = [usual.kinds]
    for asked in ("resident", "grid", "fori", "pipeline"):
        if (kinds := decide(launch, memory, chip, asked).kinds) not in seen:
            seen.append(kinds)
            yield Decisions(memory.analysis, kinds, asked)


def decide(
    launch: LaunchOp,
    memory: GridMemory,
    chip: TpuChip,
    wanted: Wanted = "auto",
    pinned: Mapping[ForOp, str] = _OPEN,
) -> Decisions:
    """A schedule for every loop of a launch; ``auto`` takes the first that applies. What is ``pinned`` stays."""
    grid, found = memory.grid, Decisions(memory.analysis, dict(pinned), wanted)
    loops = [loop for loop in walk(grid, ForOp) if loop not in pinned]
    if wanted in ("auto", "grid") and (hoisted := _hoisted(launch, grid, wanted, found)) is not None:
        found.kinds[hoisted] = "grid"
        loops.remove(hoisted)
    if not loops:
        return found
    kind = _in_kernel(memory, chip, wanted, found)
    too_large = wanted == "auto" and kind == "prefetch"
    if wanted == "pipeline" or too_large and _writes(loops) and not _fits_by_blocks(memory, loops, chip):
        _pipeline(launch, grid, loops, found)
    for loop in loops:
        if found.kinds.get(loop) != "emit_pipeline":
            streamed = wanted == "auto" and _streams_part(loop)
            found.kinds[loop] = "resident" if not _walks_memory(loop) else "prefetch" if streamed else kind
    return found


def _hoisted(launch: LaunchOp, grid: GridOp, wanted: Wanted, found: Decisions) -> ForOp | None:
    """The loop that is to be a dimension of the grid, where one can be and pays."""
    try:
        loop = plan_hoist(grid).loop
    except NotHoistable as reason:
        if wanted == "grid" and walk(grid, ForOp):
            found.remarks.append((grid, f"the loop stays inside the kernel: {reason}"))
        return None
    if loop in found.kinds:  # pinned
        return None
    if wanted == "auto" and (not _walks_memory(loop) or _walks_from_computed(launch, grid, loop, found)):
        return None
    return loop


def _in_kernel(memory: GridMemory, chip: TpuChip, wanted: Wanted, found: Decisions) -> str:
    """What loops do that stay in the kernel and walk blocks of arrays."""
    if wanted in ("resident", "fori"):
        return "resident" if wanted == "resident" else "prefetch"
    return "resident" if Budget(chip).holds_windows(memory.of_windows(found.hoisted)) else "prefetch"


def _fits_by_blocks(memory: GridMemory, loops: Sequence[ForOp], chip: TpuChip) -> bool:
    """Whether a grid fits the chip's memory where all of its loops copy their blocks by DMAs."""
    kinds = {loop: "prefetch" if _walks_memory(loop) else "resident" for loop in loops}
    return Budget(chip).holds_windows(memory.scheduled(kinds.get))


def _streams_part(loop: ForOp) -> bool:
    """Whether a loop that visits some part of its arrays, known when it runs, reads or writes large ones."""
    accesses = walk(loop, LoadOp, StoreOp)
    walking = [op for op in accesses if any(walks(entry, loop) for entry in op.entries)]
    return is_computed(loop) and any(is_large(op.memory.type) for op in walking)


def _walks_from_computed(launch: LaunchOp, grid: GridOp, loop: ForOp, found: Decisions) -> bool:
    """Whether a loop walks blocks of a large array at numbers which memory tells, and no window could move so."""
    read = windows(grid, {op.memory for op in walk(loop, LoadOp)}, found.analysis)
    loads = [(load, window) for window in read.values() if is_large(window.type) for load in window.loads]
    walking = [pair for pair in loads if any(walks(entry, loop) for entry in pair[0].entries)]
    computed = [window for load, window in walking if is_at_computed(load, window)]
    return any(addressed(window, launch, [*grid.ranges, loop.range]) is None for window in computed)


def _writes(loops: Sequence[ForOp]) -> bool:
    """Whether a loop of the grid's cells writes an array."""
    return any(isinstance(op, StoreOp) for loop in loops for op in walk(loop))


def _walks_memory(loop: ForOp) -> bool:
    """Whether the loop loads blocks that move with it, or sends such where its bounds are computed."""
    kinds = LoadOp | StoreOp if is_computed(loop) else LoadOp
    accesses = [op for op in walk(loop) if isinstance(op, kinds)]
    return any(walks(entry, loop) for access in accesses for entry in access.entries)


# Pipelines.


def _pipeline(launch: LaunchOp, grid: GridOp, loops: Sequence[ForOp], found: Decisions) -> None:
    """Pipelines the loops that can be pipelines and walk something that can be streamed; remarks on the others."""
    for loop in loops:
        if reason := _unfit(loop):
            found.remarks.append((loop, f"the loop is not pipelined: {reason}"))
        else:
            found.kinds[loop] = "emit_pipeline"
    arrays = _streamable(launch, grid, found)
    while idle := _idle(loops, arrays, found):
        found.remarks.append((idle, f"the loop is not pipelined: {_reason(idle, arrays, found)}"))
        del found.kinds[idle]


def why_not_pipelined(launch: LaunchOp, grid: GridOp, loop: ForOp) -> str | None:
    """Why a loop cannot have the schedule ``emit_pipeline`` that it has; None where it can."""
    kinds = {inner: kind for inner in walk(grid, ForOp) if (kind := written_schedule(inner))}
    written = Decisions(IndexAnalysis(numbered=True), kinds)
    arrays = _streamable(launch, grid, written)
    return _unfit(loop) or (_reason(loop, arrays, written) if _idle([loop], arrays, written) else None)


def _streamable(launch: LaunchOp, grid: GridOp, found: Decisions) -> list[Window]:
    """The windows of all arrays that are not the cells' own memory."""
    args = launch.body.block.args
    made = windows(grid, args, found.analysis).values()
    return [window for window in made if not is_temporary(launch, args.index(window.memory), window, grid)]


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
