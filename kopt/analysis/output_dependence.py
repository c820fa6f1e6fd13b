"""Output dependence: cells of a grid that store other values into the same elements, so that their order shows.

Pure. torch runs such loops in order, and so does a TPU along dimensions that are ``ordered``.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from kopt.analysis.revisit_order import bindings
from kopt.dialects.tile import Access, GridOp, StoreOp, WhenOp
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.ranges import binding
from kopt.walk import walk


def overwriting(grid: GridOp) -> dict[StoreOp, frozenset[int]]:
    """The plain stores whose values change along dimensions that their places do not, and those dimensions.

    Arrays that the grid reads or updates as well are left out: their values may depend on what was stored before.
    So are stores on first or last visits, of which there is one.
    """
    stores = [op for op in walk(grid, StoreOp) if not isinstance(op.parent_op(), WhenOp)]
    m = IndexAnalysis()
    found = {store: _dims(m, grid, store) for store in stores if not _has_other_uses(grid, store.memory)}
    return {store: dims for store, dims in found.items() if dims}


def _dims(m: IndexAnalysis, grid: GridOp, store: StoreOp) -> frozenset[int]:
    place = bindings([index for index in store.indices if m.elements(index).terms])
    staying = [n for n, range in enumerate(grid.ranges) if range not in place and binding(range).trips != 1]
    moving = bindings([store.value]) if staying else set()
    return frozenset(n for n in staying if grid.ranges[n] in moving)


def _has_other_uses(grid: GridOp, memory: SSAValue) -> bool:
    return any(isinstance(op, Access) and op.memory is memory and not isinstance(op, StoreOp) for op in walk(grid))
