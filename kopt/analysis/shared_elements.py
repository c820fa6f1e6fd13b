"""Arrays of which several cells of a grid may touch one element, one of them writing it. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from xdsl.dialects.builtin import MemRefType
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from kopt.analysis.aliases import root, view_chain
from kopt.dialects.host import ExpandOp
from kopt.dialects.tile import Access, GridOp, LoadOp, StoreOp
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.index_expr import IndexExpr
from kopt.ir.ranges import binding
from kopt.ir.value_range import ANY, EMPTY
from kopt.walk import walk


def shared_arrays(func: FuncOp) -> frozenset[SSAValue]:
    """Arguments and allocations that cells may share so that their order would show; by the memref that owns them.

    Not those of which cells share nothing: some dimension is indexed by the same blocks of each loop of the grid,
    in every access. Nor those that are only read, only updated atomically, or only stored to by computed rows.
    """
    grids = walk(func, GridOp)
    analysis = IndexAnalysis()
    return frozenset(memory for grid in grids for memory in _shared(grid, analysis))


def accesses_of(func: FuncOp, memory: SSAValue) -> list[Access]:
    """The accesses of cells to an array and its views, in order."""
    return [op for op in walk(func, Access) if root(op.memory) is memory]


def _shared(grid: GridOp, analysis: IndexAnalysis) -> list[SSAValue]:
    in_order = {*grid.reduction_dims, *grid.ordered_dims}
    axes = [axis for n, axis in enumerate(grid.ranges) if n not in in_order and binding(axis).some_trips > 1]
    found: dict[SSAValue, list[Access]] = defaultdict(list)
    for op in walk(grid, Access):
        if isinstance(op.memory.type, MemRefType):
            found[root(op.memory)].append(op)
    shown = {memory: ops for memory, ops in found.items() if axes and _order_shows(ops)}
    return [memory for memory, ops in shown.items() if not _apart(ops, axes, analysis)]


def _order_shows(ops: Sequence[Access]) -> bool:
    loads = any(isinstance(op, LoadOp) for op in ops)
    stores = [op for op in ops if isinstance(op, StoreOp)]
    updates = any(not isinstance(op, LoadOp | StoreOp) for op in ops)
    plain = any(not op.gathers for op in stores)
    return plain or bool(stores) and (loads or updates) or loads and updates


def _apart(ops: Sequence[Access], axes: Sequence[SSAValue], analysis: IndexAnalysis) -> bool:
    """Whether cells that differ along any of the axes touch elements that differ in some dimension."""
    if len({op.memory for op in ops}) > 1 or any(isinstance(view, ExpandOp) for view in view_chain(ops[0].memory)):
        return False
    columns = list(zip(*(op.entries for op in ops), strict=True))
    whole = {column[0] for column in columns if column.count(column[0]) == len(column)}
    if whole.issuperset(axes):  # each cell has blocks of its own
        return True
    forms = [[analysis.elements(entry) for entry in column if isinstance(entry, SSAValue)] for column in columns]
    known = [found for found, column in zip(forms, columns, strict=True) if len(found) == len(column)]
    return all(any(moves_with(analysis.number(axis), column) for column in known) for axis in axes)


def moves_with(number: IndexExpr, forms: Sequence[IndexExpr]) -> bool:
    """Whether indices are ``step`` times a block's number and some of fewer than ``step`` elements, in every access."""
    atom = number.atom
    step = None if atom is None else forms[0].coefficient(atom)
    if atom is None or not isinstance(step, int):
        return False
    beside, total = [form - number * step for form in forms], EMPTY
    for rest in beside:
        total = total.union(ANY if atom in rest.atoms() else rest.range)
    return total.size is not None and total.size <= abs(step)
