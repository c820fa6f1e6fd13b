"""Slices, concatenations and reshapes as picks of lanes by number: Triton has none of the three on odd sizes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import UnitAttr, i1, i32
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.regrouping import groups
from kopt.diagnostics import location_of
from kopt.dialects import tile, triton
from kopt.errors import LoweringError
from kopt.ir.ranges import always_full, ranges_in_scope
from kopt.lowering.triton.widths import power_of_two
from kopt.walk import walk

#: Says that every lane number of a pick is inside its input.
INSIDE = "triton.inside"


def _insert(before: Operation, op: Operation) -> SSAValue:
    op.location = before.location
    Rewriter.insert_op(op, InsertPoint.before(before))
    return op.results[0]


def _replace(op: Operation, value: SSAValue) -> None:
    value.name_hint = op.results[0].name_hint
    Rewriter.replace_op(op, [], [value])


def pick_joined_and_sliced(grid: tile.GridOp) -> None:
    """Rewrites `tile.slice` and `tile.concat`, while sizes are the true ones."""
    for op in walk(grid):
        if isinstance(op, tile.SliceOp):
            _replace(op, _picked_slice(op))
        elif isinstance(op, tile.ConcatOp):
            _check_full(op, [tile_type(value).tags[op.dim.data] for value in op.inputs])
            _replace(op, _joined(op))


def tile_type(value: SSAValue) -> tile.TileType:
    """The type of a tile."""
    assert isinstance(value.type, tile.TileType)
    return value.type


def _check_full(op: Operation, tags: Sequence[str]) -> None:
    """Refuses to move lanes of a block that may be ragged to where masks no longer find them."""
    scope = ranges_in_scope(op)
    for tag in tags:
        if tag and tag in scope and not always_full(scope[tag]):
            raise LoweringError(
                f"'{op.name}' moves lanes of {tag}, whose last block may be ragged: Triton has no form for it",
                location_of(op),
                notes=[f"choose a block size for {tag} that divides the distance walked"],
            )


def _numbers(op: Operation, start: int, step: int, dims: Sequence[tile.DimAttr], dim: int) -> SSAValue:
    """``start + step * lane`` of dimension ``dim``, as a tile of ``dims``."""
    lanes = _insert(op, tile.ArangeOp(start, step, tile.TileType([dims[dim]], i32)))
    return lanes if len(dims) == 1 else _insert(op, tile.BroadcastOp(lanes, [dim], tile.TileType(dims, i32)))


def _pick(op: Operation, value: SSAValue, numbers: SSAValue, dim: int, inside: bool) -> SSAValue:
    pick = tile.TakeAlongOp(value, numbers, dim)
    if inside:
        pick.attributes[INSIDE] = UnitAttr()
    return _insert(op, pick)


def _picked_slice(op: tile.SliceOp) -> SSAValue:
    """One pick a dimension that is not taken whole."""
    value: SSAValue = op.input
    for dim, (offset, size, stride) in enumerate(op.bounds):
        dims = [*tile_type(value).dims.data]
        have = dims[dim].size.data
        if (offset, size, stride) == (0, have, 1):
            continue
        dims[dim] = tile.DimAttr(size)
        inside = offset + stride * (power_of_two(size) - 1) < power_of_two(have)
        value = _pick(op, value, _numbers(op, offset, stride, dims, dim), dim, inside)
    return value


def _joined(op: tile.ConcatOp) -> SSAValue:
    """Each input's lanes picked to where they stand in the result, and selected there."""
    dim = op.dim.data
    dims = tile_type(op.result).dims.data
    ends: list[int] = []
    for value in op.inputs:
        ends.append((ends[-1] if ends else 0) + tile_type(value).shape[dim])
    result: SSAValue | None = None
    for value, end in reversed(list(zip(op.inputs, ends, strict=True))):
        moved = _moved(op, value, end - tile_type(value).shape[dim], dims)
        result = moved if result is None else _select_before(op, end, dim, moved, result)
    assert result is not None
    return result


def _moved(op: tile.ConcatOp, value: SSAValue, start: int, dims: Sequence[tile.DimAttr]) -> SSAValue:
    """An input over the result's dimensions, its lanes from ``start`` on; a constant is one anywhere."""
    if isinstance(value.owner, tile.FullOp):
        return _insert(op, tile.FullOp(value.owner.number, tile_type(op.result)))
    dim = op.dim.data
    return _pick(op, value, _numbers(op, -start, 1, dims, dim), dim, False)


def _select_before(op: tile.ConcatOp, end: int, dim: int, first: SSAValue, rest: SSAValue) -> SSAValue:
    """``first`` in the lanes before ``end``, else ``rest``."""
    dims = tile_type(op.result).dims.data
    lanes = _insert(op, tile.ArangeOp(0, 1, tile.TileType([dims[dim]], i32)))
    limit = _insert(op, tile.FullOp(end, tile_type(lanes)))
    before = _insert(op, tile.ELEMENTWISE["lt"](lanes, limit))
    if len(dims) > 1:
        before = _insert(op, tile.BroadcastOp(before, [dim], tile.TileType(dims, i1)))
    return _insert(op, tile.SelectOp(before, first, rest))


def pick_reshaped(grid: tile.GridOp, wholes: Mapping[int, tile.WholeOp]) -> None:
    """Rewrites the reshapes that move lanes of widened dimensions, once sizes are the wide ones."""
    extents = {whole.result.type.tag: size for size, whole in wholes.items()}  # pyright: ignore
    for op in walk(grid):
        if isinstance(op, tile.ReshapeOp) and _moves(op, extents):
            _replace(op, _reshaped(op, extents))


def _long(type: tile.TileType) -> list[tile.DimAttr]:
    return [dim for dim in type.dims.data if dim != tile.DimAttr(1)]


def _moves(op: tile.ReshapeOp, extents: Mapping[str, int]) -> bool:
    source, target = _long(op.input_type), _long(op.result_type)
    return source != target and any(dim.tag.data in extents for dim in (*source, *target))


def _true_size(dim: tile.DimAttr, extents: Mapping[str, int]) -> int:
    return extents.get(dim.tag.data, dim.size.data)


def _strides(sizes: Sequence[int]) -> list[int]:
    strides = [1] * len(sizes)
    for number in reversed(range(len(sizes) - 1)):
        strides[number] = strides[number + 1] * sizes[number + 1]
    return strides


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
    shaped = _insert(op, tile.ReshapeOp(value, plain)) if tile_type(value).shape != plain.shape else value
    return _insert(op, triton.RetagOp(shaped, op.result_type))


def _regrouped(
    op: tile.ReshapeOp,
    value: SSAValue,
    dims: Sequence[tile.DimAttr],
    run: tuple[int, int],
    target: Sequence[tile.DimAttr],
    extents: Mapping[str, int],
) -> SSAValue:
    """A run of dimensions flattened, picked by the position that each lane of the result had, and given new ones."""
    before, source, after = dims[: run[0]], dims[run[0] : run[1]], dims[run[1] :]
    _check_full(op, [dim.tag.data for dim in source if dim.tag.data not in extents])
    element = op.result_type.element_type
    wide_in = math.prod([dim.size.data for dim in source])
    new = [dim.size.data for dim in target]
    flat = _insert(op, tile.ReshapeOp(value, tile.TileType([*before, wide_in, *after], element)))
    numbers = _positions(op, source, target, extents)
    if before or after:
        shape = tile.TileType([*before, math.prod(new), *after], i32)
        numbers = _insert(op, tile.BroadcastOp(numbers, [len(before)], shape))
    picked = _pick(op, flat, numbers, len(before), True)
    return _insert(op, tile.ReshapeOp(picked, tile.TileType([*before, *new, *after], element)))


def _positions(
    op: Operation, source: Sequence[tile.DimAttr], target: Sequence[tile.DimAttr], extents: Mapping[str, int]
) -> SSAValue:
    """The flat wide position in the source of each flat wide lane of the target."""
    wide_out = [dim.size.data for dim in target]
    type = tile.TileType([math.prod(wide_out)], i32)
    lane = _insert(op, tile.ArangeOp(0, 1, type))
    true_out = [_true_size(dim, extents) for dim in target]
    flat = _recount(op, lane, wide_out, _strides(wide_out), _strides(true_out))
    true_in = [_true_size(dim, extents) for dim in source]
    return _recount(op, flat, true_in, _strides(true_in), _strides([dim.size.data for dim in source]))


def _recount(
    op: Operation, number: SSAValue, sizes: Sequence[int], strides: Sequence[int], new_strides: Sequence[int]
) -> SSAValue:
    """A flat position taken apart by ``sizes`` and put together with other strides."""
    total: SSAValue | None = None
    for size, stride, new in zip(sizes, strides, new_strides, strict=True):
        digit = _with(op, "rem", _with(op, "truncdiv", number, stride), max(size, 1))
        term = _with(op, "mul", digit, new)
        total = term if total is None else _insert(op, tile.ELEMENTWISE["add"](total, term))
    return total if total is not None else _with(op, "mul", number, 0)


def _with(op: Operation, name: str, value: SSAValue, number: int) -> SSAValue:
    if number == 1 and name != "rem":
        return value
    return _insert(op, tile.ELEMENTWISE[name](value, _insert(op, tile.FullOp(number, tile_type(value)))))
