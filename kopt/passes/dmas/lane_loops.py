"""Loops over the lanes of a tile, whose numbers the scalar unit has."""

from __future__ import annotations

from xdsl.ir import Block, Region, SSAValue

from kopt.dialects.builder import Builder
from kopt.dialects.tile import BeginOp, ForOp, RangeType, ScheduleAttr, YieldOp
from kopt.passes.retyping import new_tags
from kopt.plans.plan import LoopSchedule


def loop_over_lanes(lanes: int, unroll: int, build: Builder) -> tuple[Builder, SSAValue]:
    """A loop that has ``unroll`` visits written out in one: a builder in it, and the number of a lane."""
    schedule = ScheduleAttr(LoopSchedule("resident", unroll)) if unroll > 1 else None
    body = Region(Block([YieldOp()], arg_types=[RangeType(next(new_tags(build.op)), 1)]))
    loop = build.insert(ForOp(0, lanes, [], body, schedule))
    loop.range.name_hint = "r"
    inner = build.into(loop.body.block)
    return inner, inner.add(BeginOp(loop.range))
