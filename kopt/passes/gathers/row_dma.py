"""Row DMAs: gathers of whole rows by their numbers, each a DMA; single lanes are picked from them."""

from __future__ import annotations

from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from kopt.analysis.values.hbm_rows import is_computed
from kopt.dialects.builder import Builder
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import BroadcastOp, IndexedDim, LoadOp, SplatOp, TileType, block_axes, tile_type
from kopt.passes.access_building import replace_load
from kopt.passes.gathers.row_form import RowForm
from kopt.passes.launch_arrays import Arrays
from kopt.passes.replacing import replacing


def fetch_rows(load: LoadOp, launch: LaunchOp, arrays: Arrays) -> None:
    """Puts rows, or lanes picked from rows, in a load's place. Those below 32 bits come in groups of 8 or 32."""
    form = RowForm(load, arrays)
    form.by_rows(launch)
    form.whole_groups()
    replace_load(load, _loaded(form))


def _loaded(form: RowForm) -> SSAValue:
    """The load of what the steps have made, by DMA where it still gathers, and the picks from it."""
    if not any(form.gathers(position) for position in range(len(form.entries))):
        return form.pick(*_spread(form))
    memory = form.memory
    if memory is form.load.memory:
        memory = form.arrays.view(memory, form.shape, form.shape)
    value = form.loaded(memory, form.entries)
    return form.pick(value, block_axes(form.entries, form.shape))


def _spread(form: RowForm) -> tuple[SSAValue, tuple[IndexedDim, ...]]:
    """One ordinary block of rows, repeated for each of the lanes to pick from it."""
    value = form.loaded(form.memory, form.entries)
    axes = block_axes(form.entries, form.shape)
    ((position, lane),) = form.picks
    places = [IndexedDim(position, dim, number) for number, dim in enumerate(tile_type(lane).dims.data)]
    spread = (*axes[:-1], *places, axes[-1])
    kept = [number for number, axis in enumerate(spread) if axis.gather_dim is None]
    type = tile_type(value).with_dims([axis.dim for axis in spread])
    return form.build.add(BroadcastOp(value, kept, type)), spread


def as_gather(load: LoadOp) -> LoadOp:
    """The load with tiles of one lane for its numbers; the old one's result is its lanes.

        %v = tile.load %x[%n, :] : memref<100000x128xf32> -> !tile.tile<128 x f32>
    becomes
        %t = tile.splat %n …   %w = tile.load %x[%t, :] … -> !tile.tile<1 x 128 x f32>   %v = tile.reshape %w …
    """
    build = Builder(load)
    entries = [build.add(SplatOp(entry, TileType([1], i32))) if is_computed(entry) else entry for entry in load.entries]
    gather = replacing(load, LoadOp(load.memory, entries))
    build.insert(gather)
    replace_load(load, build.reshape(gather.result, tile_type(load.result).dims.data))
    return gather
