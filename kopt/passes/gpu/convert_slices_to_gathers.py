"""The pass ``convert-slices-to-gathers``: slices and concatenations by lane number, since Triton has neither."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, i32
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from kopt.dialects import tile, triton
from kopt.dialects.builder import Builder
from kopt.ir.widths import next_power_of_two
from kopt.passes.gpu.gathers import gather, refuse_ragged
from kopt.passes.replacing import replace
from kopt.walk import walk


@dataclass(frozen=True)
class ConvertSlicesToGathersPass(ModulePass):
    """Rewrites `tile.slice`, `tile.dynamic_slice` and `tile.concat` as `tile.take_along`, at the true sizes.

    A slice becomes one gather for each dimension that it cuts. For a concatenation, the lanes of each input are
    gathered to where they stand in the result, and selected there. Inputs of one lane each, as of ``torch.stack``, are
    joined two by two (`triton.join`), if their number is a power of two. ``triton.inside`` says that no lane number
    needs a check, ``tile.spare`` that nothing uses the lanes whose number is outside.

        %s = tile.slice %v [1] [3] [2] : !tile.tile<6 x f32> to !tile.tile<3 x f32>
    becomes
        %n = tile.arange 1, 2 : !tile.tile<3 x i32>
        %s = tile.take_along %v, %n dim 0 {triton.inside} : !tile.tile<6 x f32>, !tile.tile<3 x i32>

    Refuses to move the lanes of ragged blocks: by a concatenation, or by a slice that begins at a computed lane.
    """

    name = "convert-slices-to-gathers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for grid in walk(op, tile.GridOp):
            for inner in walk(grid, *_PICKED):
                replace(inner, _PICKED[type(inner)](inner))


def _numbers(op: Operation, start: int, step: int, dims: Sequence[tile.DimAttr], dim: int) -> SSAValue:
    """``start + step * lane`` of dimension ``dim``, as a tile of ``dims``."""
    build = Builder(op)
    return build.spread(build.add(tile.ArangeOp(start, step, tile.TileType([dims[dim]], i32))), dims, [dim])


def _gathered(op: tile.SliceOp) -> SSAValue:
    """One gather a dimension that is not taken whole."""
    value: SSAValue = op.input
    for dim, (offset, size, stride) in enumerate(op.bounds):
        dims = [*tile.tile_type(value).dims.data]
        have = dims[dim].size.data
        if (offset, size, stride) == (0, have, 1):
            continue
        dims[dim] = tile.DimAttr(size)
        inside = offset + stride * (next_power_of_two(size) - 1) < next_power_of_two(have)
        value = gather(op, value, _numbers(op, offset, stride, dims, dim), dim, inside)
    return value


def _gathered_from(op: tile.DynamicSliceOp) -> SSAValue:
    """A gather of the lanes from a computed one on; nothing uses those from outside the input."""
    dim, dims, build = op.dim.data, tile.tile_type(op.result).dims.data, Builder(op)
    refuse_ragged(op, [tile.tile_type(op.input).tags[dim]])
    lanes = _numbers(op, 0, 1, dims, dim)
    first = build.add(tile.SplatOp(op.offset, tile.tile_type(lanes)))
    return gather(op, op.input, build.compute("add", lanes, first), dim, False)


def _joined(op: tile.ConcatOp) -> SSAValue:
    """Each input's lanes gathered to where they stand in the result, and selected there."""
    if (stacked := _stacked(op)) is not None:
        return stacked
    dim = op.dim.data
    refuse_ragged(op, [tile.tile_type(value).tags[dim] for value in op.inputs])
    dims = tile.tile_type(op.result).dims.data
    ends: list[int] = []
    for value in op.inputs:
        ends.append((ends[-1] if ends else 0) + tile.tile_type(value).shape[dim])
    result: SSAValue | None = None
    for value, end in reversed(list(zip(op.inputs, ends, strict=True))):
        moved = _moved(op, value, end - tile.tile_type(value).shape[dim], dims)
        result = moved if result is None else _select_before(op, end, dim, moved, result)
    assert result is not None
    return result


def _stacked(op: tile.ConcatOp) -> SSAValue | None:
    """Inputs of one lane each, joined two by two; None where their number is no power of two."""
    dim, type, inputs = op.dim.data, tile.tile_type(op.result), list(op.inputs)
    if len(inputs) != type.shape[dim] or not 1 < len(inputs) == next_power_of_two(len(inputs)):
        return None
    build, dims = Builder(op), [each for n, each in enumerate(type.dims.data) if n != dim]
    value = _joined_in_turn(build, [build.reshape(_without_unit_dims(value, dims), dims) for value in inputs])
    value = build.reshape(value, [*dims, type.dims.data[dim]])
    last = type.rank - 1
    return build.transpose(value, [n if n < dim else last if n == dim else n - 1 for n in range(last + 1)])


def _without_unit_dims(value: SSAValue, dims: Sequence[tile.DimAttr]) -> SSAValue:
    """What a value of the same lanes is a reshape of, where that has the dimensions already."""
    source = value.owner.input if isinstance(value.owner, tile.ReshapeOp) else value
    return source if tile.tile_type(source).dims.data == tuple(dims) else value


def _joined_in_turn(build: Builder, parts: Sequence[SSAValue]) -> SSAValue:
    """Lane ``i`` of the last dimension, or of all last ones in row-major order, is the ``i``-th part's."""
    if len(parts) == 1:
        return parts[0]
    return build.add(triton.JoinOp(_joined_in_turn(build, parts[0::2]), _joined_in_turn(build, parts[1::2])))


def _moved(op: tile.ConcatOp, value: SSAValue, start: int, dims: Sequence[tile.DimAttr]) -> SSAValue:
    """An input over the result's dimensions, its lanes from ``start`` on; a constant is one anywhere."""
    if isinstance(value.owner, tile.FullOp):
        return Builder(op).add(tile.FullOp(value.owner.number, tile.tile_type(op.result)))
    dim = op.dim.data
    return gather(op, value, _numbers(op, -start, 1, dims, dim), dim, False)


def _select_before(op: tile.ConcatOp, end: int, dim: int, first: SSAValue, rest: SSAValue) -> SSAValue:
    """``first`` in the lanes before ``end``, else ``rest``."""
    dims = tile.tile_type(op.result).dims.data
    build = Builder(op)
    lanes = build.add(tile.ArangeOp(0, 1, tile.TileType([dims[dim]], i32)))
    return build.select(build.spread(build.with_number("lt", lanes, end), dims, [dim]), first, rest)


#: How each operation is picked by lane number.
_PICKED: Mapping[type[Operation], Callable[[Any], SSAValue]] = {
    tile.SliceOp: _gathered,
    tile.DynamicSliceOp: _gathered_from,
    tile.ConcatOp: _joined,
}
