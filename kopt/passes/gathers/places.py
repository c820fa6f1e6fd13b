"""Gathers whose lanes lie near a number of each place: ``x[400000 - (rows[:, None] * 64 + j[None, :] % 32)]``.

The rows of memory around the number of each place come once for all of its lanes, which are picked from them on the
chip.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import gcd, prod

from xdsl.ir import SSAValue

from kopt.dialects.tile import ALL, DimAttr, Entry, LoadOp, TakeAlongOp, is_gather, is_number
from kopt.ir.access_relation import settled
from kopt.ir.index_expr import IndexExpr
from kopt.ir.nearness import near
from kopt.ir.rewriting import moved
from kopt.ir.sums import SumAnalysis
from kopt.ir.to_tiles import TileWriter
from kopt.passes.gathers.access import GROUP
from kopt.passes.gathers.building import Arrays, array_type, element_bits, replace_load
from kopt.passes.gathers.indices import tile_of
from kopt.passes.gathers.lane_runs import lane_run
from kopt.passes.mosaic.building import element_of, type_of, wide
from kopt.passes.replacing import replacing
from kopt.passes.scatters.building import Builder
from kopt.targets.budget import Budget
from kopt.targets.tiling import LANES


@dataclass(frozen=True)
class Places:
    """The places of a load from flat storage: its lanes along ``dims``. All lanes of a place are in ``count`` units of
    memory, from the one on that has element ``first``."""

    dims: tuple[int, ...]
    first: IndexExpr
    count: int


def fetch_places(load: LoadOp, arrays: Arrays, sums: SumAnalysis) -> LoadOp | None:
    """Puts picks from the rows of each place in a load's place; gives the load of the rows. None where that is no less.

        %v = tile.load %x[%at] : memref<6000xf32> -> !tile.tile<b0=16 x b1=64 x f32>   // %s[:, None] * 64 + %j % 16
    becomes
        %r = tile.load %rows[%n, :] : memref<47x128xf32> -> !tile.tile<b0=16 x 1 x 128 x f32>   // %s * 64 / 128
        …   // of %r lanes %at - %n * 128

    Of an array of several dimensions the rows by numbers that some dimensions of the block repeat come whole.
    """
    if (places := places_of(load, sums)) is not None:
        return _of_flat(load, places, arrays, sums)
    if (dims := row_places(load, sums)) is not None:
        return _of_rows(load, dims, sums)
    return None


def places_of(load: LoadOp, sums: SumAnalysis) -> Places | None:
    """The places of a load for which the fewest units come; None where its runs of lanes need no more. Pure."""
    entry = _flat_index(load)
    if entry is None:
        return None
    unit, shape = _unit(load), type_of(entry).shape
    index = settled(sums.exact.expr(entry), array_type(load.memory).get_shape()[0])
    best, least = None, _least(entry, unit, sums)
    for dims in _fewer(shape):
        found = near(index, frozenset(dims))
        if found is None or (span := found.distance.size) is None or not TileWriter.can_write(found.base):
            continue
        first = found.base + (found.distance.low or 0)
        count = _units(first, span, unit)
        units = count * prod(shape[dim] for dim in dims)
        if units < least and prod(shape) * count * unit <= Budget.PICKED_FROM:
            best, least = Places(dims, first, count), units
    return best


def is_whole_less(load: LoadOp, sums: SumAnalysis) -> bool:
    """Whether all of an array of one dimension is no more than what would come for one block's lanes. Pure."""
    entry = _flat_index(load)
    if entry is None:
        return False
    unit, shape, places = _unit(load), type_of(entry).shape, places_of(load, sums)
    count = _least(entry, unit, sums) if places is None else places.count * prod(shape[dim] for dim in places.dims)
    return -(-array_type(load.memory).get_shape()[0] // unit) <= count


def row_places(load: LoadOp, sums: SumAnalysis) -> tuple[int, ...] | None:
    """The dimensions of lanes that the rows of a matrix differ along, of which others repeat them; else None. Pure."""
    *others, last = load.entries
    gathers = [entry for entry in load.entries if isinstance(entry, SSAValue) and is_gather(entry)]
    known = all(is_number(entry) or entry in gathers for entry in load.entries)
    if not others or last not in gathers or len(gathers) < 2 or not known or element_bits(load.memory) > 32:
        return None
    shape = type_of(gathers[0]).shape
    along = frozenset[int]().union(*(sums.expr(index).along for index in gathers[:-1]))
    dims = tuple(dim for dim, size in enumerate(shape) if size > 1 and dim in along)
    lanes = array_type(load.memory).get_shape()[-1]
    is_less = bool(dims) and prod(shape[dim] for dim in dims) < prod(shape)
    return dims if is_less and (_are_own(load, dims, sums) or prod(shape) * lanes <= Budget.PICKED_FROM) else None


def _flat_index(load: LoadOp) -> SSAValue | None:
    """The index tile of a load from an array of one dimension, of elements that are picked."""
    (entry,) = load.entries if len(load.entries) == 1 else (None,)
    is_picked = isinstance(entry, SSAValue) and is_gather(entry) and element_bits(load.memory) <= 32
    return entry if is_picked else None  # pyright: ignore[reportReturnType]


def _unit(load: LoadOp) -> int:
    """The elements that one DMA brings at least."""
    return GROUP.get(element_bits(load.memory), 1) * LANES


def _least(entry: SSAValue, unit: int, sums: SumAnalysis) -> int:
    """The units that come for each lane of an index tile by itself, or for its runs of lanes."""
    shape, run = type_of(entry).shape, lane_run(entry, sums)
    if run is None:
        return prod(shape)
    return min(prod(shape), prod(shape[:-1]) * _units(run.first, run.step * (run.size - 1) + 1, unit))


def _units(first: IndexExpr, span: int, unit: int) -> int:
    """How many units of memory have ``span`` elements from a first one on, wherever that is."""
    assert isinstance(first.const, int)
    pitch = gcd((first - first.const).divisor, unit)
    return -(-(unit - pitch + first.const % pitch + span) // unit)


def _fewer(shape: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Some of the dimensions of more than one lane, but not all of them: the fewest first."""
    wide = [dim for dim, size in enumerate(shape) if size > 1]
    for count in range(1, len(wide)):
        yield from combinations(wide, count)


def _of_flat(load: LoadOp, places: Places, arrays: Arrays, sums: SumAnalysis) -> LoadOp:
    (entry,) = load.entries
    assert isinstance(entry, SSAValue)
    build, unit = Builder(load), _unit(load)
    all_dims, (extent,) = type_of(entry).dims.data, array_type(load.memory).get_shape()
    dims = [DimAttr(all_dims[dim].size.data) for dim in places.dims]
    first = tile_of(_along(places.first, places.dims), dims, build, sums)
    number = build.with_number("shr", first, unit.bit_length() - 1)
    begins = build.with_number("mul", number, unit)
    several = [*dims, DimAttr(places.count)]
    rows = build.spread(number, several, range(len(dims)))
    rows = build.compute("add", rows, build.numbers(places.count, several, len(dims)))
    count = -(-extent // unit)
    shape = [count, LANES] if unit == LANES else [count, unit // LANES, LANES]
    memory = arrays.view(load.memory, [count * unit], shape)
    found = replacing(load, LoadOp(memory, [rows, *[ALL] * (len(shape) - 1)]))
    value = build.named("rows", found)
    value = build.reshape(build.cast(value, wide(element_of(value))), [*dims, DimAttr(places.count * unit)])
    plain = [DimAttr(dim.size.data) for dim in all_dims]
    within = build.reshape(build.cast(entry, element_of(begins)), plain)
    within = build.compute("sub", within, build.spread(begins, plain, places.dims))
    _pick(load, value, within, places.dims, build)
    return found


def _of_rows(load: LoadOp, dims: tuple[int, ...], sums: SumAnalysis) -> LoadOp:
    build, last = Builder(load), load.entries[-1]
    assert isinstance(last, SSAValue)
    all_dims = type_of(last).dims.data
    own = [DimAttr(all_dims[dim].size.data) for dim in dims]
    entries: list[Entry] = [
        tile_of(_along(sums.expr(entry), dims), own, build, sums)
        if isinstance(entry, SSAValue) and is_gather(entry)
        else entry
        for entry in load.entries[:-1]
    ]
    found = replacing(load, LoadOp(load.memory, [*entries, ALL]))
    value = build.named("rows", found)
    value = build.cast(value, wide(element_of(value)))
    if _are_own(load, dims, sums):
        _pick_alike(load, value, last, dims, build, sums)
    else:
        within = build.reshape(last, [DimAttr(dim.size.data) for dim in all_dims])
        _pick(load, value, within, dims, build)
    return found


def _along(expr: IndexExpr, dims: Sequence[int]) -> IndexExpr:
    """An expression over some dimensions of a block, as one over those alone."""
    return moved({dim: place for place, dim in enumerate(dims)}).expr(expr)


def _pick(load: LoadOp, value: SSAValue, within: SSAValue, dims: Sequence[int], build: Builder) -> None:
    """Puts lanes in a load's place, each by its number, from the row of its place."""
    *_, row = type_of(value).dims.data
    lanes = type_of(within).dims.data
    rows = build.spread(value, [*lanes, row], [*dims, len(lanes)])
    number = build.spread(within, [*lanes, DimAttr(1)], range(len(lanes)))
    _finish(load, build.reshape(build.add(TakeAlongOp(rows, number, len(lanes))), lanes), build)


def _finish(load: LoadOp, value: SSAValue, build: Builder) -> None:
    type = type_of(load.result)
    replace_load(load, build.cast(build.reshape(value, type.dims.data), type.element_type))


def _are_own(load: LoadOp, dims: Sequence[int], sums: SumAnalysis) -> bool:
    """Whether each row gives the same lanes, those of the one dimension that it is repeated along."""
    last = load.entries[-1]
    assert isinstance(last, SSAValue)
    wide_dims = [dim for dim, size in enumerate(type_of(last).shape) if size > 1]
    return len(dims) == 1 and len(wide_dims) == 2 and sums.expr(last).along.isdisjoint(dims)


def _pick_alike(
    load: LoadOp, value: SSAValue, last: SSAValue, dims: Sequence[int], build: Builder, sums: SumAnalysis
) -> None:
    """Puts the same lanes of every row in a load's place: a product, with rows that stand as columns."""
    all_dims = type_of(last).dims.data
    (other,) = (dim for dim, attr in enumerate(all_dims) if attr.size.data > 1 and dim not in dims)
    count = DimAttr(all_dims[other].size.data)
    columns, places = build.transpose(value, [1, 0]), type_of(value).dims.data[0]
    number = tile_of(_along(sums.expr(last), [other]), [count], build, sums)
    picked = build.add(TakeAlongOp(columns, build.spread(number, [count, places], [0]), 0))
    _finish(load, build.transpose(picked, [1, 0]) if dims[0] < other else picked, build)
