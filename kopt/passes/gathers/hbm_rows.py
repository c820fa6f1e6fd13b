"""Rows and elements of arrays in HBM, by one loaded number, become gathers of one place."""

from __future__ import annotations

from xdsl.dialects.builtin import i32
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.values.hbm_rows import is_computed
from kopt.dialects.builder import Builder
from kopt.dialects.tile import LoadOp, SplatOp, TileType, tile_type
from kopt.passes.gathers.picking import replace_load
from kopt.passes.replacing import replacing


def as_gather(load: LoadOp) -> LoadOp:
    """The load with tiles of one lane for its numbers; the old one's result is its lanes.

        %v = tile.load %x[%n, :] : memref<100000x128xf32> -> !tile.tile<128 x f32>
    becomes
        %t = tile.splat %n …   %w = tile.load %x[%t, :] … -> !tile.tile<1 x 128 x f32>   %v = tile.reshape %w …
    """
    build = Builder(load)
    entries = [build.add(SplatOp(entry, TileType([1], i32))) if is_computed(entry) else entry for entry in load.entries]
    gather = replacing(load, LoadOp(load.memory, entries))
    Rewriter.insert_op(gather, InsertPoint.before(load))
    replace_load(load, build.reshape(gather.result, tile_type(load.result).dims.data))
    return gather
