"""The axes of a launch: ranges of its grid and loops, whole dimensions, and what may become of each.

    tile.grid (%i: b0=32) in (75) { tile.for %j: b1=16 in (%i.begin, %i.end) { … } … tile.load %x[%i, :] … }
becomes
    b0: 32 in (0, 75) grid          b1: 16 in (32·block(b0), min(32·block(b0) + 32, 75)), parent b0
    x.1: the whole of ``:``, which may be walked
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation, SSAValue

from kopt.analysis.combiners import NotAReduction
from kopt.analysis.dealt_loops import dealt_loop
from kopt.analysis.hoisting import NotHoistable, hoistable
from kopt.analysis.launch_models.launch import Launch
from kopt.analysis.launch_models.program_points import ProgramPoint, inner_path
from kopt.dialects.tile import COMPARISONS, CarryingLoop, GridOp, RangeType, WhileOp, WholeOp, tag_of
from kopt.ir.index_expr import ZERO, number, symbol
from kopt.ir.launch_model import Axis, Form, Name
from kopt.ir.launch_sizes import settled_axes
from kopt.ir.ranges import binding, walked_range
from kopt.ir.value_range import ValueRange

#: What whole dimensions whose lanes are combined may become, and others.
_WALKED: dict[bool, frozenset[Form]] = {True: frozenset({"walked"}), False: frozenset({"walked", "grid"})}


def axes(launch: Launch) -> tuple[Axis, ...]:
    """The grid's axes, those of loops in the order of the program, then whole dimensions."""
    grid = [_range(launch, range, "grid", frozenset()) for range in launch.grid.ranges]
    may = _loop_forms(launch)
    loops = [axis for place in launch.places for axis in _inner(launch, place, may)]
    whole = [
        Axis(found.tag, found.extent, ZERO, number(found.extent), "unrolled", _WALKED[found.is_reduced], found.path)
        for found in launch.whole_dims.found
    ]
    return (*grid, *loops) if launch.costed else settled_axes([*grid, *loops, *whole])


def _inner(launch: Launch, place: ProgramPoint, may: dict[Operation, set[Form]]) -> Iterator[Axis]:
    """The axis that an operation binds."""
    op = place.op
    if isinstance(op, CarryingLoop):
        yield _range(launch, op.range, "loop", frozenset(may.get(op, ())), place)
    elif isinstance(op, WholeOp):
        yield _range(launch, op.result, "unrolled", frozenset({"walked"}), place)
    elif isinstance(op, WhileOp):
        tag = inner_path(op, place.path, place.number)[-1]
        trips = symbol(Name("value", f"{place.number} trips"), range=ValueRange(0))
        yield Axis(tag, 1, ZERO, trips, "loop", frozenset(), place.path)


def _range(
    launch: Launch, range: SSAValue, form: Form, may: frozenset[Form], place: ProgramPoint | None = None
) -> Axis:
    m, bound = launch.analysis, binding(range)
    lower, upper = m.expr(bound.lower), m.upper(range)
    outer = walked_range(bound)
    parent = outer.type.tag if outer is not None and isinstance(outer.type, RangeType) else None
    path = place.path if place is not None else ()
    compared = form == "loop" and not launch.costed and _is_compared(range)
    part = launch.parts.get(tag_of(range))
    sizes = () if part is None else part.powers_of_two
    return Axis(tag_of(range), m.size(range), lower, upper, form, may, path, parent, compared=compared, sizes=sizes)


# What may become of loops, whatever sizes are chosen.


def _loop_forms(launch: Launch) -> dict[Operation, set[Form]]:
    """Which loop may be a dimension of the grid, unless a plan is made already; which be dealt out to more cells."""
    found: dict[Operation, set[Form]] = {}
    hoisted = None if launch.planned else _hoisted(launch.grid)
    forms: list[tuple[Form, Operation | None]] = [("grid", hoisted), ("split", _split(launch.grid))]
    for form, loop in forms:
        if loop is not None:
            found.setdefault(loop, set()).add(form)
    return found


def _hoisted(grid: GridOp) -> Operation | None:
    try:
        return hoistable(grid).loop
    except NotHoistable:
        return None


def _split(grid: GridOp) -> Operation | None:
    try:
        return dealt_loop(grid)
    except NotAReduction:
        return None


def _is_compared(range: SSAValue) -> bool:
    """Whether a comparison of tiles depends on the elements that a range names."""
    todo, seen = [range], {range}
    while todo:
        for use in todo.pop().uses:
            if isinstance(use.operation, COMPARISONS):
                return True
            if use.operation.name in _NUMBERS:
                new = [result for result in use.operation.results if result not in seen]
                todo += new
                seen.update(new)
    return False


#: Ops through which element numbers are followed to comparisons.
_NUMBERS = frozenset(
    [f"tile.{name}" for name in "index begin end shift splat broadcast reshape transpose cast add sub mul".split()]
    + [f"arith.{name}" for name in "addi subi muli index_cast".split()]
)
