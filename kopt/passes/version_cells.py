"""The pass ``version-cells``: bodies of grids in versions, in each of which loops have known trip counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i1
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriteWalker
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.cell_versions import Version, Versions, cell_versions
from kopt.analysis.visit_conditions import runs_of_visits
from kopt.dialects.builder import Builder
from kopt.dialects.pallas import CallOp
from kopt.dialects.tile import ArangeOp, BeginOp, CountOp, EndOp, ForOp, GridOp, IdOp, IndexOp, WhenOp, tile_type
from kopt.dialects.tile.plan_attr import ScheduleAttr
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.ranges import binding
from kopt.ir.value_range import ValueRange
from kopt.passes.canonicalize import Simplest
from kopt.passes.cell_facts import use_facts
from kopt.passes.cloning import clone_with_new_tags
from kopt.passes.dce import eliminate
from kopt.planning.versions import MOST_VISITS, WRITTEN_VISITS
from kopt.plans.plan import LoopSchedule
from kopt.walk import walk


@dataclass(frozen=True)
class VersionCellsPass(ModulePass):
    """Loop versioning: a branch for each set of cells in which loops with computed bounds have the same trip counts.

    A compiler overlaps the visits of a loop, and loops with each other, where it knows how often they run. Visits in
    which other masks hold in all lanes, or in none, are loops of their own: in a window those at both of its ends have
    masks, and those between have none. Where a version has one cell the elements of its block are constants, of which a
    compiler computes no mask. A maximum is one of its operands where a version's cells decide it. A mask goes
    that another one implies.

        tile.grid (%i: b0=512) in (1024) { … %r = tile.for %j: b1=512 in (0, %i.begin) … tile.put %r, %out[:] }
    becomes
        tile.grid (%i: b0=512) in (1024) {
          scf.if (%i.id == 0) { … tile.put %z, %out[:] }
          scf.if (%i.id == 1) { … %r = tile.for %j: b2=512 in (0, 512) … tile.put %r, %out[:] } }

    Bodies that do more than to compute on blocks of their windows stay as they are, and so do those that need more than
    eight versions, or whose trip counts depend on more than one axis of the grid, or on what is loaded.
    """

    name = "version-cells"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for call in walk(op, CallOp):
            grid = call.body.block.first_op
            if isinstance(grid, GridOp) and (found := cell_versions(grid)) is not None:
                _split(grid, found)
                PatternRewriteWalker(Simplest(ctx), post_walk_func=eliminate).rewrite_region(grid.body)


def _split(grid: GridOp, found: Versions) -> None:
    """Puts a branch for each version in the place of a grid's body."""
    places = [number for number, op in enumerate(grid.body.block.ops) if op in found.loops]
    template = _branch(grid)
    branches = [template, *(_copy(template) for _ in found.versions[1:])]
    for branch, version in zip(branches, found.versions, strict=True):
        build = Builder(branch)
        branch.operands[0] = _condition(build, found.range, version)
        body = branch.true_region.block
        ops = list(body.ops)
        if version.first == version.last:
            _fix(body, found.range, version.first)
        for place, walked in zip(places, version.walked, strict=True):
            loop = ops[place]
            assert isinstance(loop, ForOp)
            _walk(loop, walked, found.range, version)
        use_facts(branch, {found.range: ValueRange(version.first, version.last)})


def _branch(grid: GridOp) -> scf.IfOp:
    """The body of a grid as a branch, which is always taken."""
    body, end = Block(), grid.body.block.last_op
    assert end is not None
    for op in list(grid.body.block.ops):
        if op is not end:
            op.detach()
            body.add_op(op)
    body.add_op(scf.YieldOp())
    build = Builder(end, grid)
    always = build.add(arith.ConstantOp(IntegerAttr(1, i1)))
    return build.insert(scf.IfOp(always, [], Region(body)))


def _copy(template: scf.IfOp) -> scf.IfOp:
    """A copy of a branch, behind all others."""
    copy = clone_with_new_tags(template)
    assert isinstance(copy, scf.IfOp) and template.parent is not None and template.parent.last_op is not None
    Rewriter.insert_op(copy, InsertPoint.before(template.parent.last_op))
    return copy


def _condition(build: Builder, range: SSAValue, version: Version) -> SSAValue:
    """Whether a cell is one of a version's."""
    id = build.add(IdOp(range))
    if version.first == version.last:
        return build.add(arith.CmpiOp(id, build.index(version.first), "eq"))
    after = build.add(arith.CmpiOp(id, build.index(version.first), "sge"))
    if version.last + 1 == binding(range).trips:
        return after
    before = build.add(arith.CmpiOp(id, build.index(version.last), "sle"))
    return before if version.first == 0 else build.add(arith.AndIOp(after, before))


def _fix(body: Block, range: SSAValue, number: int) -> None:
    """Numbers in the place of what a range's only block begins and ends at, and of its elements."""
    bound = binding(range)
    assert isinstance(bound.lower, int) and isinstance(bound.upper, int)
    begin = bound.lower + number * bound.size
    known = {IdOp: number, BeginOp: begin, EndOp: min(begin + bound.size, bound.upper)}
    for use in list(range.uses):
        op = use.operation
        if not _is_in(op, body):
            continue
        if type(op) in known:
            Builder(op).replace(Builder(op).index(known[type(op)]))
        elif isinstance(op, IndexOp):
            build = Builder(op)
            build.replace(build.add(ArangeOp(begin, 1, tile_type(op.result))))


def _is_in(op: Operation, body: Block) -> bool:
    block = op.parent
    while block is not None and block is not body:
        block = block.parent_block()
    return block is not None


def _walk(loop: ForOp, walked: int, range: SSAValue, version: Version) -> None:
    """Makes a loop one over so many elements behind its begin, or several where masks hold in all lanes of some visits.

    A loop over none goes.
    """
    if not walked:
        Rewriter.replace_op(loop, [], loop.inits)
        return
    build, (lower, _), size = Builder(loop), loop.bounds, binding(loop.range).size
    if (number := IndexAnalysis().expr(lower).range.number) is not None:
        lower = number
    trips, done, values = -(-walked // size), 0, loop.inits
    runs = [(trips, {})]
    if not any(isinstance(use.operation, WhenOp | CountOp) for use in loop.range.uses) and trips <= MOST_VISITS:
        runs = runs_of_visits(loop, trips, range, version.first, version.last)
    for count, known in runs:
        copies: dict[SSAValue, SSAValue] = {}
        copy = clone_with_new_tags(loop, copies) if done + count < trips else loop
        assert isinstance(copy, ForOp)
        begin, end = (_after(lower, elements, build) for elements in (done * size, min((done + count) * size, walked)))
        part = _part(copy, begin, end, values, min(count, WRITTEN_VISITS))
        build.insert(part)
        if copy is not loop:
            copy.erase()  # values know their users: one without a body is none
        _count_from(part, done)
        for condition, held in known.items():
            value = copies.get(condition, condition)
            assert isinstance(value.owner, Operation)
            inside = Builder(value.owner)
            inside.replace(inside.full(int(held), value))
        done, values = done + count, part.results
    Rewriter.replace_op(loop, [], values)


def _after(lower: SSAValue | int, elements: int, build: Builder) -> SSAValue | int:
    """A bound that is so many elements behind another."""
    if isinstance(lower, int):
        return lower + elements
    return build.add(arith.AddiOp(lower, build.index(elements))) if elements else lower


def _part(loop: ForOp, lower: SSAValue | int, upper: SSAValue | int, inits: Sequence[SSAValue], unroll: int) -> ForOp:
    """A loop over some visits, with the body of another and results of the same names."""
    schedule = LoopSchedule("resident") if loop.schedule is None else loop.schedule.data
    schedule = replace(schedule, unroll=max(schedule.unroll, unroll))
    new = ForOp(lower, upper, inits, loop.detach_region(0), ScheduleAttr(schedule), loop.attributes)
    for result, was in zip(new.results, loop.results, strict=True):
        result.name_hint = was.name_hint
    return new


def _count_from(loop: ForOp, number: int) -> None:
    """Counts a loop's visits from a number on, those before being another's."""
    for use in list(loop.range.uses) if number else ():
        if isinstance(id := use.operation, IdOp):
            build = Builder(InsertPoint.after(id), id)
            more = arith.AddiOp(id.result, build.index(number))
            build.insert(more)
            id.result.replace_uses_with_if(more.result, lambda one, more=more: one.operation is not more)
