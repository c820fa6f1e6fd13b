"""Index tiles that count lanes of their own become blocks: ``x[n + arange(64)]``, ``x[rows[:, None], k.index]``."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from kopt.analysis.aliases import users
from kopt.analysis.alignment import multiple
from kopt.analysis.storage import wide
from kopt.analysis.values.repeats import index_tiles
from kopt.dialects.builder import Builder, named
from kopt.dialects.tile import (
    ConcatOp,
    DimAttr,
    FullOp,
    LoadOp,
    TileType,
    WholeOp,
    array_type,
    element_of,
    tile_type,
)
from kopt.dialects.tile.index_list import Entry
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.index_runs import IndexList, IndexRun
from kopt.ir.ranges import unshifted
from kopt.ir.sums import SumAnalysis
from kopt.passes.access_building import replace_load
from kopt.passes.normalising.index_rewriting import IndexRewriting, index_list, reach
from kopt.passes.regrouping import every
from kopt.passes.replacing import replacing
from kopt.targets.tiling import LANES


def load_block(load: LoadOp, sums: SumAnalysis) -> LoadOp | None:
    """Puts the block in a load's place whose index tiles all count; else gives the gather that it still is.

        %v = tile.load %x[%n] mask %m : memref<300xf32> -> !tile.tile<32 x f32>   // 0 … 31 from %b on
    becomes
        %w = tile.load %x[tile.shift (tile.whole 32) by %b]   %v = tile.select %m, %w, 0.0

    A masked load may begin before the array; where nothing will cut its lanes out of a larger block, it gathers.
    """
    found = index_list(load, sums)
    if found is None:
        return load
    beyond = [n for n, run in enumerate(found.runs) if run is not None and _is_beyond(load, n, run)]
    for n in beyond:
        found = found.gathering(n)
    if not found.is_box:
        return load_runs(load, found, sums)
    one = IndexRewriting(load, found, sums)
    one.take_runs()
    known = _loaded(load, one.entries, sums.exact)
    value = known or one.build.add(replacing(load, LoadOp(load.memory, one.entries)))
    replace_load(load, one.as_before(value, tile_type(load.result)))
    return None


def load_runs(load: LoadOp, found: IndexList, sums: SumAnalysis) -> LoadOp:
    """The load with blocks for the index tiles that count lanes of their own, and the gathered ones in order.

        %v = tile.load %x[%n, %c] : memref<20x256xf32> -> !tile.tile<b0=16 x 128 x f32>   // %rows[:, None], 0 … 127
    becomes
        %w = tile.load %x[%rows, %k] : memref<20x256xf32> -> !tile.tile<b0=16 x b1=128 x f32>   // %k = tile.whole 128
        %v = tile.reshape %w : !tile.tile<b0=16 x b1=128 x f32> to !tile.tile<b0=16 x 128 x f32>

    Of every n-th lane, ``x[n + 4 * arange(128)]``, all come, and those are taken. Where the indices have their
    dimensions in another order, ``x[m[None, :], k[:, None]]``, the block is transposed.
    """
    for n, run in enumerate(found.runs):
        if run is not None and not _is_fetched(load, found, n, run):
            found = found.gathering(n)
    counts = any(run is not None for run in found.runs)
    if found.repeats or not counts and found.order == (*sorted(found.order),):
        return load
    one, type = IndexRewriting(load, found, sums), tile_type(load.result)
    one.take_runs()
    new = replacing(load, LoadOp(load.memory, one.entries))
    new.result.name_hint, value = load.result.name_hint, one.build.add(new)
    for run in [run for run in found.runs if run is not None and run.step > 1]:
        value = _every(named(value, "lanes"), run, one.build)
    replace_load(load, one.build.cast(one.as_before(value, type), type.element_type))
    return new


def _is_beyond(load: LoadOp, number: int, run: IndexRun) -> bool:
    """Whether a block of a masked load may begin before its array, where it is aligned."""
    position = [*index_tiles(load.entries)][number]
    aligned = run.first.divisor % multiple(array_type(load.memory), position) == 0
    return load.mask is not None and bool(run.dims) and not run.first.range.is_natural and aligned


def _is_fetched(load: LoadOp, found: IndexList, number: int, run: IndexRun) -> bool:
    """Whether a run comes as a block: beside gathered rows where DMAs fetch it; every n-th lane of the last index."""
    position = [*index_tiles(load.entries)][number]
    if run.step > 1 and (position < len(load.entries) - 1 or run.step > LANES):
        return False
    if None not in found.runs:
        return True
    if not run.dims:
        return False
    (first, size), extent = reach(run), array_type(load.memory).get_shape()[position]
    is_loop = run.step == 1 and bool(tile_type(load.entries[position]).tags[run.dims[-1]])  # pyright: ignore
    return first.divisor % size == 0 and (size <= extent or is_loop)


def _every(value: SSAValue, run: IndexRun, build: Builder) -> SSAValue:
    """The lanes of a run among those that it reaches, of a block's last dimension, in a type of 32 bits."""
    value = build.cast(value, wide(element_of(value)))
    (first, size), (*outer, lanes) = reach(run), tile_type(value).dims.data
    if (missing := size - lanes.size.data) > 0:
        rest = build.add(FullOp(0, TileType([*outer, missing], element_of(value))))
        value = build.add(ConcatOp([build.reshape(value, [*outer, DimAttr(lanes.size.data)]), rest], len(outer)))
    return every(build, build.cut(value, 0, size), run.step, (run.first - first).number or 0)


def _loaded(load: LoadOp, entries: Sequence[Entry], analysis: IndexAnalysis) -> SSAValue | None:
    """The same block of an array that is only read, where it has been loaded just before."""
    others = users(load.memory)
    if not all(isinstance(op, LoadOp) for op in others):
        return None
    for op in others:
        before = op.parent is load.parent and op is not load and op.is_before_in_block(load)
        if not before or not isinstance(op, LoadOp) or op.mask is not None:
            continue
        if all(_is_same(entry, other, analysis) for entry, other in zip(op.entries, entries, strict=True)):
            return op.result
    return None


def _is_same(entry: Entry, other: Entry, analysis: IndexAnalysis) -> bool:
    """Whether two entries are the same, but for the tags of blocks that have no loop of their own."""
    blocks = all(isinstance(e, SSAValue) and isinstance(unshifted(e).owner, WholeOp) for e in (entry, other))
    if entry == other or not blocks:
        return entry == other
    sizes = {e.type.size for e in (entry, other)}  # pyright: ignore
    return len(sizes) == 1 and analysis.begin(entry) == analysis.begin(other)  # pyright: ignore
