"""Gathers from a flattened matrix whose numbers are rows picked one by one, and lanes: of the matrix itself."""

from __future__ import annotations

from xdsl.rewriter import Rewriter

from kopt.analysis.lane_sums import LaneSum, lane_sum
from kopt.analysis.slices import NotSlices, check_inside, part_of
from kopt.dialects.host import LaunchOp, ReshapeOp
from kopt.dialects.tile import DimAttr, LoadOp, RangeType, TileType
from kopt.passes.gathers.building import Arrays
from kopt.passes.mosaic.building import Builder, type_of


def of_matrix(load: LoadOp, launch: LaunchOp, arrays: Arrays) -> LoadOp:
    """The load from the matrix that an array flattens, where its index is ``rows * width + lanes``; else the load.

        %f = host.reshape %x : memref<40x20xf32> to memref<800xf32>   // %at = %rows * 20 + %m
        %v = tile.load %f[%at] : memref<800xf32> -> !tile.tile<b0=4 x b1=8 x f32>
    becomes
        %v = tile.load %x[%rows, %m] : memref<40x20xf32> -> !tile.tile<b0=4 x b1=8 x f32>
    """
    number = launch.body.block.args.index(load.memory)
    view = launch.inputs[number].owner if number < len(launch.inputs) and number not in launch.written else None
    if not isinstance(view, ReshapeOp) or view.source_type.get_num_dims() != 2 or len(load.entries) != 1:
        return load
    form, width = lane_sum(load.indices[0]), view.source_type.get_shape()[1]
    rows = {placed: n // width for placed, n in form.terms.items() if n % width == 0}
    try:
        lanes = part_of(LaneSum(0, {placed: n for placed, n in form.terms.items() if n % width}))
        check_inside(lanes, width, load)
    except NotSlices:
        return load
    if form.const or lanes.range is None or list(rows.values()) != [1]:
        return load
    (((index, dims), _),) = rows.items()
    if not isinstance(index.type, TileType) or (*dims, lanes.dim) != tuple(range(type_of(load.indices[0]).rank)):
        return load
    picked = [dim for dim in type_of(index).dims.data if dim != DimAttr(1)]
    assert isinstance(lanes.range.type, RangeType)
    if (*picked, lanes.range.type.dim) != type_of(load.result).dims.data:
        return load
    matrix = arrays.take(view.source, view.source.name_hint or load.memory.name_hint)
    entries = [Builder(load).reshape(index, picked), lanes.range]
    found = LoadOp(matrix, entries, load.mask, load.other, load.pad, load.attributes)
    found.location, found.result.name_hint = load.location, load.result.name_hint
    Rewriter.replace_op(load, found)
    return found
