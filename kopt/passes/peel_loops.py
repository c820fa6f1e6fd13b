"""The pass ``peel-loops``: the visits of a loop in which masks hold in every lane become a loop without them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriteWalker
from xdsl.rewriter import Rewriter

from kopt.analysis.peeling import Peeling, peeling
from kopt.dialects.builder import Builder
from kopt.dialects.tile import ForOp, MaskOp
from kopt.dialects.tile.plan_attr import ScheduleAttr
from kopt.ir.from_ssa import IndexAnalysis
from kopt.passes.canonicalize import Simplest
from kopt.passes.cloning import clone_with_new_tags
from kopt.passes.dce import eliminate
from kopt.passes.lane_comparisons import compare_lanes
from kopt.passes.masking import drop_full_limits
from kopt.passes.normalising.indices import index_of
from kopt.walk import walk


@dataclass(frozen=True)
class PeelLoopsPass(ModulePass):
    """Splits the index set of loops with ``peel(full | diagonal)`` in their schedules, as in causal attention.

    A comparison that holds in every lane of the first visits is the constant true there, and its selects fold.

        %r = tile.for %j: b2=512 in (0, %i.end) iter(%a = %z) … schedule resident peel(full | diagonal) {
          %seen = tile.ge %rows, %columns   %s = tile.select %seen, %scores, %low … }
    becomes
        %f = tile.for %j: b2=512 in (0, %i.begin) iter(%a = %z) … schedule resident { … %scores … }
        %r = tile.for %j: b2=512 in (%i.begin, %i.end) iter(%a = %f) … schedule resident { … tile.select … }

    Refuses nothing: ``verify-plan`` refuses loops that have no such visits.
    """

    name = "peel-loops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for loop in reversed(walk(op, ForOp)):  # inner ones before they are copied
            if loop.schedule is not None and loop.schedule.data.peel:
                analysis = IndexAnalysis()
                if (found := peeling(loop, analysis)) is not None:
                    for part in _split(loop, found, analysis):
                        for mask in walk(part, MaskOp):
                            drop_full_limits(mask)
                        PatternRewriteWalker(Simplest(ctx), post_walk_func=eliminate).rewrite_region(part.body)


def _split(loop: ForOp, found: Peeling, analysis: IndexAnalysis) -> tuple[ForOp, ForOp]:
    """Makes two loops of one: of the full visits, and of the others."""
    build = Builder(loop)
    split = index_of(found.split, build, analysis)
    copies: dict[SSAValue, SSAValue] = {}
    full = clone_with_new_tags(loop, copies)
    first = _part(loop, (loop.bounds[0], split), loop.inits, full.detach_region(0))
    full.erase()  # values know their users: one without a body is none
    for condition in found.conditions:
        _replace(copies[condition], lambda build, held: build.full(1, held))
    upper = loop.bounds[1]
    if found.left is not None:
        upper = build.add(arith.AddiOp(split, build.index(found.left)))
    rest = _part(loop, (split, upper), first.results, loop.detach_region(0))
    build.insert(first)
    build.insert(rest)
    Rewriter.replace_op(loop, [], rest.results)
    numbers = IndexAnalysis()
    compare_lanes({value: numbers.condition(value) for value in found.conditions}, numbers)
    return first, rest


def _part(old: ForOp, bounds: tuple[SSAValue | int, SSAValue | int], inits: Sequence[SSAValue], body: Region) -> ForOp:
    """A loop over some of another's visits, with results of the same names."""
    assert old.schedule is not None
    loop = ForOp(*bounds, inits, body, ScheduleAttr(replace(old.schedule.data, peel=())), old.attributes)
    for result, was in zip(loop.results, old.results, strict=True):
        result.name_hint = was.name_hint
    return loop


def _replace(value: SSAValue, make: Callable[[Builder, SSAValue], SSAValue]) -> None:
    """Puts what is made in a value's place."""
    assert isinstance(value.owner, Operation)
    build = Builder(value.owner)
    build.replace(make(build, value))
