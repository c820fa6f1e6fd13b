"""Trailing runs: the last index counts lanes of its own, ``x[rows[:, None], n + arange(128)[None, :]]``."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.rewriter import Rewriter

from kopt.analysis.storage import wide
from kopt.analysis.values.lane_runs import LaneRun, along_last, lane_run
from kopt.dialects.builder import Builder
from kopt.dialects.tile import (
    ALL,
    ConcatOp,
    DimAttr,
    FullOp,
    LoadOp,
    TileType,
    array_type,
    element_of,
    is_gather,
    tile_type,
)
from kopt.dialects.tile.index_list import Entry, block_dims
from kopt.ir.index_expr import ZERO, IndexExpr
from kopt.ir.sums import SumAnalysis
from kopt.passes.gathers.collapsed_dims import IndexRun
from kopt.passes.gathers.indices import tile_of
from kopt.passes.gathers.picking import replace_load
from kopt.passes.regrouping import every
from kopt.passes.replacing import replacing
from kopt.targets.tiling import LANES


def trailing_run_as_block(load: LoadOp, sums: SumAnalysis) -> LoadOp:
    """The load with the lanes that the last of several indices counts, and the others repeat, as a block.

    Else the load: where the block would begin at no multiple of its size, which DMAs do not fetch.

        %v = tile.load %x[%n, %c] : memref<20x256xf32> -> !tile.tile<b0=16 x 128 x f32>   // %rows[:, None], 0 … 127
    becomes
        %w = tile.load %x[%rows, %k] : memref<20x256xf32> -> !tile.tile<b0=16 x b1=128 x f32>   // %k = tile.whole 128
        %v = tile.reshape %w : !tile.tile<b0=16 x b1=128 x f32> to !tile.tile<b0=16 x 128 x f32>

    Of every n-th lane, ``x[n + 4 * arange(128)]``, all come, and those are taken.
    """
    positions = [position for position, entry in enumerate(load.entries) if is_gather(entry)]
    if not positions or positions != list(range(positions[0], positions[-1] + 1)):
        return load
    *others, last = (load.entries[position] for position in positions)
    run = lane_run(last, sums) if tile_type(last).rank else None  # pyright: ignore[reportArgumentType]
    counted = [along_last(index, sums) for index in others]  # pyright: ignore[reportArgumentType]
    forms = [found.start for found in counted if found is not None and found.step == 0]
    if run is None or run.first.along or len(forms) < len(others):
        return load
    if not others and any(dim.size.data != 1 for dim in tile_type(last).dims.data[:-1]):  # pyright: ignore
        return load  # the same lanes again and again
    if not any(form.along for form in forms) if others else not 1 < run.step <= LANES:
        return load
    if run.step > 1 and positions[-1] != len(load.entries) - 1:
        return load
    lanes = _lanes(load, run, array_type(load.memory).get_shape()[positions[-1]], bool(others), sums)
    return load if lanes is None else _replaced(load, positions, run, lanes, forms, sums)


def _lanes(load: LoadOp, run: LaneRun, extent: int, gathered: bool, sums: SumAnalysis) -> Entry | None:
    """The block of the lanes from a run's first to its last; None where DMAs are to fetch it for gathered rows, and do
    not."""
    size, first = run.size * run.step, run.first - run.const % run.step
    if size >= extent and run.step > 1 and first == ZERO:
        return ALL
    lanes = tile_type(load.indices[-1]).dims.data[-1]
    if gathered and (first.divisor % size or size > extent and (not lanes.tag.data or run.step > 1)):
        return None
    return IndexRun(first, size, lanes=lanes if run.step == 1 else None).entry(load, Builder(load), sums)


def _replaced(
    load: LoadOp,
    positions: Sequence[int],
    run: LaneRun,
    lanes: Entry,
    forms: Sequence[IndexExpr],
    sums: SumAnalysis,
) -> LoadOp:
    build, entries = Builder(load), list(load.entries)
    for position, form in zip(positions, forms, strict=False):
        entries[position] = tile_of(form, tile_type(entries[position]).dims.data[:-1], build, sums)  # pyright: ignore
    entries[positions[-1]] = lanes
    if run.step > 1:
        return _every(load, entries, run, build)
    dims = block_dims(entries, array_type(load.memory).get_shape())
    mask = load.mask and build.reshape(load.mask, dims)
    found = LoadOp(load.memory, entries, mask, load.other, load.pad, load.attributes)
    found.location, found.result.name_hint = load.location, load.result.name_hint
    build.add(found)
    Rewriter.replace_op(load, [], [build.reshape(found.result, tile_type(load.result).dims.data)])
    return found


def _every(load: LoadOp, entries: Sequence[Entry], run: LaneRun, build: Builder) -> LoadOp:
    """Puts every ``step``-th lane of a block in a load's place."""
    found, type = replacing(load, LoadOp(load.memory, entries)), tile_type(load.result)
    value = build.add(found, "lanes")
    value = build.cast(value, wide(element_of(value)))
    *outer, lanes = tile_type(value).dims.data
    missing = run.size * run.step - lanes.size.data
    if missing > 0:
        rest = build.add(FullOp(0, TileType([*outer, missing], element_of(value))))
        value = build.add(ConcatOp([build.reshape(value, [*outer, DimAttr(lanes.size.data)]), rest], len(outer)))
    value = every(build, build.cut(value, 0, run.size * run.step), run.step, run.const % run.step)
    replace_load(load, build.cast(build.reshape(value, type.dims.data), type.element_type))
    return found
