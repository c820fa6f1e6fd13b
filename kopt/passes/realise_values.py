"""The pass ``realise-values``: what is at computed places becomes products, picks and DMAs that a TPU has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerType, ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from kopt.analysis.plan_problems.tpu_values import value_problems
from kopt.analysis.values.gathers import Choice, best_choice, choices, gathers
from kopt.analysis.values.plans import parallel_axes, sources_of, value_buffers
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import GridOp, LoadOp, PlanAttr
from kopt.dialects.tile.planned import forget_plan
from kopt.ir.sums import SumAnalysis
from kopt.passes.gathers.building import type_of
from kopt.passes.gathers.realise import Realising
from kopt.passes.retyping import bound_tags
from kopt.passes.scatters.realise import realise_updates
from kopt.planning.kinds import VALUES
from kopt.planning.plan import Buffer, Plan
from kopt.planning.renaming import renamed
from kopt.targets.chips import TPU_CHIPS
from kopt.walk import walk


@dataclass(frozen=True)
class RealiseValuesPass(ModulePass):
    """TODO"""

    name = "realise-values"

    chip: str = "tpu7x"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        chosen: dict[Operation, Choice] = {}
        for launch in walk(op, LaunchOp):
            for grid in walk(launch, GridOp):
                if grid.plan is None or not grid.plan.data.own:
                    for problem in value_problems(launch, grid, TPU_CHIPS[self.chip]):
                        raise problem.error
                chosen |= _chosen(launch, grid)
                _take_off(grid)
            _realise_loads(Realising(launch, TPU_CHIPS[self.chip]), chosen)
        tags = set(bound_tags(op))
        for launch in walk(op, LaunchOp):
            for number in launch.written:
                realise_updates(launch, number, chosen, tags)


def _chosen(launch: LaunchOp, grid: GridOp) -> dict[Operation, Choice]:
    """What the plan of a grid says of its accesses at computed places."""
    found, sums = {}, SumAnalysis()
    for op, buffer in value_buffers(grid).items():
        picks = isinstance(op, LoadOp) and buffer.source is not None
        held = choices(op, launch, sums, sources_of(grid, buffer))[0] if picks else None
        found[op] = held or Choice(buffer.kind)
    return found


def _realise_loads(at: Realising, chosen: Mapping[Operation, Choice]) -> None:
    """Gathers and picks first, in the order of the program; then what is far, and what has been made of those."""
    known = walk(at.launch, LoadOp)
    for load in [load for load in known if load in chosen and (gathers(load) or chosen[load].held is not None)]:
        is_number = isinstance(type_of(load.result).element_type, IntegerType)
        at.realise(load, chosen[load])
        if is_number:  # what is made of them is made of other values now
            at.sums = SumAnalysis()
    at.sums, before = SumAnalysis(), {*known}
    for load in [load for load in walk(at.launch, LoadOp) if not gathers(load)]:
        choice = chosen.get(load) if load in before else best_choice(load, at.launch, at.chip, at.sums)
        if choice is not None:
            at.realise(load, choice)


def _take_off(grid: GridOp) -> None:
    """The plan without what has been realised; one that says nothing else is forgotten."""
    if grid.plan is None:
        return
    plan = grid.plan.data
    done = {buffer.name for buffer in plan.buffers if buffer.kind in VALUES}
    if not done:
        return
    for op in value_buffers(grid):
        op.attributes.pop("via", None)
    sources = {buffer.source for buffer in plan.buffers if buffer.name in done}
    rest = replace(plan, buffers=tuple(buffer for buffer in plan.buffers if buffer.name not in done))
    if all(buffer.name in sources and _is_open(buffer) for buffer in rest.buffers) and _says_nothing(grid, rest):
        forget_plan(grid)
        return
    numbers: dict[str, str] = {}
    rest = renamed(rest, operand=lambda number: numbers.setdefault(number, str(len(numbers))))
    grid.plan, grid.operands = PlanAttr(rest), [grid.planned[int(number)] for number in numbers]


def _is_open(buffer: Buffer) -> bool:
    """Whether a buffer is a block of which it is left open how it comes."""
    return buffer == Buffer(buffer.name, buffer.operand, "window")


def _says_nothing(grid: GridOp, plan: Plan) -> bool:
    """Whether a plan has nothing but buffers and the usual order."""
    return replace(plan, buffers=()) == Plan(grid.tags, parallel_axes(grid), (), {})
