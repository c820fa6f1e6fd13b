"""Updates by row numbers, some of which count columns too, become updates of whole rows, masked."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.rewriter import Rewriter

from kopt.analysis.validity import LaneValidity
from kopt.analysis.values.updates import UpdateOp, gathered, repeated
from kopt.dialects.builder import Builder
from kopt.dialects.tile import ALL, StoreOp, array_type, tile_type
from kopt.ir.index_runs import index_run
from kopt.ir.sums import SumAnalysis
from kopt.passes.normalising.indices import index_of
from kopt.passes.scatters.counted_lanes import CountedLanes


def alike(updates: Sequence[UpdateOp], sums: SumAnalysis) -> list[UpdateOp]:
    """The updates, by tiles of numbers along the same dimension where stores count lanes along the others.

        tile.store %v, %x[%rows, %k] …      where %k is 16 lanes from %c on, repeated for each row
    beside an update of ``%x[%rows, :]`` becomes
        %w = tile.take_along %v, %lane dim 1      of each column the lane that it is, column - %c
        tile.store %w, %x[%rows, :] mask 0 <= %lane < 16
    """
    common = set.intersection(*(set(gathered(op)) for op in updates))
    return [
        _whole(op, common, sums) if isinstance(op, StoreOp) and set(gathered(op)) != common else op for op in updates
    ]


def _whole(store: StoreOp, common: set[int], sums: SumAnalysis) -> StoreOp:
    """A store with whole dimensions in place of lanes that it counts; itself where it does not."""
    positions, entries = gathered(store), list(store.entries)
    sources = [repeated(entries[position]) for position in positions]
    counted = {n: source for n, (source, _) in enumerate(sources) if positions[n] not in common}
    blocks = {n: index_run(sums.expr(source), tile_type(source).shape) for n, source in counted.items()}
    own = [dim for _, dims in sources for dim in dims]
    if len(common) != 1 or None in blocks.values() or own != list(range(len(positions))):
        return store
    build = Builder(store)
    value, keep = store.value, build.both(store.mask, LaneValidity().of(store.value))
    for n, block in blocks.items():
        assert block is not None
        first, extent = index_of(block.first, build, sums), array_type(store.memory).get_shape()[positions[n]]
        lanes = CountedLanes(build, positions[0] + n, extent, first)
        value, keep = lanes.placed(value), lanes.kept(keep, tile_type(value))
        entries[positions[n]] = ALL
    entries = [sources[positions.index(n)][0] if n in common else entry for n, entry in enumerate(entries)]
    whole = StoreOp(value, store.memory, entries, keep, store.attributes)
    whole.location = store.location
    Rewriter.replace_op(store, whole, [])
    return whole
