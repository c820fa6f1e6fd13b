"""Accesses by an index list in normal form: blocks for its runs, and what its block is then."""

from __future__ import annotations

from xdsl.dialects.builtin import IndexType
from xdsl.ir import SSAValue

from kopt.analysis.values.repeats import index_tiles
from kopt.dialects.builder import Builder
from kopt.dialects.tile import ALL, Access, DimAttr, ExtractOp, TileType, array_type, tile_type
from kopt.dialects.tile.index_list import Entry, block_dims
from kopt.ir.index_expr import ZERO, IndexExpr
from kopt.ir.index_runs import IndexList, IndexRun
from kopt.ir.ranges import ranges_in_scope
from kopt.ir.rewriting import moved
from kopt.ir.sums import SumAnalysis
from kopt.passes.normalising.blocks import block_entry, touching
from kopt.passes.normalising.indices import tile_of


def index_list(access: Access, sums: SumAnalysis) -> IndexList | None:
    """The index tiles of an access in normal form; None where it has none, or others stand between them."""
    tiles = index_tiles(access.entries)
    if not tiles or max(tiles) - min(tiles) >= len(tiles):
        return None
    return IndexList.of([*map(sums.expr, tiles.values())], tile_type(next(iter(tiles.values()))).shape)


def with_numbers(access: Access) -> list[Entry] | None:
    """The index list of an access with an ``index`` for each tile of a single number; None where there is none."""
    build, entries = Builder(access), list(access.entries)
    singles = {n: tile for n, tile in index_tiles(entries).items() if not tile_type(tile).rank}
    for position, tile in singles.items():
        entries[position] = build.add(ExtractOp(tile, IndexType()))
    return entries if singles else None


class IndexRewriting:
    """One access whose index tiles are rewritten: runs to blocks, others to tiles of the gathered dimensions alone."""

    def __init__(self, access: Access, found: IndexList, sums: SumAnalysis):
        self.access, self.found, self.sums = access, found, sums
        self.build, self.entries = Builder(access), list(access.entries)
        self.shape, self.tiles = array_type(access.memory).get_shape(), index_tiles(access.entries)
        self.dims = tile_type(next(iter(self.tiles.values()))).dims.data

    def take_runs(self) -> None:
        """Puts blocks in the place of the index tiles that are runs, tiles of fewer dimensions in that of others."""
        dims = self.found.gathered
        places = moved({dim: place for place, dim in enumerate(dims)})
        own = [self.dims[dim] for dim in dims]
        for position, index, run in zip(self.tiles, self.found.indices, self.found.runs, strict=True):
            if run is None:
                self.entries[position] = tile_of(places.expr(index), own, self.build, self.sums)
                continue
            self.entries[position] = self._block(run, self.shape[position])

    def is_range(self, number: int) -> bool:
        """Whether an index has all lane numbers of a range, or of a dimension of the array."""
        run, extent = self.found.runs[number], self.shape[[*self.tiles][number]]
        lanes = run and self._lanes(run)
        if run is None or lanes is None:
            return False
        range = ranges_in_scope(self.access).get(lanes.tag.data)
        return run.first == ZERO and run.size == extent if range is None else run.first == self.sums.begin(range)

    def ordered(self, value: SSAValue) -> SSAValue:
        """A block of the access with its dimensions in the order of the new index list."""
        type, order = tile_type(value), self._order(tile_type(value))
        if order == sorted(order):
            return value
        value = self.build.reshape(value, [type.dims.data[dim] for dim in sorted(order)])
        return self.build.transpose(value, [sorted(order).index(dim) for dim in order])

    def as_before(self, value: SSAValue, type: TileType) -> SSAValue:
        """A block by the new index list as one of the access's own."""
        order = self._order(type)
        if order != sorted(order):
            value = self.build.reshape(value, [type.dims.data[dim] for dim in order])
            value = self.build.transpose(value, sorted(range(len(order)), key=order.__getitem__))
        return self.build.reshape(value, type.dims.data)

    def _order(self, type: TileType) -> list[int]:
        """The dimensions of the access's block as the new index list has them, without indices' of one lane."""
        before = min(self.tiles)
        first = len(block_dims(self.access.entries[:before], self.shape[:before]))
        return [*range(first), *(first + dim for dim in self.found.order), *range(first + len(self.dims), type.rank)]

    def _lanes(self, run: IndexRun) -> DimAttr | None:
        """The dimension of lanes that a run counts by ones, where it is one."""
        return self.dims[run.dims[0]] if run.step == len(run.dims) == 1 else None

    def _block(self, run: IndexRun, extent: int) -> Entry:
        """The entry of the elements that a run reaches; of a masked access, one that has lanes in the array."""
        (first, size), lanes = reach(run), self._lanes(run)
        untagged = lanes is None or not lanes.tag.data
        if run.dims and untagged and first == ZERO and (size == extent or run.step > 1 and size > extent):
            return ALL
        block = block_entry(first, size, lanes, self.access, self.build, self.sums)
        masked = self.access.mask is not None  # pyright: ignore[reportAttributeAccessIssue]
        return touching(block, extent, self.build, self.sums.exact) if masked else block


def reach(run: IndexRun) -> tuple[IndexExpr, int]:
    """Whole steps of elements that have all of a run: where they begin, and how many there are."""
    assert isinstance(run.first.const, int)
    return run.first - run.first.const % run.step, run.size * run.step
