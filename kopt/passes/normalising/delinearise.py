"""Delinearisation: a gather from flat storage, ``rows * width + lanes``, is one of rows and lanes of its matrix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from xdsl.ir import SSAValue

from kopt.analysis.slices import NotSlices, Slicing
from kopt.dialects.builder import Builder
from kopt.dialects.host import LaunchOp, ReshapeOp
from kopt.dialects.tile import DimAttr, LoadOp, array_type, tile_type
from kopt.ir.index_expr import ZERO, IndexExpr, number
from kopt.ir.runs import strided
from kopt.ir.sums import SumAnalysis
from kopt.ir.value_range import ValueRange
from kopt.passes.access_building import with_entries
from kopt.passes.launch_arrays import Arrays
from kopt.passes.normalising.indices import tile_of
from kopt.targets.tiling import LANES


def delinearised(load: LoadOp, launch: LaunchOp, arrays: Arrays, sums: SumAnalysis) -> LoadOp:
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
    expr, owner = sums.expr(load.indices[0]), launch.inputs[number].owner
    slicing = Slicing(load, tile_type(load.indices[0]).dims.data, sums)
    view = owner if isinstance(owner, ReshapeOp) and owner.source_type.get_num_dims() > 1 else None
    for width in _widths(expr, slicing, array_type(load.memory).get_shape()[0], view):
        entries = _entries(expr, width, load, slicing)
        if entries is not None:
            source = launch.inputs[number] if view is None else view.source
            matrix = arrays.reshaped(source, [prod(array_type(source).get_shape()) // width, width], load.memory)
            return with_entries(load, entries, matrix)
    return load


def _widths(expr: IndexExpr, slicing: Slicing, extent: int, view: ReshapeOp | None) -> Iterator[int]:
    """The widths that rows of an array may have: what a view flattens, or what the factors of an index speak of."""
    if view is not None:
        yield view.source_type.get_shape()[-1]
        return
    rows = [term for term in slicing.terms(expr)[0] if abs(term.factor) > 1]
    try:
        shape = slicing.inferred_shape(expr, extent)
    except NotSlices:
        return
    if len(shape) > 1 and (shape[-1] >= LANES or len(shape) == 2 and all(term.dim is not None for term in rows)):
        yield shape[-1]
    elif len(shape) > 2 and shape[-2] * shape[-1] >= LANES:
        yield shape[-2] * shape[-1]


def _entries(expr: IndexExpr, width: int, load: LoadOp, slicing: Slicing) -> list[SSAValue] | None:
    """The index list of rows, and of a range of lanes or of every n-th of them; None where it is neither."""
    terms, const = slicing.terms(expr)
    counted = [(term.counted, term.factor) for term in terms if term.factor % width == 0]
    rows = sum((one * (factor // width) for one, factor in counted), number(const // width))
    lanes, dims = expr - rows * width, tile_type(load.result).dims.data
    if (range := _lanes(lanes, width, load, slicing)) is not None:
        entry = _entry(rows, dims[:-1], load, slicing)
        return None if entry is None else [entry, range]
    found = strided(lanes, len(dims) - 1)
    every = found is not None and not found.start.along and isinstance(found.step, int) and found.step > 1
    if not every or not rows.along or len(dims) - 1 in rows.along or not _is_inside(lanes, width, slicing):
        return None
    return [tile_of(one, dims, Builder(load), slicing.sums) for one in (rows, lanes)]


def _is_inside(lanes: IndexExpr, width: int, slicing: Slicing) -> bool:
    """Whether the lanes of a sum that are inside their ranges are known to be below a width."""
    terms, const = slicing.terms(lanes)
    total = ValueRange.exactly(const)
    for term in terms:
        known = term.counted.range if term.dim is None or term.range is None else slicing.reach(term.range)
        total = total + known.times(term.factor)
    return ValueRange(0, width - 1).covers(total)


def _lanes(lanes: IndexExpr, width: int, load: LoadOp, slicing: Slicing) -> SSAValue | None:
    """The range that numbers the lanes of rows, along the block's last dimension; None where it is no range alone."""
    try:
        part = slicing.part(lanes)
        slicing.check_inside(part, width)
    except NotSlices:
        return None
    last = tile_type(load.result).rank - 1
    is_range = part.added == ZERO and part.dim == last and part.along == tile_type(load.result).dims.data[last]
    return part.range if is_range else None


def _entry(rows: IndexExpr, dims: Sequence[DimAttr], load: LoadOp, slicing: Slicing) -> SSAValue | None:
    """The rows of a load as one entry, where they stand along all dimensions of its block but the last."""
    terms, const = slicing.terms(rows)
    along = rows.along | {term.dim for term in terms if term.dim is not None}
    if not dims or not terms or not along >= {n for n, dim in enumerate(dims) if dim.size.data != 1}:
        return None
    if len(dims) == len(terms) == 1 and (const, terms[0].factor, terms[0].dim) == (0, 1, 0):
        return terms[0].range
    return tile_of(rows, dims, Builder(load), slicing.sums)
