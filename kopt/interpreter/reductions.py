"""What the ops that combine lanes do. Lanes outside their ranges take no part, unless masks are in place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from xdsl.ir import Attribute

from kopt.dialects.tile import ArgReduceOp, DotOp, MaskOp, ReduceOp, ScanOp, TileType, neutral, tile_type
from kopt.errors import UnsupportedError
from kopt.interpreter import ring
from kopt.interpreter.machine import Handler, Machine
from kopt.interpreter.rounding import constant, is_exact, numpy_type, rounded
from kopt.interpreter.values import Bound, TileValue, Validity, ValidLanes, both, dropped, filled, moved

#: How NumPy combines lanes.
COMBINE: dict[str, np.ufunc] = {
    "add": np.add,
    "mul": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


def _element(type: Attribute) -> Attribute:
    assert isinstance(type, TileType)
    return type.element_type


def _operand(m: Machine, tile: TileValue, dims: Sequence[int], fill: float | int) -> np.ndarray:
    """The lanes to combine along ``dims``, in at least f32 where they are floats."""
    data = tile.data if m.masked else filled(tile, dims, fill)
    return data.astype(np.float32) if data.dtype == np.float16 else data


def _reduce(m: Machine, op: ReduceOp) -> TileValue:
    tile, dims, kind = m.tile(op.input), op.dimensions, op.kind.data
    element = _element(op.input.type)
    ignored = constant(neutral(kind, element), element)
    data = _operand(m, tile, dims, ignored)
    with np.errstate(all="ignore"):
        combined = combine(kind, data, dims, ignored, is_exact(element))
    return TileValue(rounded(combined, _element(op.result.type)), dropped(tile.valid, dims))


def combine(kind: str, data: np.ndarray, dims: Sequence[int], ignored: float | int, exact: bool = False) -> np.ndarray:
    """Combine the lanes of ``dims``; ``ignored`` where there are none. ``exact`` numbers are not floats."""
    shape = [size for n, size in enumerate(data.shape) if n not in dims]
    if any(data.shape[dim] == 0 for dim in dims):
        return np.full(shape, ignored, data.dtype)
    if exact and dims:
        return ring.reduce(kind, data, tuple(dims))
    return np.asarray(COMBINE[kind].reduce(data, axis=tuple(dims), dtype=data.dtype)) if dims else data


def _argreduce(m: Machine, op: ArgReduceOp) -> TileValue:
    tile, dim, kind = m.tile(op.input), op.dim.data, op.kind.data
    element = _element(op.input.type)
    data = _operand(m, tile, (dim,), constant(neutral(kind, element), element))
    if not data.shape[dim]:
        raise UnsupportedError(f"there is no arg{kind} of no lanes")
    number = np.argmax(data, dim) if kind == "max" else np.argmin(data, dim)
    return TileValue(np.asarray(number, np.int32), dropped(tile.valid, (dim,)))


def _scan(m: Machine, op: ScanOp) -> TileValue:
    tile, dim, kind = m.tile(op.input), op.dim.data, op.kind.data
    element = _element(op.input.type)
    data = _operand(m, tile, (dim,), constant(neutral(kind, element), element))
    data = np.flip(data, dim) if op.reverse is not None else data
    with np.errstate(all="ignore"):
        if is_exact(element):
            running = ring.accumulate(kind, data, dim)
        else:
            running = COMBINE[kind].accumulate(data, axis=dim, dtype=data.dtype)
    running = np.flip(running, dim) if op.reverse is not None else running
    return TileValue(rounded(running, _element(op.result.type)), tile.valid)


def _mask(m: Machine, op: MaskOp) -> TileValue:
    tile = m.tile(op.input)
    limits = tuple((dim, m[range]) for dim, range in enumerate(op.limits) if range is not None)
    data, type = tile.data, tile_type(op.input)
    owned = tuple(lanes for lanes in m.owned(type.tags) if op.limits[lanes.dims[-1]] is not None)
    fill = np.asarray(constant(op.fill_number, type.element_type), data.dtype)
    for lanes in (*owned, *(lanes for dim, bound in limits for lanes in bound.along(dim))):
        data = np.where(lanes.spread(data.ndim), data, fill)
    filled = {(id(lanes.mask), lanes.dims) for lanes in owned}
    rest = tuple(lanes for lanes in tile.valid if (id(lanes.mask), lanes.dims) not in filled)
    return TileValue(data, _defined(rest, limits))


def _defined(valid: Validity, limits: Sequence[tuple[int, Bound]]) -> Validity:
    """The lanes that are valid or have just been filled; nothing is left to say where that is all."""
    result = []
    for lanes in valid:
        mask = lanes.mask
        for dim, bound in limits:
            if dim in lanes.dims and bound.valid is not None:
                mask = mask | ~ValidLanes(bound.valid, (lanes.dims.index(dim),)).spread(mask.ndim)
        if mask is lanes.mask:
            result.append(lanes)
        elif not mask.all():
            result.append(replace(lanes, mask=mask))
    return tuple(result)


def _dot(m: Machine, op: DotOp) -> TileValue:
    left, right = m.tile(op.lhs), m.tile(op.rhs)
    rank, type = left.data.ndim, op.result.type
    exact = is_exact(_element(type)) and is_exact(_element(op.lhs.type))
    multiply = ring.matmul if exact else partial(matmul, dtype=numpy_type(_element(type)))
    product = multiply(_operand(m, left, (rank - 1,), 0), _operand(m, right, (rank - 2,), 0))
    kept = dropped(right.valid, (rank - 2,))
    valid = both(dropped(left.valid, (rank - 1,)), moved(kept, lambda dim: dim + (dim == rank - 2)))
    if op.accumulator is not None:
        acc = m.tile(op.accumulator)
        with np.errstate(all="ignore"):
            total = ring.add(product, acc.data) if exact else product + acc.data
            product, valid = total, both(valid, acc.valid)
    assert isinstance(type, TileType)
    return TileValue(rounded(product, _element(type)), both(valid, m.owned(type.tags)))


def matmul(left: np.ndarray, right: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The product, accumulated in the type of the result; small integers exactly by way of f64."""
    with np.errstate(all="ignore"):
        if np.issubdtype(left.dtype, np.floating):
            wide = np.promote_types(dtype, np.float32)
            return np.matmul(left.astype(wide), right.astype(wide))
        exact = np.float64 if left.dtype.itemsize == 1 else np.int64
        return np.matmul(left.astype(exact), right.astype(exact)).astype(np.int64).astype(dtype)


HANDLERS: dict[type, Handler] = {
    ReduceOp: _reduce,
    ArgReduceOp: _argreduce,
    ScanOp: _scan,
    MaskOp: _mask,
    DotOp: _dot,
}
