"""What loops over items' own extents do: they walk to the longest; `jagged.valid` tells an item's lanes."""

from __future__ import annotations

from typing import Any

import numpy as np

from kopt.dialects.jagged import ForOp, ValidOp
from kopt.interpreter.loops import blocks, size_of
from kopt.interpreter.machine import Handler, Machine
from kopt.interpreter.values import Bound, Tile, both, mask_of


def _for(m: Machine, op: ForOp) -> Any:
    lengths = m.tile(op.lengths)
    mask = mask_of(lengths.valid, lengths.data.ndim)
    known = lengths.data if mask is None else np.where(mask, lengths.data, 0)
    carried = tuple(m[value] for value in op.inits)
    for bound in blocks(0, max(0, int(known.max(initial=0))), size_of(op.range)):
        m.bind(op.range, bound)
        carried = m.run_region(op.body.block, (bound, *carried))
    return carried[0] if len(carried) == 1 else carried


def _valid(m: Machine, op: ValidOp) -> Tile:
    bound: Bound = m[op.range]
    lengths = m.tile(op.lengths)
    lanes = np.arange(bound.begin, bound.begin + bound.size)
    rank = lengths.data.ndim
    return Tile(lanes < lengths.data[..., None], both(lengths.valid, bound.along(rank)))


HANDLERS: dict[type, Handler] = {ForOp: _for, ValidOp: _valid}
