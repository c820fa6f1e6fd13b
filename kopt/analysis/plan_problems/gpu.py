"""The problems of the plan of a grid on a GPU."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kopt.analysis.gpu_plans import usual_kind
from kopt.analysis.plan_problems.problem import (
    of_options,
    of_order,
    of_words,
    schedule_of,
    text_of,
)
from kopt.analysis.tensor_descriptors import DescribedAccess, why_no_descriptor
from kopt.diagnostics import Problem
from kopt.dialects.atomic import CasOp, RmwOp
from kopt.dialects.tile import Access, ForOp, GridOp, LoadOp
from kopt.plans.plan import Buffer, Plan
from kopt.targets.chips import GpuChip
from kopt.walk import walk

#: Warps that a program may have.
_WARPS = (1, 2, 4, 8, 16, 32)
#: Words of a launch that are obeyed, and the registers that a thread may have.
_OPTIONS = ("warps", "stages", "programs", "share", "group", "registers")
_MOST_REGISTERS = 255
#: Kinds that Triton code is made of.
_MADE = ("pointer", "descriptor", "atomic")


def gpu_problems(grid: GridOp, chip: GpuChip) -> Iterator[Problem]:
    """What keeps the plan of a grid from being obeyed."""
    for loop in walk(grid, ForOp):
        yield from _of_loop(loop)
    if grid.plan is not None:
        yield from _of_plan(grid, grid.plan.data, chip)


def _of_plan(grid: GridOp, plan: Plan, chip: GpuChip) -> Iterator[Problem]:
    yield from launch_problems(grid, chip)
    yield from of_order(grid, plan, [])
    buffers = {buffer.name: buffer for buffer in plan.buffers}
    for op in walk(grid):
        if isinstance(op, Access) and op.via is not None:
            yield from _of_access(grid, op, buffers[op.via.data], chip)


def launch_problems(grid: GridOp, chip: GpuChip) -> Iterator[Problem]:
    """What keeps launches on a chip from having the options of a grid's plan; nothing where it has none."""
    if grid.plan is None:
        return
    plan = grid.plan.data
    yield from of_options(grid, plan, _OPTIONS, "Triton launch")
    options = dict(plan.options)
    if (warps := options.get("warps", 1)) not in _WARPS:
        yield Problem(grid, f"a program has {', '.join(map(str, _WARPS))} warps, not {warps}", id="plan")
    if "share" in options and "programs" not in options:
        yield Problem(grid, "'share' says which cells programs have, and there is no 'programs'", id="plan")
    if "registers" in options and chip.backend != "cuda":
        yield Problem(grid, f"'registers' is for NVIDIA's chips: {chip.name}'s compiler takes no such limit", id="plan")
    most = options.get("registers", 1)
    if isinstance(most, int) and most > _MOST_REGISTERS:
        yield Problem(grid, f"a thread has at most {_MOST_REGISTERS} registers, not {most}", id="plan")


def _of_loop(loop: ForOp) -> Iterator[Problem]:
    yield from of_words(loop, known=("stages",))
    kind = schedule_of(loop).kind
    if "stages" in dict(schedule_of(loop).options) and (reason := _why_not_staged(loop)) is not None:
        yield Problem(loop, f"the loop cannot have stages of its own: {reason}", id="plan")
    if kind not in ("resident", "walk"):
        message = f"no Triton code is made of a loop of schedule '{kind}': its programs run in no order"
        yield Problem(loop, message, ("its schedule may be 'resident'",), id="plan")


def _why_not_staged(loop: ForOp) -> str | None:
    """Why the blocks of later visits cannot be loaded ahead, if so."""
    if any(isinstance(op, Access | CasOp | RmwOp) and not isinstance(op, LoadOp) for op in walk(loop)):
        return "it writes, perhaps what later visits load"
    waiting = set(loop.carried)
    for op in loop.body.block.ops:
        if waiting.isdisjoint(op.operands) and not any(waiting & {*o.operands} for o in walk(op)):
            if isinstance(op, LoadOp):
                return None
        else:
            waiting.update(op.results)
    return "it loads nothing that is known before a visit begins"


def _of_access(grid: GridOp, op: Access, buffer: Buffer, chip: GpuChip) -> Iterator[Problem]:
    plain = Buffer(buffer.name, buffer.operand, buffer.kind)
    if buffer.kind not in _MADE or replace(buffer, axes=()) != plain:
        text = text_of(grid, buffer)
        yield Problem(
            op, f"no Triton code is made of '{text}' yet: 'pointer', 'descriptor' and 'atomic' alone are", id="plan"
        )
        return
    name, usual = op.memory.name_hint or "an array", usual_kind(op, chip)
    if buffer.kind == "descriptor":
        if (reason := _why_no_descriptor(op, chip)) is not None:
            yield Problem(
                op, f"'{name}' cannot stand in a buffer of kind 'descriptor' here: {reason}", ("pointer",), id="plan"
            )
    elif (buffer.kind == "atomic") != (usual == "atomic"):
        yield Problem(op, f"'{name}' cannot stand in a buffer of kind '{buffer.kind}' here: {usual}", id="plan")


def _why_no_descriptor(op: Access, chip: GpuChip) -> str | None:
    if not chip.descriptors:
        return f"{chip.name} has no tensor descriptors"
    return why_no_descriptor(op) if isinstance(op, DescribedAccess) else "descriptors are of loads and stores"
