"""A load of a sum with a select is a select of loads: ``x[where(j > 31, rows * 128, 4000) + 3 * j]``."""

from __future__ import annotations

from xdsl.dialects.builtin import i32

from kopt.analysis.values.places import GatherPlaces, cases_of
from kopt.dialects.builder import Builder
from kopt.dialects.tile import LoadOp, tile_type
from kopt.ir.sums import SumAnalysis
from kopt.ir.to_tiles import TileWriter
from kopt.passes.gathers.picking import replace_load
from kopt.passes.replacing import replacing


def selected_sums(load: LoadOp, sums: SumAnalysis) -> list[tuple[LoadOp, GatherPlaces]]:
    """Puts a choice from two loads in the place of one whose lanes lie near numbers of places in either case; gives
    them, with these places. None, and nothing is changed, where less memory comes without.

        %v = tile.load %x[%at] …   // where(%c, %a, %b) + %j
    becomes
        %t = tile.load %x[%a + %j] …   %f = tile.load %x[%b + %j] …   %v = tile.select %c, %t, %f
    """
    if (found := cases_of(load, sums)) is None:
        return []
    condition, cases = found
    build, (entry,) = Builder(load), load.indices
    write = TileWriter(build.add, sums.exact.begin)
    dims = tile_type(entry).dims.data
    loads = [replacing(load, LoadOp(load.memory, [write.value(index, dims, i32)])) for index, _ in cases]
    first, second = (build.add(one, load.result.name_hint or "case") for one in loads)
    replace_load(load, build.select(write.condition(condition, dims), first, second))
    return [(one, places) for one, (_, places) in zip(loads, cases, strict=True)]
