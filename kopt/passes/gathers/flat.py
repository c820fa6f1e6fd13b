"""Gathers from flat storage of a matrix whose numbers are rows, in a block or picked one by one, and lanes."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from xdsl.dialects.builtin import IndexType
from xdsl.ir import SSAValue
from xdsl.rewriter import Rewriter

from kopt.analysis.lane_bounds import lane_bounds
from kopt.analysis.lane_runs import lane_run
from kopt.analysis.lane_sums import LaneSum, lane_sum
from kopt.analysis.slices import NotSlices, check_inside, inferred_shape, is_range, part_of
from kopt.dialects.host import LaunchOp, ReshapeOp
from kopt.dialects.tile import DimAttr, LoadOp, RangeType
from kopt.passes.gathers.building import Arrays, array_type
from kopt.passes.gathers.indices import tile_of
from kopt.passes.mosaic.building import Builder, type_of
from kopt.passes.scatters.building import Builder as TileBuilder

#: Lanes of a vector register: rows of as many, picked one by one from flat storage, are worth the view of it.
_LANES = 128


def of_matrix(load: LoadOp, launch: LaunchOp, arrays: Arrays) -> LoadOp:
    """The load from the matrix that an array is flat storage of, where its index is ``rows * width + lanes``.

    Else the load. The matrix is what a host view flattens, or what the array is seen as by a view of its own.

        %f = host.reshape %x : memref<40x20xf32> to memref<800xf32>   // %at = %rows * 20 + %m
        %v = tile.load %f[%at] : memref<800xf32> -> !tile.tile<b0=4 x b1=8 x f32>
    becomes
        %v = tile.load %x[%rows, %m] : memref<40x20xf32> -> !tile.tile<b0=4 x b1=8 x f32>

    Rows may be a sum: ``(%page * 64 + %row) * 576 + %m`` is row ``%page * 64 + %row`` of those of 576. Lanes may be
    every n-th: ``%rows * 1472 + %k * 16 + 3``.
    """
    number = launch.body.block.args.index(load.memory)
    if number >= len(launch.inputs) or number in launch.written or len(load.entries) != 1:
        return load
    form, owner = lane_sum(load.indices[0]), launch.inputs[number].owner
    view = owner if isinstance(owner, ReshapeOp) and owner.source_type.get_num_dims() > 1 else None
    for width in _widths(form, load, view):
        rows = LaneSum(form.const // width, {placed: n // width for placed, n in form.terms.items() if n % width == 0})
        entries = _entries(rows, form - rows.times(width), width, load)
        if entries is not None:
            source = launch.inputs[number] if view is None else view.source
            matrix = arrays.reshaped(source, [prod(array_type(source).get_shape()) // width, width], load.memory)
            found = LoadOp(matrix, entries, load.mask, load.other, load.pad, load.attributes)
            found.location, found.result.name_hint = load.location, load.result.name_hint
            Rewriter.replace_op(load, found)
            return found
    return load


def _widths(form: LaneSum, load: LoadOp, view: ReshapeOp | None) -> Iterator[int]:
    """The widths that rows of an array may have: what a view flattens, or what the factors of an index speak of."""
    if view is not None:
        yield view.source_type.get_shape()[-1]
        return
    rows = [placed for placed, n in form.terms.items() if abs(n) > 1]
    try:
        shape = inferred_shape(form, *array_type(load.memory).get_shape())
    except NotSlices:
        return
    if len(shape) > 1 and (shape[-1] >= _LANES or len(shape) == 2 and all(map(is_range, rows))):
        yield shape[-1]
    elif len(shape) > 2 and shape[-2] * shape[-1] >= _LANES:
        yield shape[-2] * shape[-1]


def _entries(rows: LaneSum, lanes: LaneSum, width: int, load: LoadOp) -> list[SSAValue] | None:
    """The index list of rows, and of a range of lanes or of every n-th of them; None where it is neither."""
    range, entry = _lanes(lanes, width, load), _entry(rows, load)
    if range is not None:
        return None if entry is None else [entry, range]
    dims, bounds = type_of(load.result).dims.data, lane_bounds(lanes)
    places = {place for _, along in rows.terms for place in along}
    if not places or len(dims) - 1 in places or bounds is None or bounds[0] < 0 or bounds[1] >= width:
        return None
    build = TileBuilder(load)
    both = [tile_of(form, dims, build) for form in (rows, lanes)]
    run = lane_run(both[1])
    return both if run is not None and run.step > 1 and not run.dims else None


def _lanes(form: LaneSum, width: int, load: LoadOp) -> SSAValue | None:
    """The range that numbers the lanes of rows, along the block's last dimension; None where it is no range alone."""
    try:
        part = part_of(form)
        check_inside(part, width, load)
    except NotSlices:
        return None
    last = type_of(load.result).rank - 1
    if part.range is None or part.added != LaneSum() or part.dim != last:
        return None
    assert isinstance(part.range.type, RangeType)
    return part.range if part.range.type.dim == type_of(load.result).dims.data[last] else None


def _entry(rows: LaneSum, load: LoadOp) -> SSAValue | None:
    """The rows of a load as one entry, where they stand along all dimensions of its block but the last."""
    dims = type_of(load.result).dims.data[:-1]
    if not dims or {place for _, places in rows.terms for place in places} != set(range(len(dims))):
        return None
    for (atom, places), _ in rows.terms.items():
        if _dims(atom) != [dims[place] for place in places]:
            return None
    if not rows.const and list(rows.terms.values()) == [1]:
        ((atom, _),) = rows.terms
        return atom if isinstance(atom.type, RangeType) else Builder(load).reshape(atom, _dims(atom))
    return tile_of(rows, dims, TileBuilder(load))


def _dims(atom: SSAValue) -> list[DimAttr]:
    """The dimensions of a block of rows, of rows that are picked, or of a number."""
    if isinstance(atom.type, RangeType):
        return [atom.type.dim]
    if isinstance(atom.type, IndexType):
        return []
    return [dim for dim in type_of(atom).dims.data if dim != DimAttr(1)]
