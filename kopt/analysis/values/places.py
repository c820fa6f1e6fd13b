"""Which memory comes for a gather from flat storage: what lies near one number, near one for each place, or all of it.

Pure. Memory is counted in units, the rows that DMAs move one by one: 128 elements, groups of 8 and 32 such rows below
32 bits. The lanes of ``x[400000 - (rows[:, None] * 64 + j[None, :] % 32)]`` lie near a number of each row of a block.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import gcd, prod
from typing import Literal

from xdsl.ir import Operation, SSAValue

from kopt.analysis.values.form import element_bits
from kopt.analysis.values.lane_runs import lane_run, run_along_last
from kopt.analysis.values.runs import unit_of
from kopt.dialects.tile import ForOp, GridOp, LoadOp, array_type, is_gather, is_number, tile_type
from kopt.ir.access_relation import settled
from kopt.ir.condition import Condition
from kopt.ir.from_access import relation_of
from kopt.ir.index_expr import IndexExpr
from kopt.ir.nearness import near
from kopt.ir.ranges import binding
from kopt.ir.sums import SumAnalysis
from kopt.ir.to_tiles import TileWriter
from kopt.targets.budget import Budget
from kopt.targets.chips import TpuChip

#: How many times the units that cells ask for a whole array may be, where it comes once in place of those.
_HELD = 4


@dataclass(frozen=True)
class GatherPlaces:
    """The places of a load: its lanes along ``dims``. All lanes of a place are in ``count`` units of memory, from the
    one on that has element ``first``; each is ``distance`` elements after that."""

    dims: tuple[int, ...]
    first: IndexExpr
    count: int
    distance: IndexExpr

    def units(self, shape: Sequence[int]) -> int:
        """The units that come for a block of lanes."""
        return self.count * prod(shape[dim] for dim in self.dims)


def memory_for(load: LoadOp, sums: SumAnalysis, chip: TpuChip) -> GatherPlaces | Literal["near", "whole"] | None:
    """What comes for a load from an array of one dimension: the fewest units; None for those of its runs or lanes.

    All of an array that is no more than what comes for one block, and small, comes whole. So it does,
    once for all cells, for the block ``near`` one number, unless it is much more than these blocks are together. Of
    an array that half of VMEM does not hold such blocks come themselves.
    """
    if (entry := flat_index(load)) is None:
        return None
    shape, unit, (extent,) = tile_type(entry).shape, unit_of(load), array_type(load.memory).get_shape()
    best, runs = best_places(settled(sums.exact.expr(entry), extent), shape, unit), units_of_runs(load, sums)
    if comes_whole(load, runs if best is None else min(runs, best.units(shape))):
        return "whole"
    if best is None or best.units(shape) > runs:
        return None
    is_little = is_held(load, best.count) or not Budget(chip).holds_array(4 * extent)
    if not best.dims and is_little:
        return "near"
    run = lane_run(entry, sums)
    in_steps = run is not None and run.step > 1  # these are picked sooner than every n-th lane is
    return best if best.units(shape) < runs or in_steps and best.dims else None


def comes_whole(load: LoadOp, units: int) -> bool:
    """Whether all of an array of one dimension is no more than so many units, and small."""
    whole = _whole(load)
    return whole <= units and whole * unit_of(load) * element_bits(load.memory) // 8 <= Budget.TAKEN_FROM


def is_held(load: LoadOp, units: int) -> bool:
    """Whether all of an array of one dimension is not much more than the units that come for all blocks together."""
    return _whole(load) <= _HELD * _visits(load) * units


def _whole(load: LoadOp) -> int:
    return -(-array_type(load.memory).get_shape()[0] // unit_of(load))


def comes_by_dma(load: LoadOp, places: GatherPlaces) -> bool:
    """Whether the units of all places together are less than the array, which a product of rows would bring whole."""
    shape = tile_type(load.indices[0]).shape
    return not places.dims or _visits(load) * places.units(shape) < _whole(load)


def best_places(index: IndexExpr, shape: Sequence[int], unit: int) -> GatherPlaces | None:
    """The lanes along those dimensions as places for which the fewest units come; None where nothing tells."""
    found = [one for dims in _fewer(shape) if (one := _places(index, shape, unit, dims)) is not None]
    return min(found, key=lambda one: one.units(shape), default=None)


def units_of_runs(load: LoadOp, sums: SumAnalysis) -> int:
    """The units that come for each lane of a load by itself, or for its runs of lanes."""
    (entry,) = load.indices
    return _units_of_runs(sums.expr(entry), tile_type(entry).shape, unit_of(load))


def least_units(index: IndexExpr, form: IndexExpr, shape: Sequence[int], unit: int) -> int:
    """The fewest units that come for an index over a block of a shape; ``form`` is its sum of what keeps its name."""
    runs, best = _units_of_runs(form, shape, unit), best_places(index, shape, unit)
    return runs if best is None else min(runs, best.units(shape))


def _units_of_runs(form: IndexExpr, shape: Sequence[int], unit: int) -> int:
    run = run_along_last(form, shape)
    if run is None:
        return prod(shape)
    return min(prod(shape), prod(shape[:-1]) * _units(run.first, run.step * (run.size - 1) + 1, unit))


def row_places(load: LoadOp, sums: SumAnalysis) -> tuple[int, ...] | None:
    """The dimensions of lanes that the rows of a matrix differ along, of which others repeat them; else None."""
    *others, last = load.entries
    gathers = [entry for entry in load.entries if is_gather(entry)]
    known = all(is_number(entry) or entry in gathers for entry in load.entries)
    if not others or last not in gathers or len(gathers) < 2 or not known or element_bits(load.memory) > 32:
        return None
    shape = tile_type(gathers[0]).shape
    along = frozenset[int]().union(*(sums.expr(index).along for index in gathers[:-1]))
    dims = tuple(dim for dim, size in enumerate(shape) if size > 1 and dim in along)
    if not dims or prod(shape[dim] for dim in dims) == prod(shape):
        return None
    lanes = array_type(load.memory).get_shape()[-1]
    is_picked = prod(shape) * lanes <= Budget.PICKED_FROM
    return dims if is_picked or other_dim(dims, shape, sums.expr(gathers[-1])) is not None else None


def cases_of(load: LoadOp, sums: SumAnalysis) -> tuple[Condition, list[tuple[IndexExpr, GatherPlaces]]] | None:
    """The condition of a choice in an index, and the index and its places where it holds and where not; None where
    less memory comes without."""
    if (entry := flat_index(load)) is None:
        return None
    pieces = relation_of(load, sums.exact).pieces
    if len(pieces) != 2:
        return None
    shape, unit, indices = tile_type(entry).shape, unit_of(load), [piece.indices[0] for _, piece in pieces]
    found = [(index, places) for index in indices if (places := best_places(index, shape, unit)) is not None]
    if len(found) < len(indices) or not all(map(TileWriter.can_write, indices)):
        return None
    units = sum(places.units(shape) for _, places in found)
    return (pieces[0][0], found) if units < units_of_runs(load, sums) else None


def other_dim(dims: Sequence[int], shape: Sequence[int], lanes: IndexExpr) -> int | None:
    """The one dimension that lanes of places along one other are repeated along, the same for all places; else None."""
    wide = [dim for dim, size in enumerate(shape) if size > 1 and dim not in dims]
    return wide[0] if len(dims) == len(wide) == 1 and lanes.along <= {*wide} else None


def flat_index(load: LoadOp) -> SSAValue | None:
    """The index tile of a load from an array of one dimension, of elements that are picked."""
    (entry,) = load.entries if len(load.entries) == 1 else (None,)
    return entry if is_gather(entry) and element_bits(load.memory) <= 32 else None


def _places(index: IndexExpr, shape: Sequence[int], unit: int, dims: tuple[int, ...]) -> GatherPlaces | None:
    """The lanes along some dimensions as places; None where nothing tells what the others are near, or they are too
    many to be picked."""
    found = near(index, frozenset(dims))
    if found is None or (span := found.distance.size) is None or not TileWriter.can_write(found.base):
        return None
    first = found.base + (found.distance.low or 0)
    places = GatherPlaces(dims, first, _units(first, span, unit), index - first)
    is_alike = other_dim(dims, shape, places.distance) is not None and TileWriter.can_write(places.distance)
    is_picked = prod(shape) * places.count * unit <= Budget.PICKED_FROM
    return places if is_alike or is_picked or not dims else None


def _units(first: IndexExpr, span: int, unit: int) -> int:
    """How many units of memory have ``span`` elements from a first one on, wherever that is."""
    assert isinstance(first.const, int)
    pitch = gcd((first - first.const).divisor, unit)
    return -(-(unit - pitch + first.const % pitch + span) // unit)


def _fewer(shape: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Some of the dimensions of more than one lane, but not all of them: the fewest first."""
    wide = [dim for dim, size in enumerate(shape) if size > 1]
    for count in range(len(wide)):
        yield from combinations(wide, count)


def _visits(op: Operation) -> int:
    """How often an op runs in a launch, as far as that is known."""
    count, around = 1, op.parent_op()
    while around is not None:
        ranges = around.ranges if isinstance(around, GridOp) else [around.range] if isinstance(around, ForOp) else []
        count *= prod(binding(range).trips or 1 for range in ranges)
        around = around.parent_op()
    return count
