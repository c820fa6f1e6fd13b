"""What `tile.sort` does: NumPy's stable sort, with NaN above every number, and lanes outside their range last."""

from __future__ import annotations

import numpy as np

from kopt.dialects.tile import SortOp
from kopt.interpreter.machine import Handler, Machine
from kopt.interpreter.values import Tile, filled


def order(data: np.ndarray, dim: int, descending: bool) -> np.ndarray:
    """The lane numbers in sorted order; equal lanes stay as they are."""
    if not descending:
        return np.argsort(data, dim, kind="stable")
    backwards = np.argsort(np.flip(data, dim), dim, kind="stable")
    return np.flip(data.shape[dim] - 1 - backwards, dim)


def _sort(m: Machine, op: SortOp) -> tuple[Tile, Tile]:
    tile, dim = m.tile(op.input), op.dim.data
    data = tile.data if m.masked else filled(tile, (dim,), op.last)
    numbers = order(data, dim, op.descending is not None)
    return Tile(np.take_along_axis(data, numbers, dim), tile.valid), Tile(numbers.astype(np.int32), tile.valid)


HANDLERS: dict[type, Handler] = {SortOp: _sort}
