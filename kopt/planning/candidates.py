"""The plans that a launch may have. On a TPU: each choice of schedules for its loops, with the buffers that follow.

Pure. Of the loops that may be dimensions of the grid one is, or none. The others, where they move blocks, are all
``resident``, ``prefetch`` or ``emit_pipeline``; or those that only read are ``resident``, and those that write
``emit_pipeline``: what one visit has made is written back during the next. An operand's blocks are

| its accesses | kind |
|---|---|
| gather rows or elements, or begin at loaded numbers | ``rows``, ``dma`` |
| are updates of rows or elements by loaded numbers | ``rows``; ``one_hot`` |
| are stored at loaded numbers, of an array that VMEM may hold | ``window``: the array as a whole |
| all move with loops that prefetch, in whole blocks | ``prefetch``, ``emit_pipeline`` |
| are written by such a loop of computed bounds | ``writeback`` |
| are single numbers | ``smem``, where they fit |
| move with the grid only | ``window`` |
| move with loops besides | ``resident``: the window holds all that the loops walk |
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod

from kopt.ir.access_relation import AccessRelation
from kopt.ir.atoms import BlockNumber
from kopt.ir.launch_model import Axis, LaunchModel, ModelAccess
from kopt.open_extents import is_open
from kopt.planning.extents import is_known
from kopt.plans.plan import Buffer, LoopSchedule, Plan
from kopt.targets.budget import Budget

#: What loops that stay in the kernel may do with the blocks that they walk.
IN_KERNEL = ("resident", "prefetch", "emit_pipeline")
#: How many visits may be written out in one.
UNROLLED = (2, 3, 4, 5, 6, 7, 8)


def candidates(model: LaunchModel, kinds: Sequence[str] = IN_KERNEL, hoists: bool = True) -> Iterator[Plan]:
    """The plans of a launch, the source's own order first.

    ``kinds`` are what loops in the kernel may do, ``hoists`` whether one of them may be a dimension of the grid.
    """
    for plan, *unrolled in variants(model, kinds, hoists):
        yield plan
        yield from unrolled


def variants(model: LaunchModel, kinds: Sequence[str] = IN_KERNEL, hoists: bool = True) -> Iterator[list[Plan]]:
    """As `candidates`, each with the same plan unrolled behind it, if it can be.

    Visits that are written out several in one take no longer than those that are not, but their values more memory.
    Those in which there are loops are written out where these loops have one visit, and are none.
    """
    for schedules in _schedules(model, kinds, hoists):
        plan = _plan(model, schedules)
        unrolled = _copying_nothing(model, schedules)
        yield [plan, *([_unrolled(plan, dict.fromkeys(unrolled, UNROLLED[-1]))] if unrolled else [])]
        if counted := _one_hot(model, plan):
            yield [counted]


def _one_hot(model: LaunchModel, plan: Plan) -> Plan | None:
    """The plan with updates by loaded numbers that compare these with all rows of a block, not row by row."""
    found = [_compared(model, buffer, plan.order) for buffer in plan.buffers]
    return replace(plan, buffers=tuple(found)) if found != [*plan.buffers] else None


def _compared(model: LaunchModel, buffer: Buffer, order: Sequence[str]) -> Buffer:
    accesses = model.of(buffer.operand)
    if buffer.kind != "rows" or any(access.mode != "atomic" for access in accesses):
        return buffer
    atoms = [atom for access in accesses for index in access.relation.indices for atom in index.atoms()]
    moves = {atom.name for atom in atoms if isinstance(atom, BlockNumber)}
    axes = tuple(tag for tag in order if tag in moves)
    return Buffer(buffer.name, buffer.operand, "one_hot", axes, 2 if axes else 1)


def unrollable(model: LaunchModel, schedules: Mapping[str, str]) -> list[str]:
    """The loops of which several visits may be written out in one: inner ones that copy nothing, as often as known."""
    around = {tag for axis in model.axes if axis.form != "unrolled" for tag in axis.path}  # of straight code no loop
    return [tag for tag in _copying_nothing(model, schedules) if tag not in around]


def _copying_nothing(model: LaunchModel, schedules: Mapping[str, str]) -> list[str]:
    """The loops that copy nothing, and of which it is known how many elements they walk."""
    counted = {axis.tag for axis in model.axes if axis.form == "loop" and _is_counted(model, axis)}
    return [tag for tag, kind in schedules.items() if kind == "resident" and tag in counted]


def _is_counted(model: LaunchModel, axis: Axis) -> bool:
    """Whether it is known how many elements a loop walks, or may be: an axis of open size may have one block."""
    blocks = {str(atom.name) for atom in axis.extent.atoms() if isinstance(atom, BlockNumber)}
    return is_known(axis.extent) and not any(model.axis(tag).trips.is_constant for tag in blocks)


def with_unrolling(model: LaunchModel, plan: Plan, rolled: Collection[str] = ()) -> Iterator[Plan]:
    """A plan, and then the same with loops unrolled, at the sizes of the model: by what divides their visits.

    Those of ``rolled`` stay as they are.
    """
    yield plan
    kinds = {tag: one.kind for tag, one in plan.loops.items() if one.unroll == 1 and tag not in rolled}
    trips = {tag: model.axis(tag).trips.number for tag in unrollable(model, kinds)}
    for factor in UNROLLED:
        if found := [tag for tag, count in trips.items() if isinstance(count, int) and count % factor == 0 < count]:
            yield _unrolled(plan, dict.fromkeys(found, factor))


def _unrolled(plan: Plan, factors: Mapping[str, int]) -> Plan:
    loops = {tag: replace(one, unroll=factors.get(tag, one.unroll)) for tag, one in plan.loops.items()}
    return replace(plan, loops=loops)


def gpu_candidate(model: LaunchModel, whole: bool = False) -> Plan:
    """The plan of a launch on a GPU: every access goes by pointers, loops run as they are.

    Where the launch is ``whole`` the plan says so: its loops are not dealt out to more cells, whatever that gains.
    """
    order = tuple(axis.tag for axis in model.axes if axis.form == "grid")
    buffers = tuple(Buffer(operand.name, operand.name, "pointer") for operand in model.operands)
    options = (("split", 1),) if whole else ()
    via = {access.id: access.operand for access in model.accesses}
    return Plan(order, frozenset(order), buffers, via, options=options)


def _schedules(model: LaunchModel, kinds: Sequence[str], hoists: bool) -> Iterator[Mapping[str, str]]:
    loops = [axis for axis in model.axes if axis.form == "loop"]
    for hoisted in [None, *(axis for axis in loops if hoists and "grid" in axis.may)]:
        rest = [axis for axis in loops if axis is not hoisted]
        first = {} if hoisted is None else {hoisted.tag: "grid"}
        moving = [axis.tag for axis in rest if _moves(model, axis)]
        still = dict.fromkeys((axis.tag for axis in rest), "resident")
        for kind in kinds if moving else ("resident",):
            yield {**first, **still, **dict.fromkeys(moving, kind)}
        writing = [tag for tag in moving if _writes(model, tag)]
        if 0 < len(writing) < len(moving) and {*kinds} >= {"resident", "emit_pipeline"}:
            yield {**first, **still, **dict.fromkeys(writing, "emit_pipeline")}


def _moves(model: LaunchModel, axis: Axis) -> bool:
    """Whether blocks of arrays move with a loop."""
    return any(axis.tag in access.moves for access in model.accesses)


def _writes(model: LaunchModel, tag: str) -> bool:
    """Whether a loop stores blocks."""
    return any(access.mode == "store" and tag in access.path for access in model.accesses)


def _plan(model: LaunchModel, schedules: Mapping[str, str]) -> Plan:
    grid = [axis.tag for axis in model.axes if axis.form == "grid"]
    order = (*_source_order(model, grid), *(tag for tag, kind in schedules.items() if kind == "grid"))
    buffers = [_buffer(model, operand.name, schedules, order) for operand in model.operands]
    via = {access.id: buffer.name for buffer in buffers for access in model.of(buffer.operand)}
    loops = {tag: LoopSchedule(kind) for tag, kind in schedules.items()}
    return Plan(order, _parallel(model) & frozenset(grid), tuple(buffers), via, loops)


def _source_order(model: LaunchModel, grid: Sequence[str]) -> Sequence[str]:
    return model.orders[0].axes if model.orders else grid


def _parallel(model: LaunchModel) -> frozenset[str]:
    """The axes that cores may share: all stores and updates are of an axis's own blocks.

    Not those whose cells update the same elements, or write rows from where loaded numbers say.
    """
    written = [access.relation for access in model.accesses if access.mode != "load"]
    free = model.orders[0].parallel if model.orders else frozenset[str]()
    return frozenset(tag for tag in free if all(tag in _axes(relation) for relation in written))


def _axes(relation: AccessRelation) -> set[str]:
    """The axes whose block numbers are in the indices of an access."""
    return {str(atom.name) for index in relation.indices for atom in index.atoms() if isinstance(atom, BlockNumber)}


def _buffer(model: LaunchModel, operand: str, schedules: Mapping[str, str], order: Sequence[str]) -> Buffer:
    accesses = model.of(operand)
    moves = frozenset[str]().union(*(access.moves for access in accesses))
    axes = tuple(tag for tag in order if tag in moves)
    if _is_held(model, operand):
        axes = tuple(tag for tag in order if all(tag in _axes(access.relation) for access in accesses))
        return Buffer(operand, operand, "window", axes, 2 if axes else 1)
    if kind := _apart(accesses):
        options = (("prefetch", (order[-1], 1)),) if fetched_ahead(kind, accesses, order) else ()
        return Buffer(operand, operand, kind, axes, 1, options=options)
    if walked := _walked_alike(model, accesses, schedules):
        return Buffer(operand, operand, walked[1], walked[0], 2)
    inside = [tag for tag in moves if schedules.get(tag, "grid") != "grid"]
    return Buffer(operand, operand, "resident" if inside else "window", axes, 2 if axes else 1)


def fetched_ahead(kind: str, accesses: Sequence[ModelAccess], order: Sequence[str]) -> bool:
    """Whether rows that cells load by their numbers come during the cell before, as `software-pipeline` has it."""
    return kind == "rows" and all(access.mode == "load" and access.home in order for access in accesses)


def _is_held(model: LaunchModel, operand: str) -> bool:
    """Whether the cells have a whole array at hand of which they store blocks at loaded numbers.

    Nothing else is done with one of which the IR does not say that it stays in HBM. Before it may say so, an array that
    is not large has it.
    """
    accesses = model.of(operand)
    stored = any(access.mode == "store" for access in accesses) and any(access.address for access in accesses)
    if not stored or any(access.mode == "atomic" or access.hbm for access in accesses) or _in_pieces(accesses):
        return False
    array = model.operand(operand)
    extents = [extent for extent in array.shape if isinstance(extent, int) and not is_open(extent)]
    return len(extents) == len(array.shape) and not Budget.is_large(prod(extents) * array.bits // 8)


def _in_pieces(accesses: Sequence[ModelAccess]) -> bool:
    """Whether rows or elements are taken one by one."""
    return any(access.relation.kind in ("runs", "elements") for access in accesses)


def _apart(accesses: Sequence[ModelAccess]) -> str | None:
    """The kind of an operand that is accessed by numbers which memory tells."""
    if _in_pieces(accesses):
        return "rows"
    return "dma" if any(access.address for access in accesses) else None


def _walked_alike(
    model: LaunchModel, accesses: Sequence[ModelAccess], schedules: Mapping[str, str]
) -> tuple[tuple[str, ...], str] | None:
    """The loops that move all blocks of an operand, one where some are written, and the kind of its buffer."""
    homes = tuple(dict.fromkeys(access.home for access in accesses))
    modes = {access.mode for access in accesses}
    if "atomic" in modes or len(homes) > 1 and "store" in modes:
        return None
    kinds = {"grid" if home is None else schedules.get(home, "grid") for home in homes}
    (kind, *others) = kinds or {"grid"}
    tags = tuple(home for home in homes if home is not None)
    if others or kind not in ("prefetch", "emit_pipeline"):
        return None
    if kind == "emit_pipeline" or "store" not in modes:
        return tags, kind
    return (tags, "writeback") if _is_computed(model.axis(tags[0])) else None


def _is_computed(loop: Axis) -> bool:
    """Whether a loop's bounds are only known when it runs."""
    return not (loop.lower.is_constant and loop.upper.is_constant)
