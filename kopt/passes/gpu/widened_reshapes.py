"""Reshapes of widened dimensions: lanes stand elsewhere in the wider blocks, and are gathered from there."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import i32
from xdsl.ir import Operation, SSAValue

from kopt.analysis.regrouping import groups
from kopt.dialects import tile, triton
from kopt.dialects.builder import Builder
from kopt.passes.gpu.gathers import gather, refuse_ragged
from kopt.passes.replacing import replace
from kopt.walk import walk


def gather_reshaped(grid: tile.GridOp, wholes: Mapping[int, tile.WholeOp]) -> None:
    """Rewrites the reshapes that move lanes of widened dimensions, once sizes are the wide ones."""
    extents = {whole.result.type.tag: size for size, whole in wholes.items()}  # pyright: ignore
    for op in walk(grid, tile.ReshapeOp):
        if _moves(op, extents):
            replace(op, _reshaped(op, extents))


def _long(type: tile.TileType) -> list[tile.DimAttr]:
    return [dim for dim in type.dims.data if dim != tile.DimAttr(1)]


def _moves(op: tile.ReshapeOp, extents: Mapping[str, int]) -> bool:
    source, target = _long(op.input_type), _long(op.result_type)
    return source != target and any(dim.tag.data in extents for dim in (*source, *target))


def _true_size(dim: tile.DimAttr, extents: Mapping[str, int]) -> int:
    return extents.get(dim.tag.data, dim.size.data)


def _strides(sizes: Sequence[int]) -> list[int]:
    return [math.prod(sizes[number + 1 :]) for number in range(len(sizes))]


def _reshaped(op: tile.ReshapeOp, extents: Mapping[str, int]) -> SSAValue:
    """Group by group of dimensions that merge and split; the others stay as they are."""
    source, target = op.input_type.dims.data, op.result_type.dims.data
    value, dims = op.input, list(source)
    sizes = [[_true_size(dim, extents) for dim in each] for each in (source, target)]
    for group in reversed(groups(*sizes)):
        if not group.kept:
            first, last = group.before[0], group.before[-1]
            made = [target[dim] for dim in group.after]
            value = _regrouped(op, value, dims, (first, last + 1), made, extents)
            dims[first : last + 1] = [tile.DimAttr(dim.size.data) for dim in made]
    plain = op.result_type.with_dims([dim.size.data for dim in target])
    shaped = Builder(op).add(tile.ReshapeOp(value, plain)) if tile.tile_type(value).shape != plain.shape else value
    return Builder(op).add(triton.RetagOp(shaped, op.result_type))


def _regrouped(
    op: tile.ReshapeOp,
    value: SSAValue,
    dims: Sequence[tile.DimAttr],
    run: tuple[int, int],
    target: Sequence[tile.DimAttr],
    extents: Mapping[str, int],
) -> SSAValue:
    """A run of dimensions flattened, gathered by the position that each lane of the result had, and given new ones."""
    before, source, after = dims[: run[0]], dims[run[0] : run[1]], dims[run[1] :]
    refuse_ragged(op, [dim.tag.data for dim in source if dim.tag.data not in extents])
    element = op.result_type.element_type
    wide_in = math.prod([dim.size.data for dim in source])
    new = [dim.size.data for dim in target]
    flat = Builder(op).add(tile.ReshapeOp(value, tile.TileType([*before, wide_in, *after], element)))
    numbers = _positions(op, source, target, extents)
    if before or after:
        shape = tile.TileType([*before, math.prod(new), *after], i32)
        numbers = Builder(op).add(tile.BroadcastOp(numbers, [len(before)], shape))
    gathered = gather(op, flat, numbers, len(before), True)
    return Builder(op).add(tile.ReshapeOp(gathered, tile.TileType([*before, *new, *after], element)))


def _positions(
    op: Operation, source: Sequence[tile.DimAttr], target: Sequence[tile.DimAttr], extents: Mapping[str, int]
) -> SSAValue:
    """The flat wide position in the source of each flat wide lane of the target."""
    wide_out = [dim.size.data for dim in target]
    type = tile.TileType([math.prod(wide_out)], i32)
    lane = Builder(op).add(tile.ArangeOp(0, 1, type))
    true_out = [_true_size(dim, extents) for dim in target]
    flat = _recount(op, lane, wide_out, _strides(wide_out), _strides(true_out))
    true_in = [_true_size(dim, extents) for dim in source]
    return _recount(
        op,
        flat,
        true_in,
        _strides(true_in),
        _strides([dim.size.data for dim in source]),
    )


def _recount(
    op: Operation, number: SSAValue, sizes: Sequence[int], strides: Sequence[int], new_strides: Sequence[int]
) -> SSAValue:
    """A flat position taken apart by ``sizes`` and put together with other strides; of no sizes, it is 0 as it is."""
    total: SSAValue | None = None
    for size, stride, new in zip(sizes, strides, new_strides, strict=True):
        digit = _with(op, "rem", _with(op, "truncdiv", number, stride), max(size, 1))
        term = _with(op, "mul", digit, new)
        total = term if total is None else Builder(op).compute("add", total, term)
    return number if total is None else total


def _with(op: Operation, name: str, value: SSAValue, number: int) -> SSAValue:
    if number == 1 and name != "rem":
        return value
    return Builder(op).with_number(name, value, number)
