"""Cells that read and write the same rows run one after the other."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import SSAValue

from kopt.diagnostics import remark
from kopt.dialects.formats.integers import int_array
from kopt.dialects.tile import Access, GridOp
from kopt.ir.ranges import binding
from kopt.walk import walk


def run_in_order(grid: GridOp, memory: SSAValue, name: str) -> None:
    """Marks the grid's dimensions along which different cells may touch the same elements as ``ordered``.

    Free stay those whose range every access of the array has among its indices. A remark names the array: what is known
    from data only may be right to run at once.
    """
    accesses = [op for op in walk(grid, Access) if op.memory is memory]
    shared = [
        number
        for number, range in enumerate(grid.ranges)
        if binding(range).trips != 1 and not all(range in op.indices for op in accesses)
    ]
    if order_dims(grid, shared):
        ranges = ", ".join(f"%{grid.ranges[number].name_hint or number}" for number in shared)
        remark(grid, f"cells along {ranges} run in order: which rows of '{name}' they update is known from data only")


def order_dims(grid: GridOp, dims: Iterable[int]) -> bool:
    """Marks dimensions of a grid as ``ordered``, but for those along which it reduces; gives whether that is new."""
    ordered = sorted({*grid.ordered_dims, *dims} - {*grid.reduction_dims})
    if ordered == sorted(grid.ordered_dims):
        return False
    grid.ordered = int_array(ordered)
    return True
