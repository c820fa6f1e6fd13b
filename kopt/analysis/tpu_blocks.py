"""The block sizes that a kernel may have on a TPU: whole tiles of its memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.ir import Operation, SSAValue

from kopt.analysis.block_roles import Role
from kopt.analysis.block_search import (
    BlockSpace,
    Shape,
    lanes_of_all,
    largest_tile,
    made_in,
    powers,
    tile_shapes,
)
from kopt.analysis.launch_models.factors import is_multiplied
from kopt.analysis.launch_models.merged_dims import open_analysis
from kopt.analysis.running_sums import is_product
from kopt.analysis.scope import ancestors
from kopt.cached_property import cached_property
from kopt.dialects.tile import (
    AssociativeOp,
    ConcatOp,
    DotOp,
    DynamicSliceOp,
    ForOp,
    LoadOp,
    PhiloxOp,
    ScanOp,
    SliceOp,
    SortOp,
    TakeAlongOp,
    TileType,
    TransposeOp,
    tag_of,
)
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.widths import next_power_of_two
from kopt.planning.block_sizes import Candidates
from kopt.targets.budget import Budget
from kopt.targets.chips import TpuChip
from kopt.walk import walk

#: The most elements in blocks of loops whose bounds only a launch tells: beyond short items is fetched in vain.
_COMPUTED_ROWS = 512
_COMPUTED_LANES = 4096
#: Divisors that make more blocks than this are not looked at: powers of two are as good.
_MOST_TRIPS = 64
#: Ops that go by halves of their lanes, or draw a power of two at once.
_HALVING = (ScanOp, SortOp, AssociativeOp, PhiloxOp)
#: Products' blocks have bounds of their own; what lays out lanes anew takes libtpu a minute for a million.
_SMALL = (DotOp, ConcatOp, SliceOp, DynamicSliceOp, TakeAlongOp, TransposeOp)


@dataclass(frozen=True)
class TpuSpace(BlockSpace):
    """The block sizes that a module may have on a TPU: whole tiles of memory, by what blocks are used for.

    ``divides`` is whether they may be other than powers of two.
    """

    chip: TpuChip
    divides: bool = True

    def _least(self, role: Role) -> int:
        return tpu_least(role, self.chip)

    def large(self, sizes: Candidates) -> np.ndarray:
        """Those with values of more elements than are looked at otherwise."""
        return largest_tile(self._written_out(open_analysis(self.module, [*sizes])), sizes) > Budget.BLOCK_LANES

    def _written_out(self, analysis: IndexAnalysis) -> list[Shape]:
        """The shapes of the values whose ops Mosaic writes out, register by register."""
        return tile_shapes((value for value in made_in(self.module) if not _is_streamed(value)), analysis)

    def _is_possible(self, sizes: Candidates) -> np.ndarray:
        """Not what takes libtpu minutes."""
        analysis = open_analysis(self.module, [*sizes])
        shapes = self._written_out(analysis)
        drawn_from = [op.operands[0] for op in walk(self.module, PhiloxOp, SortOp)]
        drawn, largest = largest_tile(tile_shapes(drawn_from, analysis), sizes), largest_tile(shapes, sizes)
        kept = not walk(self.module, *_SMALL)
        few = (largest <= Budget.LARGE_BLOCK_LANES) & (lanes_of_all(shapes, sizes) <= Budget.FEW_LANES) & kept
        products = [op for op in walk(self.module, DotOp) if self._is_revisited(op)]
        multiplied = lanes_of_all(_products(products, analysis), sizes) <= Budget.MULTIPLY_ADDS
        return multiplied & (drawn <= Budget.UNROLLED_LANES) & ((largest <= Budget.BLOCK_LANES) | few)

    def _is_revisited(self, op: Operation) -> bool:
        """Whether an op is in a loop whose bounds only a launch tells: no dimension of the grid."""
        loops = (outer for outer in ancestors(op) if isinstance(outer, ForOp))
        roles = (self.roles.get(tag_of(loop.range)) for loop in loops)
        return any(role is not None and role.extent is None and role.reach is None for role in roles)

    @cached_property
    def _halved(self) -> set[str]:
        """The tags of blocks whose lanes ops combine or exchange by halves, or that loops walk."""
        halving = (op for op in walk(self.module, *_HALVING) if not (isinstance(op, ScanOp) and is_product(op)))
        types = [value.type for op in halving for value in op.operands]
        nested = {tag for pair in self.nested for tag in pair}
        return nested | {tag for type in types if isinstance(type, TileType) for tag in type.tags}

    def _sizes(self, group: Sequence[str]) -> list[int]:
        """The sizes of one group: powers of two times the least, and divisors of what it walks."""
        roles = [self.roles[tag] for tag in group]
        least = self.least[group[0]]
        if any(role.single for role in roles):
            return [least]
        most = min([_most(role, self.chip) for role in roles] + [role.most for role in roles if role.most is not None])
        if rows := _rows(roles):
            return powers(rows, max(rows, most))
        divides = self.divides and self._halved.isdisjoint(group)
        extent = _walked_extent(roles) if divides else None
        unit = max(max(tpu_least(role, self.chip), _vector(role, self.chip)) for role in roles)
        return [*powers(least, most), *(_divisors(extent, unit, least, most) if extent else ())]


def _is_streamed(value: SSAValue) -> bool:
    """Whether products alone take a value, as memory has it: the matrix unit reads it row by row."""
    return isinstance(value.owner, LoadOp) and bool(value.uses) and is_multiplied(value)


def _products(dots: Sequence[DotOp], analysis: IndexAnalysis) -> list[Shape]:
    """The shapes of what products multiply: lanes of the result, by those that are summed."""
    results = tile_shapes((dot.result for dot in dots), analysis)
    factors = tile_shapes((dot.lhs for dot in dots), analysis)
    return [(*result, factor[-1]) for result, factor in zip(results, factors, strict=True)]


def _rows(roles: Sequence[Role]) -> int | None:
    """The least block of whole rows of flattened arrays, where it is no longer than a block may be."""
    (rows, *others) = {role.rows for role in roles}
    return None if others or rows is None or rows > Budget.BLOCK_LANES else rows


def _walked_extent(roles: Sequence[Role]) -> int | None:
    """The elements that the loops of a group walk; None where its size follows from more than that."""
    (extent, *others) = {role.extent for role in roles}
    bound = any(role.steps or role.most is not None or role.single for role in roles)
    return None if others or bound else extent


def _vector(role: Role, chip: TpuChip) -> int:
    """Lanes of a vector without rows, which fill whole tiles; of others as many as their narrowest elements pack.

    Not of what products take: the matrix unit reads it by 128 lanes.
    """
    if 0 not in role.places or role.dot:
        return 1
    if role.flat and role.vector and role.places == {0}:
        return chip.lanes * chip.sublanes
    return chip.lanes * max(1, 32 // min(role.bits, default=32))


def _divisors(extent: int, unit: int, least: int, most: int) -> Iterator[int]:
    """The divisors of what loops walk that are whole units."""
    for trips in range(-(-extent // most), min(_MOST_TRIPS, extent // least) + 1):
        block, rest = divmod(extent, trips)
        if not rest and block % unit == 0:
            yield block


def _most(role: Role, chip: TpuChip) -> int:
    """The largest size that is looked at: all that is walked, as a power of two."""
    extent = role.extent
    if extent is None and role.reach is not None:
        extent = min(role.reach, role.within or role.reach)
    elif extent is None:
        generous = _COMPUTED_LANES if role.places == {0} else _COMPUTED_ROWS
        extent = min(generous, role.within or generous)
    if role.vector and role.places == {0} and not role.rows and min(role.bits, default=32) < 32:
        extent = min(extent, Budget.NARROW_VECTOR_LANES)
    return max(tpu_least(role, chip), next_power_of_two(extent))


def tpu_unit(role: Role, size: int, chip: TpuChip) -> int:
    """What a size must be a multiple of: a tile of memory, unless one block holds whole rows or the whole extent."""
    if role.extent is not None and size >= role.extent or role.rows and size % role.rows == 0:
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
