"""A reduction loop becomes the grid's innermost dimension; what it carries lives in scratch memory in between."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from xdsl.dialects.builtin import i1
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.ranges import binding
from kopt.analysis.windows import AtomicOp
from kopt.dialects.host import LaunchOp
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
    WhenOp,
    WhileOp,
    YieldOp,
)
from kopt.passes.to_pallas.carried import gets, puts, scratch_of

Phase = Literal["first", "every", "last"]

#: Ops that are not worth repeating on each visit.
_EXPENSIVE = (DotOp, ReduceOp, ScanOp, ArgReduceOp, AssociativeOp, SortOp, ForOp, WhileOp)


class NotHoistable(Exception):
    """Why a launch's loop cannot become a dimension of its grid."""


@dataclass(frozen=True)
class Plan:
    """The loop to hoist, and when each op around it runs."""

    loop: ForOp
    phases: dict[Operation, Phase] = field(hash=False)


def plan_hoist(grid: GridOp) -> Plan:
    """Finds the loop of a grid whose body is prologue, one loop, epilogue. Raises `NotHoistable` with the reason."""
    loop = _only_loop(grid)
    trips = binding(loop.range).trips
    if trips is None:
        raise NotHoistable("its bounds are not numbers")
    if trips < 2:
        raise NotHoistable("it has one visit only")
    for value in loop.inits:
        if not isinstance(value.type, TileType) or value.type.element_type == i1:
            raise NotHoistable(f"it carries a value of type {value.type}")
    _check_memory(grid, loop)
    return Plan(loop, _phases(grid, loop))


def _only_loop(grid: GridOp) -> ForOp:
    loops = [op for op in grid.body.block.ops if isinstance(op, ForOp)]
    if len(loops) != 1:
        raise NotHoistable(f"the grid's body has {len(loops)} loops")
    return loops[0]


def _check_memory(grid: GridOp, loop: ForOp) -> None:
    loaded = {op.memory for op in grid.walk() if isinstance(op, LoadOp)}
    if loaded & {op.memory for op in grid.walk() if isinstance(op, AtomicOp)}:
        raise NotHoistable("it reads what it updates")
    after = {op.memory for op in _after(loop) for op in op.walk() if isinstance(op, StoreOp)}
    stored = {op.memory for op in grid.walk() if isinstance(op, StoreOp)}
    if loaded & (stored - after):
        raise NotHoistable("it reads what it writes")
    inside = {op.memory for op in loop.walk() if isinstance(op, LoadOp)}
    if inside & stored:
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
        if phases[op] == "every" and any(isinstance(inner, _EXPENSIVE) for inner in op.walk()):
            raise NotHoistable(f"each visit would repeat '{op.name}'")
    return phases


def _phase(op: Operation, loop: ForOp, phases: dict[Operation, Phase]) -> Phase:
    if any(isinstance(inner, StoreOp | AtomicOp) for inner in op.walk()):
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


def hoist(launch: LaunchOp, grid: GridOp, plan: Plan) -> GridOp:
    """Rewrites the launch; gives the new grid.

    tile.grid (%i) { %z = …; %r = tile.for %k iter(%a = %z) { …; tile.yield %n }; use(%r) }
    becomes
    %s = pallas.scratch
    tile.grid (%i, %k) reduce [1] {
      tile.when first(%k) { %z = …; put %z, %s }
      %a = get %s; …; put %n, %s
      tile.when last(%k) { %r = get %s; use(%r) }
    }
    """
    return _Hoister(launch, grid, plan).run()


class _Hoister:
    def __init__(self, launch: LaunchOp, grid: GridOp, plan: Plan):
        self.launch = launch
        self.old = grid
        self.loop = plan.loop
        self.phases = plan.phases
        self.scratch = [scratch_of(value, self.loop, grid) for value in self.loop.carried]
        self.grid = self._new_grid()

    def run(self) -> GridOp:
        body = self.grid.body.block
        for old, new in zip(self.old.ranges, self.grid.ranges, strict=False):
            new.name_hint = old.name_hint
            old.replace_all_uses_with(new)
        k = self.grid.ranges[-1]
        k.name_hint = self.loop.range.name_hint
        ops = [op for op in self.old.body.block.ops if not isinstance(op, YieldOp) and op is not self.loop]
        by_phase: dict[Phase, list[Operation]] = {"first": [], "every": [], "last": []}
        for op in ops:
            op.detach()
            by_phase[self.phases[op]].append(op)
        start = puts(self.loop.inits, self.scratch, self.loop)
        new = [*by_phase["every"], *self._when("first", k, [*by_phase["first"], *start])]
        new += self._visit(k)
        results = gets(self.loop.results, self.scratch, self.loop)
        new += self._when("last", k, [*results, *by_phase["last"]])
        body.insert_ops_before(new, _terminator(body))
        Rewriter.insert_op(self.grid, InsertPoint.before(self.old))
        Rewriter.erase_op(self.old)
        return self.grid

    def _new_grid(self) -> GridOp:
        bounds = [*self.old.bounds, self.loop.bounds]
        types = [range.type for range in (*self.old.ranges, self.loop.range)]
        grid = GridOp(
            [upper for _, upper in bounds],  # pyright: ignore[reportArgumentType]
            Region(Block(arg_types=types)),
            [lower for lower, _ in bounds],  # pyright: ignore[reportArgumentType]
            (*self.old.reduction_dims, len(types) - 1),
            self.old.ordered_dims,
        )
        grid.location = self.old.location
        return grid

    def _visit(self, k: SSAValue) -> list[Operation]:
        """The loop's body, between reading and writing what it carries."""
        body = self.loop.body.block
        first = gets(self.loop.carried, self.scratch, self.loop)
        self.loop.range.replace_all_uses_with(k)
        ops = [op for op in body.ops if not isinstance(op, YieldOp)]
        terminator = body.last_op
        assert terminator is not None
        last = puts(self.loop.yielded, self.scratch, self.loop)
        terminator.detach()
        terminator.drop_all_references()
        for op in ops:
            op.detach()
        return [*first, *ops, *last]

    def _when(self, visit: str, k: SSAValue, ops: Sequence[Operation]) -> list[Operation]:
        if not ops:
            return []
        when = WhenOp(visit, [k], Region(Block(ops)))
        when.location = self.loop.location
        return [when]


def _terminator(block: Block) -> Operation:
    assert block.last_op is not None
    return block.last_op
