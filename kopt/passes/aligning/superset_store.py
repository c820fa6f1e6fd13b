"""Puts the block of one store into the aligned, larger block of memory around it."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects import arith
from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue
from xdsl.rewriter import Rewriter

from kopt.analysis.storage import wide
from kopt.dialects.builder import Builder, named
from kopt.dialects.tile import (
    ConcatOp,
    DimAttr,
    DynamicSliceOp,
    Entry,
    FullOp,
    IndexOp,
    LoadOp,
    RangeType,
    SplatOp,
    StoreOp,
    TileType,
    block_axes,
    element_of,
    range_type,
    tile_type,
)
from kopt.dialects.tile.index_list import is_range
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.ranges import always_full, ranges_in_scope
from kopt.passes.aligning.superset import aligned_block, aligned_size, own_size, stands_at_multiples, start
from kopt.passes.retyping import all_lanes


class Merger:
    """Rewrites one store, whose block begins between multiples of the ``units`` of some dimensions."""

    def __init__(self, store: StoreOp, units: Mapping[int, int], analysis: IndexAnalysis):
        self.store, self.units, self.build = store, units, Builder(store)
        self.entries, self.analysis = list(store.entries), analysis

    def run(self) -> None:
        store, build = self.store, self.build
        value, keep = self._with_units(store.value), store.mask and self._with_units(store.mask)
        keep = build.both(keep, self._valid(value))
        element = element_of(value)
        value = build.cast(value, wide(element))
        flags = keep and build.cast(keep, i32)
        places = {axis.position: number for number, axis in enumerate(self._axes())}
        limits: list[tuple[int, SSAValue, SSAValue, SSAValue]] = []
        for dim, unit in self.units.items():
            entry = self.entries[dim]
            begins, own = start(entry, build), own_size(entry)
            size = aligned_size(entry, unit, self.analysis)
            larger, offset = aligned_block(entry, begins, unit, size, self._shape[dim], build, self.analysis)
            self.entries[dim] = larger
            known = None if stands_at_multiples(entry, unit, self.analysis) else offset
            value = self._placed(value, places[dim], known, larger)
            flags = flags and self._placed(flags, places[dim], known, larger)
            limits.append((places[dim], larger, begins, build.add(arith.AddiOp(begins, build.index(own)))))
        inside = build.with_number("ne", flags, 0) if flags is not None else None
        for place, larger, first, end in limits:
            inside = build.both(inside, self._between(tile_type(value), place, larger, first, end))
        assert inside is not None
        old = build.add(LoadOp(store.memory, self.entries, attributes=store.attributes), "old")
        value = build.cast(value, element)
        new = named(build.select(inside, self._like(value, old), old), "new")
        build.insert(StoreOp(new, store.memory, self.entries, None, store.attributes))
        Rewriter.erase_op(store)

    def _with_units(self, value: SSAValue) -> SSAValue:
        """A block with dimensions of one lane where single elements are chosen."""
        return self.build.reshape(value, self._dims(value))

    def _dims(self, value: SSAValue) -> list[DimAttr]:
        own = iter(tile_type(value).dims.data)
        kept = {axis.position for axis in block_axes(self.store.entries, self._shape)}
        numbers = range(len(self.entries))
        return [next(own) if n in kept else DimAttr(1) for n in numbers if n in kept or n in self.units]

    def _axes(self):
        """The dimensions of the block, those of one lane among them."""
        units = {n for n in self.units if _is_single(self.entries[n])}
        entries = [self._one_lane() if n in units else entry for n, entry in enumerate(self.entries)]
        return block_axes(entries, self._shape)

    def _one_lane(self) -> SSAValue:
        return self.build.add(all_lanes(1, self.store))

    @property
    def _shape(self) -> tuple[int, ...]:
        return self.store.memory.type.get_shape()  # pyright: ignore[reportAttributeAccessIssue]

    def _placed(self, value: SSAValue, place: int, offset: SSAValue | None, larger: SSAValue) -> SSAValue:
        """A block's lanes from ``offset`` on in one dimension of the larger block; the others are any.

        None is any multiple of the block's own lanes: they stand at all of these. Blocks may begin before the array, by
        fewer lanes than they have.
        """
        type = tile_type(value)
        own, size = type.shape[place], range_type(larger).size
        if offset is None:
            joined = self.build.add(ConcatOp([value] * (size // own), place))
            return self.build.reshape(joined, self._with_dim(type, place, range_type(larger).dim))
        front, back = self._filler(value, place, size), self._filler(value, place, size + -own % size)
        front_end = self.build.index(size)
        joined = self.build.add(ConcatOp([front, value, back], place))  # whole registers
        dims = self._with_dim(type, place, range_type(larger).dim)
        inside = self.build.add(arith.MaxSIOp(self.build.add(arith.MinSIOp(offset, front_end)), self.build.index(-own)))
        skip = self.build.add(arith.SubiOp(front_end, inside))
        return self.build.add(DynamicSliceOp(joined, skip, place, type.with_dims(dims)))

    def _filler(self, value: SSAValue, place: int, size: int) -> SSAValue:
        type = tile_type(value)
        return self.build.add(FullOp(0, type.with_dims(self._with_dim(type, place, DimAttr(size)))))

    def _with_dim(self, type: TileType, place: int, new: DimAttr) -> list[DimAttr]:
        return [new if n == place else dim for n, dim in enumerate(type.dims.data)]

    def _between(self, type: TileType, place: int, range: SSAValue, start: SSAValue, end: SSAValue) -> SSAValue:
        """Which lanes of a block are from ``start`` to ``end`` in one dimension."""
        build, numbers = self.build, type.with_element(i32)
        lanes = build.spread(build.add(IndexOp(range)), numbers.dims.data, [place])
        after = build.compute("ge", lanes, build.add(SplatOp(start, numbers)))
        return build.compute("and", after, build.compute("lt", lanes, build.add(SplatOp(end, numbers))))

    def _valid(self, value: SSAValue) -> SSAValue | None:
        """Which lanes lie inside the ranges of the dimensions that become larger, which are ranges no more."""
        scope = ranges_in_scope(self.store)
        tags = [entry.type.tag for n in self.units if is_range(entry := self.entries[n])]  # pyright: ignore
        ranges = [scope.get(tag) if tag in tags else None for tag in tile_type(value).tags]
        limits = [None if range is None or always_full(range) else range for range in ranges]
        return self.build.inside(tile_type(value).dims.data, limits)

    def _like(self, value: SSAValue, old: SSAValue) -> SSAValue:
        return value if value.type == old.type else self.build.reshape(value, tile_type(old).dims.data)


def _is_single(entry: Entry) -> bool:
    return isinstance(entry, int) or isinstance(entry, SSAValue) and not isinstance(entry.type, RangeType)
