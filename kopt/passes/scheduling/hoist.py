"""A reduction loop becomes the grid's innermost dimension; what it carries lives in scratch memory in between."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.hoisting import HoistPlan, Phase
from kopt.analysis.output_dependence import overwriting
from kopt.dialects.formats.integers import int_array
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import BeginOp, GridOp, MaskOp, RangeType, ShiftOp, WhenOp, YieldOp
from kopt.dialects.tile.planned import forget_plan
from kopt.ir.ranges import binding, distance, walked_range
from kopt.passes.scheduling.carried import gets, puts, scratch_of


def hoist(launch: LaunchOp, grid: GridOp, plan: HoistPlan) -> GridOp:
    """Rewrites the launch; gives the new grid.

    tile.grid (%i) { %z = …; %r = tile.for %k iter(%a = %z) { …; tile.yield %n }; use(%r) }
    becomes
    %s = pallas.scratch
    tile.grid (%i, %k) reduce [1] {
      tile.when first(%k) { %z = …; put %z, %s }
      %a = get %s; …; put %n, %s
      tile.when last(%k) { %r = get %s; use(%r) }
    }

    A loop from ``%i.begin`` to ``%i.end`` is one from 0, whose blocks are shifted by ``%i.begin``. Where its visits
    overwrite each other's stores, the dimension is ``ordered`` as well: the last visit's values stay.
    """
    new = _Hoister(launch, grid, plan).run()
    _keep_last(new)
    return new


def _keep_last(grid: GridOp) -> None:
    """Orders the hoisted dimension where visits store other values into the same elements."""
    hoisted = len(grid.ranges) - 1
    if any(hoisted in dims for dims in overwriting(grid).values()):
        grid.ordered = int_array([*grid.ordered_dims, hoisted])


class _Hoister:
    def __init__(self, launch: LaunchOp, grid: GridOp, plan: HoistPlan):
        self.launch = launch
        self.old = grid
        self.loop = plan.loop
        self.phases = plan.phases
        self.scratch = [scratch_of(value, self.loop, grid) for value in self.loop.carried]
        self._keep_order()
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
        used = [number for number, result in enumerate(self.loop.results) if result.uses]
        results = [self.loop.results[number] for number in used]
        after = gets(results, [self.scratch[number] for number in used], self.loop)
        new += self._when("last", k, [*after, *by_phase["last"]])
        body.insert_ops_before(new, _terminator(body))
        Rewriter.insert_op(self.grid, InsertPoint.before(self.old))
        Rewriter.erase_op(self.old)
        return self.grid

    def _keep_order(self) -> None:
        """Forgets a plan in whose order the loop is not: whoever hoists it has another."""
        assert isinstance(self.loop.range.type, RangeType)
        if self.old.plan is not None and self.loop.range.type.tag not in self.old.plan.data.order:
            forget_plan(self.old)

    def _new_grid(self) -> GridOp:
        bound = binding(self.loop.range)
        walked = self.loop.bounds if walked_range(bound) is None else (0, distance(bound))
        assert walked[1] is not None
        lower = [begin for begin, _ in self.old.bounds]
        types = [range.type for range in (*self.old.ranges, self.loop.range)]
        grid = GridOp(
            [*self.old.limits, walked[1]],
            Region(Block(arg_types=types)),
            [*lower, walked[0]],  # pyright: ignore[reportArgumentType]
            (*self.old.reduction_dims, len(types) - 1),
            self.old.ordered_dims,
            plan=self.old.plan,
            planned=self.old.planned,
        )
        grid.location = self.old.location
        return grid

    def _visit(self, k: SSAValue) -> list[Operation]:
        """The loop's body, between reading and writing what it carries."""
        body = self.loop.body.block
        outer = walked_range(binding(self.loop.range))
        first = [] if outer is None else self._shift(k, outer)
        first += gets(self.loop.carried, self.scratch, self.loop)
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

    def _shift(self, k: SSAValue, outer: SSAValue) -> list[Operation]:
        """Lets the body walk the block of ``outer``, but for what tells visits or valid lanes."""
        start = BeginOp(outer)
        shift = ShiftOp(k, start)
        shift.result.name_hint = self.loop.range.name_hint
        for op in (start, shift):
            op.location = self.loop.location
        self.loop.range.replace_uses_with_if(shift.result, lambda use: not isinstance(use.operation, WhenOp | MaskOp))
        return [start, shift]

    def _when(self, visit: str, k: SSAValue, ops: Sequence[Operation]) -> list[Operation]:
        if not ops:
            return []
        when = WhenOp(visit, [k], Region(Block(ops)))
        when.location = self.loop.location
        return [when]


def _terminator(block: Block) -> Operation:
    assert block.last_op is not None
    return block.last_op
