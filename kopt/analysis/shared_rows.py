"""Vectors of which several cells of a grid share a row of lanes.

Pure. Mosaic takes no window of 32 elements of a vector: rows of memory have 128 lanes. There are two ways:

| a vector of 1024 in blocks of 32 | what it costs |
|---|---|
| each block in a row of its own: `(32, 1, 32)` | XLA lays the vector out anew: a microsecond or more |
| each row for four cells: blocks of 128 | each cell moves lanes: some 35 cycles (v6e) |

So few cells share rows. Those that write to one row run one after the other, on one core.
"""

from __future__ import annotations

from kopt.analysis.revisit_order import CellVisits
from kopt.analysis.windows import Window, holder
from kopt.dialects.tile import GridOp, range_type
from kopt.ir.trip_counts import cells
from kopt.open_extents import is_open
from kopt.targets.tiling import LANES

#: From here on moving lanes in each cell takes longer than XLA takes for the vector.
_MOST_CELLS = 64
#: The widths that lanes are moved in.
_BITS = 32


def shares_rows(window: Window, grid: GridOp) -> bool:
    """Whether cells take blocks of a vector out of rows that others share."""
    if len(window.dims) != 1 or window.bits != _BITS or window.atomics:
        return False
    (dim,), (extent,), count = window.dims, window.type.get_shape(), cells(grid)
    walked = dim.kind == "block" and dim.range in grid.ranges and not dim.front
    fits = walked and not is_open(extent) and LANES % dim.size == extent % LANES == 0 and dim.size < LANES
    return fits and count is not None and count <= _MOST_CELLS


def sharing_dims(window: Window, grid: GridOp) -> frozenset[int]:
    """The dimensions of a grid along which cells share a row of such a vector."""
    (dim,) = window.dims
    return CellVisits(grid).sharing([dim.index // (LANES // dim.size)])


def has_rows_of_its_own(window: Window, grid: GridOp) -> bool:
    """Whether a dimension of the grid has blocks of whole rows, which contain all accesses of such a vector."""
    starts = {window.analysis.begin(access.entries[0]) for access in (*window.loads, *window.stores)}  # pyright: ignore
    wide = [range for range in grid.ranges if range_type(range).size % LANES == 0]
    size = window.block[0]
    return all(holder(start, size, wide, window.analysis) is not None for start in starts)
