"""Which cells of a grid store other values into the same elements: the last one's stay, so the order shows.

Pure. torch runs such loops in order, and so does a TPU along dimensions that are ``ordered``.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from kopt.analysis.revisits import bindings
from kopt.dialects.tile import Access, GridOp, StoreOp, WhenOp


def overwriting(grid: GridOp) -> dict[StoreOp, frozenset[int]]:
    """The plain stores whose values change along dimensions that their places do not, and those dimensions.

    Arrays that the grid reads or updates as well are left out: their values may depend on what was stored before.
    So are stores on first or last visits, of which there is one.
    """
    stores = [op for op in grid.walk() if isinstance(op, StoreOp) and not isinstance(op.parent_op(), WhenOp)]
    found = {store: _dims(grid, store) for store in stores if not _has_other_uses(grid, store.memory)}
    return {store: dims for store, dims in found.items() if dims}


def _dims(grid: GridOp, store: StoreOp) -> frozenset[int]:
    place = bindings(store.indices)
    moving = bindings([store.value]) - place
    return frozenset(number for number, range in enumerate(grid.ranges) if range in moving)


def _has_other_uses(grid: GridOp, memory: SSAValue) -> bool:
    return any(isinstance(op, Access) and op.memory is memory and not isinstance(op, StoreOp) for op in grid.walk())
