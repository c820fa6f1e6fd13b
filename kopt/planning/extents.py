"""How many elements an axis walks, as far as sizes and numbers of blocks tell it."""

from __future__ import annotations

from kopt.ir.atoms import BlockNumber, Extremum
from kopt.ir.division import FloorDiv, Mod
from kopt.ir.index_expr import IndexExpr
from kopt.ir.launch_model import Axis


def is_known(extent: IndexExpr) -> bool:
    """Whether it is made of sizes and numbers of blocks alone."""
    return all(isinstance(atom, BlockNumber | Extremum | FloorDiv | Mod) for atom in extent.atoms())


def told_extent(axis: Axis) -> IndexExpr:
    """The elements that an axis walks; where only a launch tells these, the most that it walks, if sizes tell that.

    A part of a split loop begins at a product of two numbers, and ends at the lesser of two:

        from p * s to min(p * s + s, n)        are at most s
    """
    end = axis.upper.atom
    if is_known(axis.extent) or not isinstance(end, Extremum) or end.largest:
        return axis.extent
    known = filter(is_known, (operand - axis.lower for operand in end.operands))
    return next(known, axis.extent)
