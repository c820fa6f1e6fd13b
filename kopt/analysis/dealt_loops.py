"""The loop of a grid's cells whose visits may be dealt out to several times as many cells. Pure."""

from __future__ import annotations

from kopt.analysis.combiners import NotAReduction
from kopt.analysis.independent_loops import independent_loop
from kopt.analysis.reduction_loops import reduction_loop
from kopt.dialects.tile import ForOp, GridOp


def dealt_loop(grid: GridOp) -> ForOp:
    """A loop that only combines, or one whose visits store blocks of their own. Raises `NotAReduction`."""
    try:
        return reduction_loop(grid).loop
    except NotAReduction as reason:
        try:
            return independent_loop(grid)[0]
        except NotAReduction:
            raise reason from None
