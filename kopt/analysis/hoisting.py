"""Which loop of a grid may become a dimension of the grid, and when the ops around it run then. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from xdsl.dialects.builtin import f16, i1
from xdsl.ir import Block, Operation

from kopt.analysis.windows import AtomicOp
from kopt.dialects.tile import (
    ArgReduceOp,
    AssociativeOp,
    DotOp,
    ForOp,
    GridOp,
    LoadOp,
    ReduceOp,
    ScanOp,
    SortOp,
    StoreOp,
    TileType,
    WhileOp,
    YieldOp,
)
from kopt.dialects.tile.extents import extent_of
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.ranges import binding, visits, walked_range
from kopt.walk import walk

Phase = Literal["first", "every", "last"]

#: Ops that are not worth repeating on each visit.
_EXPENSIVE = (DotOp, ReduceOp, ScanOp, ArgReduceOp, AssociativeOp, SortOp, ForOp, WhileOp)


class NotHoistable(Exception):
    """Why a launch's loop cannot become a dimension of its grid."""


@dataclass(frozen=True)
class HoistPlan:
    """The loop to hoist, and when each op around it runs."""

    loop: ForOp
    phases: dict[Operation, Phase] = field(hash=False)


def plan_hoist(grid: GridOp) -> HoistPlan:
    """Finds the loop of a grid whose body is prologue, one loop, epilogue. Raises `NotHoistable` with the reason.

    Its bounds are numbers, an extent, or those of one block of the grid.
    """
    plan = hoistable(grid)
    loop = plan.loop
    if walks_extent(loop):
        return plan
    if binding(loop.range).trips is None:
        _check_whole_blocks(loop)
    trips = visits(loop.range)
    assert trips is not None
    if trips < 2:
        raise NotHoistable("it has one visit only")
    return plan


def hoistable(grid: GridOp) -> HoistPlan:
    """As `plan_hoist`, whatever the sizes of blocks are: these may still leave a loop one visit, or shorter ones."""
    loop = _only_loop(grid)
    if binding(loop.range).trips is None and not walks_extent(loop):
        _check_part(grid, loop)
    for value in loop.inits:
        if not isinstance(value.type, TileType) or value.type.element_type in (i1, f16):
            raise NotHoistable(f"it carries a value of type {value.type}")
    _check_memory(grid, loop)
    return HoistPlan(loop, _phases(grid, loop))


def walks_extent(loop: ForOp) -> bool:
    """Whether a loop walks from 0 to an extent that differs from call to call, which is never 0."""
    lower, upper = loop.bounds
    return lower == 0 and extent_of(upper) is not None


def _only_loop(grid: GridOp) -> ForOp:
    loops = [op for op in grid.body.block.ops if isinstance(op, ForOp)]
    if len(loops) != 1:
        raise NotHoistable(f"the grid's body has {len(loops)} loops")
    return loops[0]


def _check_part(grid: GridOp, loop: ForOp) -> None:
    """That a loop whose bounds are no numbers walks one block of the grid."""
    bound = binding(loop.range)
    outer = walked_range(bound)
    analysis = IndexAnalysis()
    if outer is None or outer not in grid.ranges or analysis.begin(outer) != analysis.expr(bound.lower):
        raise NotHoistable("its bounds are not numbers")


def _check_whole_blocks(loop: ForOp) -> None:
    """That a loop over one block of the grid has as many visits in every cell."""
    bound = binding(loop.range)
    outer = walked_range(bound)
    assert outer is not None
    if visits(loop.range) is None or binding(outer).size % bound.size:
        raise NotHoistable("not all of its blocks are whole")


def _check_memory(grid: GridOp, loop: ForOp) -> None:
    loaded = {op.memory for op in walk(grid, LoadOp)}
    if loaded & {op.memory for op in walk(grid) if isinstance(op, AtomicOp)}:
        raise NotHoistable("it reads what it updates")
    stores = walk(grid, StoreOp)
    after = {op for top in _after(loop) for op in walk(top, StoreOp)}
    if any(op.memory in loaded and op not in after for op in stores):
        raise NotHoistable("it reads what it writes")
    inside = {op.memory for op in walk(loop, LoadOp)}
    if inside & {op.memory for op in stores}:
        raise NotHoistable("it reads what the cell writes")


def _after(loop: ForOp) -> Iterable[Operation]:
    op = loop.next_op
    while op is not None:
        yield op
        op = op.next_op


def _phases(grid: GridOp, loop: ForOp) -> dict[Operation, Phase]:
    """``first`` for what only the initial values need, ``last`` for what only the epilogue needs, else ``every``."""
    phases: dict[Operation, Phase] = {op: "last" for op in _after(loop) if not isinstance(op, YieldOp)}
    block = grid.body.block
    before = list(block.ops)[: list(block.ops).index(loop)]
    for op in reversed(before):
        phases[op] = _phase(op, loop, phases)
        if phases[op] == "every" and any(isinstance(inner, _EXPENSIVE) for inner in walk(op)):
            raise NotHoistable(f"each visit would repeat '{op.name}'")
    return phases


def _phase(op: Operation, loop: ForOp, phases: dict[Operation, Phase]) -> Phase:
    if any(isinstance(inner, StoreOp | AtomicOp) for inner in walk(op)):
        if any(result.first_use is not None for result in op.results):
            raise NotHoistable(f"each visit would repeat '{op.name}'")
        return "first"
    needed: set[Phase] = set()
    for result in op.results:
        for use in result.uses:
            user = _in_block(use.operation, op.parent_block())
            if user is loop:
                needed.add("first" if use.operation is loop else "every")
            else:
                needed.add(phases[user])
    return needed.pop() if len(needed) == 1 else "every"


def _in_block(op: Operation, block: Block | None) -> Operation:
    while op.parent is not block:
        parent = op.parent_op()
        assert parent is not None
        op = parent
    return op
