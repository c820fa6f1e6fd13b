"""One-hot gathers: rows of a small matrix, which comes whole, by a product with a matrix of ones and zeros."""

from __future__ import annotations

from math import prod

from xdsl.ir import SSAValue

from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import ALL, BroadcastOp, ConcatOp, LoadOp, TakeAlongOp, TileType, block_axes, tile_type
from kopt.passes.access_building import replace_load
from kopt.passes.gathers.row_form import RowForm
from kopt.passes.launch_arrays import Arrays
from kopt.passes.regrouping import in_parts, regroup
from kopt.targets.budget import Budget


def take_rows(load: LoadOp, launch: LaunchOp, arrays: Arrays) -> None:
    """Puts rows of the whole matrix, or elements picked from such, in a load's place.

        %v = tile.load %x[%n, %j] : memref<300x200xf32> -> !tile.tile<b0=16 x b1=128 x f32>
    becomes
        %t = tile.load %x[:, %j] …   %w = tile.broadcast %n dims [0] …   %v = tile.take_along %t, %w dim 0 …
    """
    form = RowForm(load, arrays)
    if not form.form.takes_rows:
        form.by_rows(launch)
    replace_load(load, _taken_rows(form))


def _taken_rows(form: RowForm) -> SSAValue:
    """The rows of a small matrix by a product: the matrix's block is loaded whole."""
    position = len(form.entries) - 2
    index, axes = form.tile(position), block_axes(form.entries, form.shape)
    rows = form.loaded(form.memory, [*form.entries[:position], ALL, form.entries[-1]])
    columns, dims = tile_type(rows).dims.data[1], tile_type(index).dims.data
    if len(dims) == 1 and not form.picks:
        return _taken(form, rows, index)
    build = form.build
    plain = build.reshape(index, tile_type(index).shape)
    most = Budget.PICKED_FROM // max(form.shape[position], columns.size.data)
    parts = [_taken(form, rows, part) for part in in_parts(build, plain, most)]
    taken = parts[0] if len(parts) == 1 else build.add(ConcatOp(parts, 0))
    return form.pick(build.reshape(taken, [*dims, columns]), axes)


def _taken(form: RowForm, rows: SSAValue, index: SSAValue) -> SSAValue:
    """Rows of a table by an index of any dimensions."""
    build, dims, columns = form.build, tile_type(index).dims.data, tile_type(rows).dims.data[1]
    flat = index if len(dims) == 1 else regroup(build, index, [prod(tile_type(index).shape)])
    type = TileType([*tile_type(flat).dims.data, columns], tile_type(index).element_type)
    taken = build.add(TakeAlongOp(rows, build.add(BroadcastOp(flat, [0], type)), 0))
    return taken if len(dims) == 1 else build.reshape(taken, [*dims, columns])
