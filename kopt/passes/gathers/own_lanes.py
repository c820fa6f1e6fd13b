"""Index lists of which the last index counts lanes that are its own: ``x[rows[:, None], n + arange(128)[None, :]]``."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.rewriter import Rewriter

from kopt.analysis.lane_runs import LaneRun, lane_run, without_last
from kopt.analysis.lane_sums import LaneSum
from kopt.dialects.tile import LoadOp, is_gather
from kopt.dialects.tile.index_list import block_dims
from kopt.passes.gathers.building import array_type
from kopt.passes.gathers.indices import tile_of
from kopt.passes.gathers.merged import Run
from kopt.passes.mosaic.building import type_of
from kopt.passes.scatters.building import Builder


def with_own_lanes(load: LoadOp) -> LoadOp:
    """The load with the lanes that the last of several indices counts, and the others repeat, as a block.

    Else the load: where the block would begin at no multiple of its size, which DMAs do not fetch.

        %v = tile.load %x[%n, %c] : memref<20x256xf32> -> !tile.tile<b0=16 x 128 x f32>   // %rows[:, None], 0 … 127
    becomes
        %w = tile.load %x[%rows, %k] : memref<20x256xf32> -> !tile.tile<b0=16 x b1=128 x f32>   // %k = tile.whole 128
        %v = tile.reshape %w : !tile.tile<b0=16 x b1=128 x f32> to !tile.tile<b0=16 x 128 x f32>
    """
    positions = [position for position, entry in enumerate(load.entries) if is_gather(entry)]
    if len(positions) < 2 or positions != list(range(positions[0], positions[-1] + 1)):
        return load
    *others, last = (load.entries[position] for position in positions)
    run = lane_run(last)  # pyright: ignore[reportArgumentType]
    forms = [without_last(index) for index in others]  # pyright: ignore[reportArgumentType]
    if run is None or run.step != 1 or run.dims or not _has_places(forms):
        return load
    size = array_type(load.memory).get_shape()[positions[-1]]
    if run.divisor % run.size or run.size > size and run.range is None:
        return load
    return _replaced(load, positions, run, [form for form in forms if form is not None])


def _has_places(forms: Sequence[LaneSum | None]) -> bool:
    """Whether all indices are the same along the last dimension, and some differ along another."""
    return all(form is not None for form in forms) and any(dims for form in forms if form for _, dims in form.terms)


def _replaced(load: LoadOp, positions: Sequence[int], run: LaneRun, forms: Sequence[LaneSum]) -> LoadOp:
    build, entries = Builder(load), list(load.entries)
    axis = type_of(load.indices[-1]).rank - 1
    ranges = [] if run.range is None else [(run.range, 1)]
    scalars = [(atom, factor) for (atom, _), factor in run.first.terms.items()]
    for position, form in zip(positions, forms, strict=False):
        entries[position] = tile_of(form, type_of(entries[position]).dims.data[:-1], build)  # pyright: ignore
    entries[positions[-1]] = Run((axis,), run.size, run.first.const, (*ranges, *scalars)).entry(load, build)
    dims = block_dims(entries, array_type(load.memory).get_shape())
    mask = load.mask and build.reshape(load.mask, dims)
    found = LoadOp(load.memory, entries, mask, load.other, load.pad, load.attributes)
    found.location, found.result.name_hint = load.location, load.result.name_hint
    build.add(found)
    Rewriter.replace_op(load, [], [build.reshape(found.result, type_of(load.result).dims.data)])
    return found
