"""What the ops that make tiles and rearrange their lanes do, to the data and to which lanes are valid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from xdsl.dialects.builtin import IndexType

from kopt.dialects.tile import (
    SPARE,
    ArangeOp,
    BroadcastOp,
    ConcatOp,
    DynamicSliceOp,
    ExtractOp,
    FullOp,
    ReshapeOp,
    SliceOp,
    SplatOp,
    TakeAlongOp,
    TileType,
    TransposeOp,
    ValidLanesOp,
    tile_type,
)
from kopt.errors import AccessError
from kopt.interpreter.machine import Handler, Machine
from kopt.interpreter.rounding import numpy_type, poison, rounded
from kopt.interpreter.values import TileValue, Validity, ValidLanes, both, mask_of, moved


def _full(m: Machine, op: FullOp) -> TileValue:
    type = tile_type(op.result)
    value = rounded(np.asarray(op.number), type.element_type)
    return TileValue(np.full(type.shape, value, numpy_type(type.element_type)), m.tagged(type))


def _splat(m: Machine, op: SplatOp) -> TileValue:
    type = tile_type(op.result)
    # By way of a 64-bit array, so that an index wraps to a narrower type instead of raising.
    scalar = np.asarray(m[op.scalar]).astype(numpy_type(type.element_type))
    return TileValue(np.full(type.shape, scalar), m.tagged(type))


def _extract(m: Machine, op: ExtractOp) -> float | int | bool:
    value = m.tile(op.input).data[()]
    return int(value) if isinstance(op.result.type, IndexType) else value.item()


def _arange(m: Machine, op: ArangeOp) -> TileValue:
    type = tile_type(op.result)
    numbers = op.start.data + op.step.data * np.arange(type.shape[0], dtype=np.int64)
    return TileValue(numbers.astype(numpy_type(type.element_type)), m.tagged(type))


def _broadcast(m: Machine, op: BroadcastOp) -> TileValue:
    value, type, places = m.tile(op.input), op.result_type, op.mapping
    shape = [1] * type.rank
    for size, place in zip(value.data.shape, places, strict=True):
        shape[place] = size
    kept = [n for n, place in enumerate(places) if value.data.shape[n] == type.shape[place]]
    new = [n for n in range(type.rank) if n not in {places[dim] for dim in kept}]
    valid = moved(_without_dims(value.valid, [n for n in range(len(places)) if n not in kept]), lambda dim: places[dim])
    data = np.broadcast_to(value.data.reshape(shape), type.shape)
    return TileValue(data, both(valid, m.tagged(type, new)))


def _without_dims(valid: Validity, dims: Sequence[int]) -> Validity:
    """Lanes without dimensions of size 1 that are about to be repeated."""
    kept = []
    for lanes in valid:
        gone = tuple(n for n, dim in enumerate(lanes.dims) if dim in dims)
        rest = tuple(dim for dim in lanes.dims if dim not in dims)
        items = tuple(dim for dim in lanes.items if dim not in dims)
        kept.append(ValidLanes(lanes.mask.squeeze(gone), rest, items) if gone else lanes)
    return tuple(kept)


def _reshape(m: Machine, op: ReshapeOp) -> TileValue:
    value, shape = m.tile(op.input), op.result_type.shape
    return TileValue(value.data.reshape(shape), _reshaped(value.valid, value.data.shape, shape))


def _reshaped(valid: Validity, before: Sequence[int], after: Sequence[int]) -> Validity:
    """Lanes follow a dimension that stays as it is; where dimensions merge or split, the lanes are listed."""
    places = _same_dims(before, after)
    result = []
    for lanes in valid:
        if all(dim in places for dim in lanes.dims):
            result += moved((lanes,), places)
        else:
            listed = np.broadcast_to(lanes.spread(len(before)), before).reshape(after)
            result.append(_concise(listed, {places[dim] for dim in lanes.items if dim in places}))
    return tuple(result)


def _concise(mask: np.ndarray, items: set[int]) -> ValidLanes:
    """A mask of whole tiles without the dimensions that make no difference."""
    same = [n for n, size in enumerate(mask.shape) if size and (mask == np.take(mask, [0], n)).all()]
    dims = [n for n in range(mask.ndim) if n not in same]
    first = mask[tuple(0 if n in same else slice(None) for n in range(mask.ndim))]
    return ValidLanes(np.asarray(first), tuple(dims), tuple(sorted(items & set(dims))))


def _same_dims(before: Sequence[int], after: Sequence[int]) -> dict[int, int]:
    """The dimensions that a reshape keeps: equal sizes with equally many lanes outside and inside of them."""
    found = {(size, int(np.prod(after[n + 1 :]))): n for n, size in reversed(list(enumerate(after))) if size != 1}
    keys = {n: (size, int(np.prod(before[n + 1 :]))) for n, size in enumerate(before) if size != 1}
    return {n: found[key] for n, key in keys.items() if key in found and 0 not in before}


def _transpose(m: Machine, op: TransposeOp) -> TileValue:
    value = m.tile(op.input)
    places = {source: n for n, source in enumerate(op.order)}
    return TileValue(np.transpose(value.data, op.order), moved(value.valid, places))


def _slice(m: Machine, op: SliceOp) -> TileValue:
    value = m.tile(op.input)
    slices = [slice(start, start + size * step, step) for start, size, step in op.bounds]
    whole = {n for n, size in enumerate(value.data.shape) if op.bounds[n] == (0, size, 1)}
    valid = tuple(
        lanes if set(lanes.dims) <= whole else replace(lanes, mask=lanes.mask[tuple(slices[dim] for dim in lanes.dims)])
        for lanes in value.valid
    )
    return TileValue(value.data[tuple(slices)], valid)


def _dynamic_slice(m: Machine, op: DynamicSliceOp) -> TileValue:
    value, type, dim = m.tile(op.input), tile_type(op.result), op.dim.data
    numbers = m[op.offset] + np.arange(type.shape[dim])
    safe = np.clip(numbers, 0, value.data.shape[dim] - 1)
    along = [-1 if n == dim else 1 for n in range(type.rank)]
    undefined = np.asarray(poison(type.element_type), value.data.dtype)
    data = np.where((numbers == safe).reshape(along), np.take(value.data, safe, dim), undefined)
    valid = [lanes for lanes in value.valid if dim not in lanes.dims]
    picked = mask_of(tuple(lanes for lanes in value.valid if dim in lanes.dims), type.rank)
    if picked is not None:
        listed = np.take(np.broadcast_to(picked, value.data.shape), safe, dim)
        valid.append(ValidLanes(listed, tuple(range(type.rank))))
    return TileValue(data, both(tuple(valid), m.tagged(type, [dim])))


def _concat(m: Machine, op: ConcatOp) -> TileValue:
    tiles, dim = [m.tile(value) for value in op.inputs], op.dim.data
    return TileValue(np.concatenate([tile.data for tile in tiles], dim), _concat_valid(tiles, dim))


def _concat_valid(tiles: Sequence[TileValue], dim: int) -> Validity:
    """What all inputs say about the other dimensions; anything else is listed lane by lane."""
    common = [lanes for lanes in tiles[0].valid if dim not in lanes.dims and all(_says(t, lanes) for t in tiles)]
    rest = [[lanes for lanes in tile.valid if not any(_same(lanes, known) for known in common)] for tile in tiles]
    if not any(rest):
        return tuple(common)
    rank = tiles[0].data.ndim
    listed = [_listed(tuple(valid), tile.data.shape) for valid, tile in zip(rest, tiles, strict=True)]
    return (*common, ValidLanes(np.concatenate(listed, dim), tuple(range(rank))))


def _listed(valid: Validity, shape: Sequence[int]) -> np.ndarray:
    """Validity as one mask of a whole tile."""
    mask = mask_of(valid, len(shape))
    return np.broadcast_to(True if mask is None else mask, shape)


def _same(a: ValidLanes, b: ValidLanes) -> bool:
    return a.mask is b.mask and a.dims == b.dims


def _says(tile: TileValue, lanes: ValidLanes) -> bool:
    return any(_same(known, lanes) for known in tile.valid)


def check_picks(m: Machine, op: TakeAlongOp) -> None:
    """Raises `AccessError` where a lane inside its ranges picks by a number that no lane of the block has."""
    if SPARE in op.attributes:
        return
    assert isinstance(op.input.type, TileType) and isinstance(op.indices.type, TileType)
    numbers, size = m.tile(op.indices), op.input.type.shape[op.dim.data]
    bad = (numbers.data < 0) | (numbers.data >= size)
    inside = mask_of(both(numbers.valid, m.tagged(op.indices.type)), numbers.data.ndim)
    bad = bad if inside is None else bad & inside
    if bad.any():
        found = numbers.data[bad][0]
        raise AccessError(f"'{op.name}' picks lane {found} of dimension {op.dim.data} of {op.input.type}")


def _take_along(m: Machine, op: TakeAlongOp) -> TileValue:
    check_picks(m, op)
    value, indices, dim = m.tile(op.input), m.tile(op.indices), op.dim.data
    size = value.data.shape[dim]
    numbers = indices.data.astype(np.int64)
    safe = np.clip(numbers, 0, max(size - 1, 0))
    kept = tuple(lanes for lanes in value.valid if dim not in lanes.dims)
    picked = mask_of(tuple(lanes for lanes in value.valid if dim in lanes.dims), numbers.ndim)
    valid = both(indices.valid, kept)
    if picked is not None:
        listed = np.take_along_axis(np.broadcast_to(picked, value.data.shape), safe, dim)
        valid = (*valid, ValidLanes(listed, tuple(range(numbers.ndim))))
    data = np.take_along_axis(value.data, safe, dim)
    undefined = np.asarray(poison(tile_type(op.result).element_type), data.dtype)
    return TileValue(np.where(numbers == safe, data, undefined), valid)


def _valid_lanes(m: Machine, op: ValidLanesOp) -> TileValue:
    value = m.tile(op.input)
    return TileValue(_listed(value.valid, value.data.shape), value.valid)


HANDLERS: dict[type, Handler] = {
    ValidLanesOp: _valid_lanes,
    FullOp: _full,
    SplatOp: _splat,
    ExtractOp: _extract,
    ArangeOp: _arange,
    BroadcastOp: _broadcast,
    ReshapeOp: _reshape,
    TransposeOp: _transpose,
    SliceOp: _slice,
    DynamicSliceOp: _dynamic_slice,
    ConcatOp: _concat,
    TakeAlongOp: _take_along,
}
