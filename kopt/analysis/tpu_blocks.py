"""Block sizes for a TPU: whole tiles of its memory, as many as pay and as fit half of its VMEM."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from kopt.analysis.block_roles import Role
from kopt.analysis.block_search import (
    Sizes,
    Walk,
    capped,
    divided,
    fitted,
    largest_tile,
    nested_loops,
    power_of_two,
    shrink,
    spread,
)
from kopt.analysis.footprint import footprint
from kopt.analysis.hoisting import NotHoistable, plan_hoist
from kopt.dialects.tile import AssociativeOp, GridOp, PhiloxOp, ScanOp, SortOp, TileType
from kopt.targets.budget import Budget
from kopt.targets.chips import TpuChip
from kopt.walk import walk

#: Where blocks of loops with computed bounds start: what lies beyond short items is fetched in vain.
_COMPUTED_ROWS = 64
_COMPUTED_LANES = 1024
#: Where blocks of lanes start, beside rows of others and alone: a cell of less costs more than its work.
_LANES = 1024
_FLAT = 32768
#: Where other blocks start.
_BLOCK = 512
#: Ops that go by halves of their lanes, or draw a power of two at once.
_HALVING = (ScanOp, SortOp, AssociativeOp, PhiloxOp)


def choose_tpu(
    module: ModuleOp,
    groups: Sequence[Sequence[str]],
    roles: Mapping[str, Role],
    chip: TpuChip,
    cost: Callable[[Sizes], int],
    divides: bool = True,
) -> Sizes:
    """Sizes for the groups of a module, by the ``cost`` of a cell; whether they may be other than powers of two."""
    nested = nested_loops(module, roles)
    least = capped(groups, spread(groups, lambda tag: tpu_least(roles[tag], chip)), roles)
    start = capped(groups, spread(groups, lambda tag: _start(roles[tag], chip)), roles)
    start = fitted(groups, start, least, nested)
    long = [op.operands[0].type for op in walk(module, PhiloxOp, SortOp)]
    start = shrink(groups, start, least, nested, lambda sizes: largest_tile(long, sizes), Budget.UNROLLED_LANES)
    sizes = shrink(groups, start, least, nested, cost, Budget(chip).cell_bytes())
    if not divides:
        return sizes
    kept = {tag for pair in nested for tag in pair} | _halving(module)
    return divided(groups, sizes, lambda group: _walk(group, roles, kept, chip), cost, Budget(chip).cell_bytes())


def _halving(module: ModuleOp) -> set[str]:
    """The tags of blocks whose lanes ops combine or exchange by halves."""
    types = [value.type for op in walk(module, *_HALVING) for value in op.operands]
    return {tag for type in types if isinstance(type, TileType) for tag in type.tags}


def _walk(group: Sequence[str], roles: Mapping[str, Role], kept: set[str], chip: TpuChip) -> Walk | None:
    """What a group walks, in whole tiles of memory; None where its size follows from more than that."""
    own = [roles[tag] for tag in group]
    (extent, *others) = {role.extent for role in own}
    if others or not extent or not kept.isdisjoint(group):
        return None
    if any(role.steps or role.most is not None or role.single for role in own):
        return None
    units = [max(tpu_least(role, chip), _vector(role, chip)) for role in own]
    return Walk(extent, max(units), not all(role.parallel for role in own))


def _vector(role: Role, chip: TpuChip) -> int:
    """Lanes of a vector without rows, which fill whole tiles; of others as many as their narrowest elements pack."""
    if 0 not in role.places:
        return 1
    if role.flat and role.vector and role.places == {0}:
        return chip.lanes * chip.sublanes
    return chip.lanes * max(1, 32 // min(role.bits, default=32))


def tpu_cost(module: ModuleOp, resident: bool) -> Callable[[Sizes], int]:
    """What a cell of a module takes of VMEM, by its block sizes."""
    return footprint(module, () if resident else _hoistable(module))


def _hoistable(module: ModuleOp) -> list[SSAValue]:
    """The ranges of the loops that may be dimensions of their grids."""
    found = []
    for grid in walk(module, GridOp):
        with suppress(NotHoistable):
            found.append(plan_hoist(grid).loop.range)
    return found


def _start(role: Role, chip: TpuChip) -> int:
    if role.single:
        return 1
    extent = role.extent
    if extent is None:
        generous = _COMPUTED_LANES if role.places == {0} else _COMPUTED_ROWS
        extent = min(generous, role.within or generous)
    most = 1
    if 0 in role.places or role.dot & {"n", "k"}:
        most = _FLAT if role.flat else _LANES if role.places == {0} and not role.dot else _BLOCK
    elif 1 in role.places or role.dot or role.steps or not role.places or role.extent is None:
        most = _BLOCK
    return max(tpu_least(role, chip), min(power_of_two(extent), most))


def tpu_unit(role: Role, size: int, chip: TpuChip) -> int:
    """What a size must be a multiple of: a tile of memory, unless one block holds the whole extent."""
    if role.extent is not None and size >= role.extent:
        return 1
    return tpu_least(role, chip)


def tpu_least(role: Role, chip: TpuChip) -> int:
    """A tile of memory, or all where that is less; vectors that go with rows of other arrays are cut like those.

    What is lanes alone takes whole tiles, which memory has anyway, and DMAs move nothing less; but not where each lane
    stands for a row of others (``steps``).
    """
    if role.single:
        return 1
    cut = role.vector and role.places > {0} and role.extent is not None
    rows = bool(role.places & {0, 1} or role.dot)
    lanes = (0 in role.places and not cut) or role.dot & {"n", "k"}
    least = chip.lanes if lanes else _sublanes(role, chip) if rows else 1
    if role.extent is None or role.places == {0} and not role.steps:
        return least
    return min(least, power_of_two(role.extent))


def _sublanes(role: Role, chip: TpuChip) -> int:
    """Rows of one hardware tile, for the narrowest elements that the axis indexes: 8 for 32 bits, 16, 32."""
    return chip.sublanes * max(1, 32 // min(role.bits, default=32))
