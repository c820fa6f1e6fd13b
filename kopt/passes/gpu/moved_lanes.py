"""Blocks that are no power of two, and whose lanes are no longer the block's."""

from __future__ import annotations

from xdsl.ir import Operation

from kopt.diagnostics import location_of
from kopt.dialects import tile
from kopt.errors import LoweringError
from kopt.walk import walk


def refuse_moved(root: Operation, dim: tile.DimAttr) -> None:
    """Refuses what takes the lanes of a block to where they no longer are the block's."""
    for op in walk(root, tile.ReshapeOp, tile.ConcatOp):
        kept = tile.tile_type(op.results[0]).dims.data
        if dim not in kept and any(dim in tile.tile_type(value).dims.data for value in op.operands):
            raise LoweringError(
                f"the lanes of a block of {dim.size.data}, no power of two, cannot be joined or reshaped",
                location_of(op),
                notes=["choose a block size that is a power of two"],
                id="gpu-block",
            )
