"""Updates of one array by row numbers, some of which count columns too: those become updates of whole rows, masked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import MemRefType, i1, i32
from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.ranges import ranges_in_scope
from kopt.analysis.validity import ValidityBuilder
from kopt.dialects.tile import ALL, IndexOp, SplatOp, StoreOp, TakeAlongOp, TileType
from kopt.dialects.tile.types import DimAttr
from kopt.passes.gathers.counted import Scalar, counted, total
from kopt.passes.mosaic.building import element_of, type_of
from kopt.passes.scatters.access import UpdateOp, gathered, repeated
from kopt.passes.scatters.building import Builder


def alike(updates: Sequence[UpdateOp]) -> list[UpdateOp]:
    """The updates, by tiles of numbers along the same dimension where stores count lanes along the others.

        tile.store %v, %x[%rows, %k] …      where %k is 16 lanes from %c on, repeated for each row
    beside an update of ``%x[%rows, :]`` becomes
        %w = tile.take_along %v, %lane dim 1      of each column the lane that it is, column - %c
        tile.store %w, %x[%rows, :] mask 0 <= %lane < 16
    """
    common = set.intersection(*(set(gathered(op)) for op in updates))
    return [_whole(op, common) if isinstance(op, StoreOp) and set(gathered(op)) != common else op for op in updates]


def _whole(store: StoreOp, common: set[int]) -> StoreOp:
    """A store with whole dimensions in place of lanes that it counts; itself where it does not."""
    positions, entries = gathered(store), list(store.entries)
    sources = [repeated(entries[position]) for position in positions]
    runs = {n: counted(source, 0) for n, (source, _) in enumerate(sources) if positions[n] not in common}
    own = [dim for _, dims in sources for dim in dims]
    if len(common) != 1 or None in runs.values() or own != list(range(len(positions))):
        return store
    build = Builder(store)
    value, keep = store.value, build.both(store.mask, ValidityBuilder(InsertPoint.before(store)).of(store.value))
    for n, run in runs.items():
        assert run is not None
        lanes = _Lanes(build, positions[0] + n, _extent(store, positions[n]), *run)
        value, keep = lanes.placed(value), lanes.kept(keep, type_of(value))
        entries[positions[n]] = ALL
    entries = [sources[positions.index(n)][0] if n in common else entry for n, entry in enumerate(entries)]
    whole = StoreOp(value, store.memory, entries, keep, store.attributes)
    whole.location = store.location
    Rewriter.replace_op(store, whole, [])
    return whole


def _extent(store: StoreOp, position: int) -> int:
    assert isinstance(store.memory.type, MemRefType)
    return store.memory.type.get_shape()[position]


@dataclass
class _Lanes:
    """Lanes along an axis of a block that count elements of a dimension: ``numbered``, and what is added to them."""

    build: Builder
    axis: int
    extent: int
    numbered: SSAValue
    added: list[Scalar]

    def placed(self, value: SSAValue) -> SSAValue:
        """A block with all of the dimension's elements, each its lane or, where it has none, the nearest."""
        build, last = self.build, type_of(value).shape[self.axis] - 1
        lane = build.with_number("maximum", build.with_number("minimum", self._lane(type_of(value)), last), 0)
        if element_of(value) != i1:
            return build.add(TakeAlongOp(value, lane, self.axis))
        return build.with_number("ne", build.add(TakeAlongOp(build.flag(value), lane, self.axis)), 0)

    def kept(self, mask: SSAValue | None, block: TileType) -> SSAValue:
        """Which elements have a lane of a block that is stored: one of its range, where the mask holds."""
        build, lane = self.build, self._lane(block)
        low, high = build.with_number("ge", lane, 0), build.with_number("lt", lane, block.shape[self.axis])
        there = build.compute("and", low, high)
        limits: list[SSAValue | None] = [None] * block.rank
        limits[self.axis] = ranges_in_scope(build.op).get(block.dims.data[self.axis].tag.data)
        mask = build.both(mask, build.inside(block.dims.data, limits))
        return there if mask is None else build.compute("and", there, self.placed(mask))

    def _lane(self, block: TileType) -> SSAValue:
        """The number of each element's lane."""
        dims = list(block.dims.data)
        dims[self.axis] = DimAttr(self.extent)
        first = self.build.add(SplatOp(self._first(), TileType(dims, i32)))
        return self.build.compute("sub", self.build.numbers(self.extent, dims, self.axis), first)

    def _first(self) -> SSAValue:
        """The element that the first lane is."""
        counted = self.numbered.owner
        begin: list[Scalar] = [(counted.range, 1)] if isinstance(counted, IndexOp) else []
        return total([*begin, *self.added], self.build)
