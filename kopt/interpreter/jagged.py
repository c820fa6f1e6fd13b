"""What loops over items' own extents do: they walk to the longest; `jagged.valid` tells an item's lanes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kopt.dialects.jagged import ForOp, RowsOp, ValidOp
from kopt.dialects.tile import range_type
from kopt.interpreter.loops import LoopBlocks
from kopt.interpreter.machine import Handler, Machine
from kopt.interpreter.values import Bound, TileValue, both, mask_of


def _for(m: Machine, op: ForOp) -> Any:
    lengths = m.tile(op.lengths)
    mask = mask_of(lengths.valid, lengths.data.ndim)
    known = lengths.data if mask is None else np.where(mask, lengths.data, 0)
    carried = tuple(m[value] for value in op.inits)
    owners = op.lengths_type.tags
    for bound in LoopBlocks(0, max(0, int(known.max(initial=0))), range_type(op.range).size):
        bound = replace(bound, owned=_owned(bound, known), owners=owners)
        m.bind(op.range, bound)
        carried = m.run_region(op.body.block, (bound, *carried))
    return carried[0] if len(carried) == 1 else carried


def _valid(m: Machine, op: ValidOp) -> TileValue:
    bound: Bound = m[op.range]
    lengths = m.tile(op.lengths)
    return TileValue(_owned(bound, lengths.data), both(lengths.valid, bound.along(lengths.data.ndim)))


def _owned(bound: Bound, lengths: np.ndarray) -> np.ndarray:
    return np.arange(bound.begin, bound.begin + bound.size) < lengths[..., None]


def _rows(m: Machine, op: RowsOp) -> TileValue:
    bound: Bound = m[op.range]
    starts = m.tile(op.starts)
    lanes = np.arange(bound.begin, bound.begin + bound.size, dtype=starts.data.dtype)
    valid = both(starts.valid, bound.along(starts.data.ndim), m.owned(op.result_type.tags))
    return TileValue(starts.data[..., None] + lanes, valid)


HANDLERS: dict[type, Handler] = {ForOp: _for, ValidOp: _valid, RowsOp: _rows}
