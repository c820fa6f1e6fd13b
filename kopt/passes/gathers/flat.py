"""Gathers from flat storage of a matrix whose numbers are rows, in a block or picked one by one, and lanes."""

from __future__ import annotations

from xdsl.ir import SSAValue
from xdsl.rewriter import Rewriter

from kopt.analysis.lane_sums import LaneSum, lane_sum
from kopt.analysis.slices import NotSlices, check_inside, inferred_shape, is_range, part_of
from kopt.dialects.host import LaunchOp, ReshapeOp
from kopt.dialects.tile import DimAttr, LoadOp, RangeType
from kopt.passes.gathers.building import Arrays, array_type
from kopt.passes.mosaic.building import Builder, type_of


def of_matrix(load: LoadOp, launch: LaunchOp, arrays: Arrays) -> LoadOp:
    """The load from the matrix that an array is flat storage of, where its index is ``rows * width + lanes``.

    Else the load. The matrix is what a host view flattens, or what the array is seen as by a view of its own.

        %f = host.reshape %x : memref<40x20xf32> to memref<800xf32>   // %at = %rows * 20 + %m
        %v = tile.load %f[%at] : memref<800xf32> -> !tile.tile<b0=4 x b1=8 x f32>
    becomes
        %v = tile.load %x[%rows, %m] : memref<40x20xf32> -> !tile.tile<b0=4 x b1=8 x f32>
    """
    number = launch.body.block.args.index(load.memory)
    if number >= len(launch.inputs) or number in launch.written or len(load.entries) != 1:
        return load
    form, owner = lane_sum(load.indices[0]), launch.inputs[number].owner
    view = owner if isinstance(owner, ReshapeOp) and owner.source_type.get_num_dims() == 2 else None
    try:
        shape = view.source_type.get_shape() if view else _rows_of(form, load)
        width = shape[1]
        rows = {placed: n // width for placed, n in form.terms.items() if n % width == 0}
        lanes = part_of(LaneSum(0, {placed: n for placed, n in form.terms.items() if n % width}))
        check_inside(lanes, width, load)
    except NotSlices:
        return load
    if form.const or lanes.range is None or list(rows.values()) != [1]:
        return load
    (((index, dims), _),) = rows.items()
    if (*dims, lanes.dim) != tuple(range(type_of(load.indices[0]).rank)):
        return load
    assert isinstance(lanes.range.type, RangeType)
    if (*_dims(index), lanes.range.type.dim) != type_of(load.result).dims.data:
        return load
    if view:
        matrix = arrays.take(view.source, view.source.name_hint or load.memory.name_hint)
    else:
        matrix = arrays.view(load.memory, array_type(load.memory).get_shape(), shape)
    entry = index if isinstance(index.type, RangeType) else Builder(load).reshape(index, _dims(index))
    found = LoadOp(matrix, [entry, lanes.range], load.mask, load.other, load.pad, load.attributes)
    found.location, found.result.name_hint = load.location, load.result.name_hint
    Rewriter.replace_op(load, found)
    return found


def _rows_of(form: LaneSum, load: LoadOp) -> tuple[int, ...]:
    """The shape of the matrix that the factors of an index speak of, where rows of it are a block."""
    rows = [placed for placed, n in form.terms.items() if abs(n) > 1]
    shape = inferred_shape(form, *array_type(load.memory).get_shape())
    if len(shape) != 2 or not all(map(is_range, rows)):
        raise NotSlices("rows picked one by one")
    return tuple(shape)


def _dims(index: SSAValue) -> list[DimAttr]:
    """The dimensions of a block of rows, or of rows that are picked."""
    if isinstance(index.type, RangeType):
        return [index.type.dim]
    return [dim for dim in type_of(index).dims.data if dim != DimAttr(1)]
