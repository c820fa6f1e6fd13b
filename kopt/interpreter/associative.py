"""What combinations by a kernel's own function do: lane after lane, those outside their ranges left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from kopt.dialects.tile import AssociativeOp, AssociativeReduceOp, AssociativeScanOp
from kopt.errors import UnsupportedError
from kopt.interpreter.machine import Handler, Machine
from kopt.interpreter.values import TileValue, Validity, both, dropped, mask_of

#: One lane of each tile (all of the other dimensions), and where it is valid.
Lane = tuple[Sequence[np.ndarray], np.ndarray]


def _lanes(m: Machine, op: AssociativeOp) -> list[Lane]:
    """The lanes of the op's dimension, first to last."""
    tiles, dim = [m.tile(value) for value in op.inputs], op.dim.data
    shape, data = op.tiles[0].shape, [np.moveaxis(tile.data, dim, 0) for tile in tiles]
    along = tuple(lanes for lanes in _valid(tiles) if dim in lanes.dims)
    mask = None if m.masked else mask_of(along, len(shape))
    valid = np.moveaxis(np.broadcast_to(True if mask is None else mask, shape), dim, 0)
    return [([part[number] for part in data], valid[number]) for number in range(shape[dim])]


def _valid(tiles: Iterable[TileValue]) -> Validity:
    return both(*(tile.valid for tile in tiles))


def _running(m: Machine, op: AssociativeOp, lanes: Iterable[Lane]) -> Iterable[Sequence[np.ndarray]]:
    """What is combined so far, after each lane."""
    so_far: Lane | None = None
    for values, valid in lanes:
        so_far = (values, valid) if so_far is None else _combined(m, op, so_far, (values, valid))
        yield so_far[0]


def _combined(m: Machine, op: AssociativeOp, left: Lane, right: Lane) -> Lane:
    """The function where both are valid, else the one that is."""
    operands = [TileValue(np.asarray(value)) for value in (*left[0], *right[0])]
    made = [tile.data for tile in m.run_region(op.body.block, operands)]
    chosen = [
        np.where(right[1], np.where(left[1], new, b), a) for new, a, b in zip(made, left[0], right[0], strict=True)
    ]
    return chosen, left[1] | right[1]


def _results(tiles: Sequence[TileValue]) -> TileValue | tuple[TileValue, ...]:
    return tiles[0] if len(tiles) == 1 else tuple(tiles)


def _scan(m: Machine, op: AssociativeScanOp) -> TileValue | tuple[TileValue, ...]:
    lanes, dim = _lanes(m, op), op.dim.data
    if not lanes:
        return _results([m.tile(value) for value in op.inputs])
    backwards = op.reverse is not None
    columns = list(_running(m, op, reversed(lanes) if backwards else lanes))
    columns = columns[::-1] if backwards else columns
    valid = _valid(m.tile(value) for value in op.inputs)
    return _results([TileValue(np.stack(column, dim), valid) for column in zip(*columns, strict=True)])


def _reduce(m: Machine, op: AssociativeReduceOp) -> TileValue | tuple[TileValue, ...]:
    if not (lanes := _lanes(m, op)):
        raise UnsupportedError("nothing comes of a combination of no lanes")
    *_, total = _running(m, op, lanes)
    valid = dropped(_valid(m.tile(value) for value in op.inputs), (op.dim.data,))
    return _results([TileValue(np.asarray(value), valid) for value in total])


HANDLERS: dict[type, Handler] = {AssociativeScanOp: _scan, AssociativeReduceOp: _reduce}
