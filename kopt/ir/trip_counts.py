"""How many blocks a range has at most, by the algebra of its bounds, and how many cells a grid has."""

from __future__ import annotations

from math import prod

from xdsl.ir import SSAValue

from kopt.dialects.tile import GridOp
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.index_expr import IndexExpr
from kopt.ir.ranges import binding, visits


def most_visits(range: SSAValue) -> int | None:
    """A number of blocks that a range does not exceed, where one is known."""
    if (known := visits(range)) is not None:
        return max(0, known)
    bound, analysis = binding(range), IndexAnalysis()
    first, last = (IndexExpr(end) if isinstance(end, int) else analysis.expr(end) for end in (bound.lower, bound.upper))
    most = (last - first).range.high
    return None if most is None else max(0, -(-most // bound.size))


def cells(grid: GridOp) -> int | None:
    """The cells of a grid; None where that is known only when it runs."""
    trips = [binding(range).trips for range in grid.ranges]
    return None if None in trips else prod(count for count in trips if count is not None)
