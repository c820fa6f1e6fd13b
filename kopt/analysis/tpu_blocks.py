"""The block sizes that a kernel may have on a TPU: whole tiles of its memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from kopt.analysis.block_roles import Role
from kopt.analysis.block_search import (
    Nested,
    Sizes,
    capped,
    largest_tile,
    nested_loops,
    spread,
    tile_types,
)
from kopt.analysis.cell_footprint import footprint
from kopt.analysis.hoisting import NotHoistable, plan_hoist
from kopt.dialects.tile import AssociativeOp, GridOp, PhiloxOp, ScanOp, SortOp, TileType
from kopt.ir.widths import next_power_of_two
from kopt.planning.block_sizes import Candidates, space
from kopt.targets.budget import Budget
from kopt.targets.chips import TpuChip
from kopt.walk import walk

#: The most elements in blocks of loops with computed bounds: what lies beyond short items is fetched in vain.
_COMPUTED_ROWS = 512
_COMPUTED_LANES = 4096
#: Divisors that make more blocks than this are not looked at: powers of two are as good.
_MOST_TRIPS = 64
#: Ops that go by halves of their lanes, or draw a power of two at once.
_HALVING = (ScanOp, SortOp, AssociativeOp, PhiloxOp)


@dataclass(frozen=True)
class TpuSpace:
    """The block sizes that a module may have on a TPU: whole tiles of memory, by what blocks are used for."""

    module: ModuleOp
    groups: Sequence[Sequence[str]]
    roles: Mapping[str, Role]
    chip: TpuChip

    def candidates(self, divides: bool = True) -> Candidates:
        """Sizes by tag, arrays with a number for each candidate; ``divides``: not only powers of two."""
        kept = {tag for pair in self._nested for tag in pair} | _halving(self.module)
        found = space({group[0]: self._sizes(group, kept if divides else {*group}) for group in self.groups})
        sizes = {tag: found[group[0]] for group in self.groups for tag in group}
        good = self._are_possible(sizes)
        least = {tag: np.array([size]) for tag, size in self.least.items()}
        return {tag: column[good] for tag, column in sizes.items()} if good.any() else least

    @cached_property
    def least(self) -> Sizes:
        """The smallest sizes."""
        return capped(self.groups, spread(self.groups, lambda tag: tpu_least(self.roles[tag], self.chip)), self.roles)

    def _are_possible(self, sizes: Candidates) -> np.ndarray:
        """Which candidates have no loop with larger blocks than it walks, and nothing that takes libtpu minutes."""
        types = [op.operands[0].type for op in walk(self.module, PhiloxOp, SortOp)]
        drawn = [type for type in types if isinstance(type, TileType)]
        good = largest_tile(drawn, sizes) <= Budget.UNROLLED_LANES
        good &= largest_tile(tile_types(self.module), sizes) <= Budget.BLOCK_LANES
        for inner, outer in self._nested:
            if inner in sizes and outer in sizes:
                good = good & (sizes[inner] <= sizes[outer])
        return np.broadcast_to(good, next(iter(sizes.values())).shape)

    @cached_property
    def _nested(self) -> Nested:
        return nested_loops(self.module, self.roles)

    def _sizes(self, group: Sequence[str], kept: Collection[str]) -> list[int]:
        """The sizes of one group: powers of two times the least, and divisors of what it walks."""
        roles = [self.roles[tag] for tag in group]
        least = self.least[group[0]]
        if any(role.single for role in roles):
            return [least]
        most = min([_most(role, self.chip) for role in roles] + [role.most for role in roles if role.most is not None])
        powers = [least << n for n in range(max(1, (max(1, most) // least).bit_length()))]
        extent = None if any(tag in kept for tag in group) else _walked_extent(roles)
        unit = max(max(tpu_least(role, self.chip), _vector(role, self.chip)) for role in roles)
        return [*powers, *(_divisors(extent, unit, least, most) if extent else ())]


def _halving(module: ModuleOp) -> set[str]:
    """The tags of blocks whose lanes ops combine or exchange by halves."""
    types = [value.type for op in walk(module, *_HALVING) for value in op.operands]
    return {tag for type in types if isinstance(type, TileType) for tag in type.tags}


def _walked_extent(roles: Sequence[Role]) -> int | None:
    """The elements that the loops of a group walk; None where its size follows from more than that."""
    (extent, *others) = {role.extent for role in roles}
    bound = any(role.steps or role.most is not None or role.single for role in roles)
    return None if others or bound else extent


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


def _divisors(extent: int, unit: int, least: int, most: int) -> Iterator[int]:
    """The divisors of what loops walk that are whole units."""
    for trips in range(-(-extent // most), min(_MOST_TRIPS, extent // least) + 1):
        block, rest = divmod(extent, trips)
        if not rest and block % unit == 0:
            yield block


def _most(role: Role, chip: TpuChip) -> int:
    """The largest size that is looked at: all that is walked, as a power of two."""
    extent = role.extent
    if extent is None:
        generous = _COMPUTED_LANES if role.places == {0} else _COMPUTED_ROWS
        extent = min(generous, role.within or generous)
    if role.vector and role.places == {0} and min(role.bits, default=32) < 32:
        extent = min(extent, Budget.NARROW_VECTOR_LANES)
    return max(tpu_least(role, chip), next_power_of_two(extent))


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
    return min(least, next_power_of_two(role.extent))


def _sublanes(role: Role, chip: TpuChip) -> int:
    """Rows of one hardware tile, for the narrowest elements that the axis indexes: 8 for 32 bits, 16, 32."""
    return chip.sublanes * max(1, 32 // min(role.bits, default=32))
