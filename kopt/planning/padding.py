"""Which arrays the host pads: those that DMAs move block by block, and that end inside of a block.

A window of the grid may be partial. A DMA copies whole blocks: the host pads the array before the launch, and slices
it after the launch where it is written.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kopt.ir.atoms import BlockNumber, Lane
from kopt.ir.index_expr import IndexExpr
from kopt.ir.launch_model import ModelAccess
from kopt.planning.trips import Number, Sizes, Trips, value

#: Kinds of buffers whose blocks DMAs of the kernel move.
STREAMED = ("prefetch", "emit_pipeline", "writeback", "dma")


def is_padded(access: ModelAccess, sizes: Sizes, trips: Mapping[str, Trips], divided: bool = False) -> Number:
    """Whether a block of an access reaches beyond its array, in any dimension.

    Or whether blocks do not divide the array, where it has to be ``divided``: JAX's pipelines copy parts of blocks
    else, and interpreters do not take these.
    """
    dims = zip(access.relation.indices, access.relation.shape, strict=True)
    pairs = [(index, value(extent, sizes)) for index, extent in dims]
    beyond = [_end(index, extent, sizes, trips, divided) > extent for index, extent in pairs]
    return np.any(np.broadcast_arrays(False, *beyond), axis=0)


def _end(index: IndexExpr, extent: Number, sizes: Sizes, trips: Mapping[str, Trips], divided: bool) -> Number:
    """Where the last block ends along a dimension: of blocks that begin anywhere one may begin at the last element."""
    size: Number = 1
    starts = [value(index.const, sizes)]
    last: Number = starts[0]
    for atom, factor in index.terms.items():
        step = value(factor, sizes)
        if isinstance(atom, Lane):
            size = size + (value(atom.size, sizes) - 1) * abs(step)
            continue
        starts.append(step)
        found = trips.get(str(atom.name)) if isinstance(atom, BlockNumber) else None
        last = np.inf if found is None or found.inside else last + np.maximum(0, (found.mean - 1) * step)
    begins = np.all(np.broadcast_arrays(True, *(start % size == 0 for start in starts)), axis=0)
    end = np.where(begins, -(-extent // size) * size, extent + size - 1)
    return end if divided else np.minimum(end, last + size)
