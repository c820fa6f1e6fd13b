"""Refuses reshapes and concatenations of the lanes of blocks that are no power of two."""

from __future__ import annotations

from xdsl.ir import Operation

from kopt.diagnostics import location_of
from kopt.dialects import tile
from kopt.errors import LoweringError
from kopt.walk import walk


def refuse_moved(root: Operation, dim: tile.DimAttr) -> None:
    """Refuses reshapes and concatenations in ``root`` whose result has not the dimension of a block that they take."""
    for op in walk(root, tile.ReshapeOp, tile.ConcatOp):
        kept = tile.tile_type(op.results[0]).dims.data
        if dim not in kept and any(dim in tile.tile_type(value).dims.data for value in op.operands):
            raise LoweringError(
                f"the lanes of a block of {dim.size.data}, no power of two, cannot be joined or reshaped",
                location_of(op),
                notes=["choose a block size that is a power of two"],
                id="gpu-block",
            )
