"""Persistent programs of a GPU: whether a fixed number of them share the cells of a launch. Pure."""

from __future__ import annotations

from dataclasses import replace

from xdsl.ir import Operation

from kopt.analysis.launch_models import fixed_model
from kopt.analysis.plans import GridNames
from kopt.dialects.atomic import CasOp
from kopt.dialects.tile import GridOp, WhileOp
from kopt.ir.trip_counts import cells
from kopt.planning.gpu_cost import GpuLaunch
from kopt.plans.plan import Options, Plan
from kopt.targets.chips import GpuChip
from kopt.targets.costs import gpu_costs
from kopt.walk import walk

#: Persistent programs take clearly less than one for each cell where they take a third less: they load nothing ahead
#: while others compute, and the model does not tell how well programs that start on their own overlap.
_CLEARLY = 2 / 3


def with_persistence(
    grid: GridOp, known: GridNames, plan: Plan, chip: GpuChip, asked: str | None, each: int | None
) -> Plan:
    """A plan whose cells are shared by persistent programs, where that is asked for or clearly pays.

    There are ``each`` of them for a multiprocessor, as many as its threads allow if that is left open: what registers
    and memory allow is known to the compiler, and more programs than it holds do no harm. Of what has fewer cells each
    has its own program anyway.
    """
    if asked == "off" or (asked is None and each is None and not _may_pay(grid, chip)):
        return plan
    usual = GpuLaunch(fixed_model(grid, known), {}, plan, chip, {})
    count = gpu_costs(chip).persistent_programs(int(usual.program.threads), each)
    number = cells(grid)
    if number is not None and number <= count:
        return plan
    shared = replace(plan, options=(*plan.options, *_words(count, asked)))
    if asked is not None or each is not None:
        return shared
    before, after = (one.cost().seconds for one in (usual, GpuLaunch(usual.model, {}, shared, chip, {})))
    return shared if before is not None and after is not None and float(after) < _CLEARLY * float(before) else plan


def _words(count: int, asked: str | None) -> Options:
    return (("programs", count), *((("share", "blocked"),) if asked == "blocked" else ()))


def _may_pay(grid: GridOp, chip: GpuChip) -> bool:
    """Whether to start the programs of all cells takes longer than an empty kernel, and none waits for another."""
    costs, number = gpu_costs(chip), cells(grid)
    if number is None or -(-number // costs.multiprocessors) * costs.dispatch_seconds <= costs.launch_seconds:
        return False
    return not may_wait(grid)


def may_wait(top: Operation) -> bool:
    """Whether programs may wait for others, all of which have to be started then."""
    return bool(walk(top, CasOp, WhileOp))
