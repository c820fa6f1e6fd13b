"""What `tile.sort` does: NumPy's stable sort, with NaN above every number, and lanes outside their range last."""

from __future__ import annotations

import numpy as np

from kopt.dialects.tile import SortOp, tile_type
from kopt.interpreter.machine import Handler, Machine
from kopt.interpreter.rounding import constant
from kopt.interpreter.values import TileValue, Validity, ValidLanes, filled, mask_of


def order(data: np.ndarray, dim: int, descending: bool) -> np.ndarray:
    """The lane numbers in sorted order; equal lanes stay as they are."""
    if not descending:
        return np.argsort(data, dim, kind="stable")
    backwards = np.argsort(np.flip(data, dim), dim, kind="stable")
    return np.flip(data.shape[dim] - 1 - backwards, dim)


def _sort(m: Machine, op: SortOp) -> tuple[TileValue, TileValue]:
    tile, dim = m.tile(op.input), op.dim.data
    data = tile.data if m.masked else filled(tile, (dim,), constant(op.last, tile_type(op.input).element_type))
    numbers = order(data, dim, op.descending is not None)
    valid = _first(tile.valid, dim, data.ndim)
    return TileValue(np.take_along_axis(data, numbers, dim), valid), TileValue(numbers.astype(np.int32), valid)


def _first(valid: Validity, dim: int, rank: int) -> Validity:
    """The valid lanes come first: as many of the dimension as there were."""
    mask = mask_of(tuple(lanes for lanes in valid if dim in lanes.dims), rank)
    if mask is None:
        return valid
    first = np.flip(np.sort(mask, dim), dim)
    dims = tuple(n for n in range(rank) if n == dim or mask.shape[n] != 1)
    kept = tuple(lanes for lanes in valid if dim not in lanes.dims)
    return (*kept, ValidLanes(first.squeeze(tuple(n for n in range(rank) if n not in dims)), dims))


HANDLERS: dict[type, Handler] = {SortOp: _sort}
